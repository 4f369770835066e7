"""The files that declare advisors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from review_advisor.change.kinds import LONGEST_FILE
from review_advisor.policy.roster import MOST_WEIGHT, VOICES, AnswerFields, Moment, PresetName, Temperament
from review_advisor.safety.stated_values import nearest_of, value_mistake

DEEPEST = 8


MOST_VALUES = 2_000
"""Values of one file, whatever holds them."""


_FENCE = "---"


_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


class DeclarationError(ValueError):
    """A declaration that cannot be used: what is wrong with it, in one clause without its file's name."""


def read_markdown(text: str) -> tuple[dict[str, Any], str]:
    """The table between the two ``---`` lines, and what follows them. Raises ``DeclarationError``."""
    _refuse_long(text)
    first, *lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    ends = [number for number, line in enumerate(lines) if line.rstrip() == _FENCE]
    if first.rstrip() != _FENCE or not ends:
        raise DeclarationError("it has no frontmatter: put its keys between two lines `---` at the top")
    table = _yaml("\n".join(lines[: ends[0]]), first_line=2)
    if not isinstance(table, dict):
        raise DeclarationError("its frontmatter is no table of keys")
    return table, "\n".join(lines[ends[0] + 1 :]).strip()


def read_list(text: str) -> list[dict[str, Any]]:
    """The objects of a JSON list, or of one object alone. Raises ``DeclarationError``."""
    _refuse_long(text)
    value = _json(text)
    messages = value if isinstance(value, list) else [value]
    if not all(isinstance(each, dict) for each in messages):
        raise DeclarationError("it is no list of objects")
    return messages


def read_table(text: str, longest: int) -> dict[str, Any]:
    """The one table of a text in JSON or YAML of at most ``longest`` characters. Raises ``DeclarationError``."""
    _refuse_long(text, longest)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    table = _json(text) if text.lstrip().startswith("{") else _yaml(text)
    if not isinstance(table, dict):
        raise DeclarationError("it is no table of keys")
    return table


def _json(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_without_twins, parse_constant=_no_number)
    except RecursionError:
        raise DeclarationError("it is nested too deeply") from None
    except ValueError as error:
        if isinstance(error, DeclarationError):
            raise
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DeclarationError(f"it is not valid JSON{where}") from None
    _refuse_deep(value, DEEPEST)
    return value


def _refuse_long(text: str, longest: int = LONGEST_FILE) -> None:
    if len(text) > longest:
        raise DeclarationError(f"it is longer than {longest:,} characters")


def _refuse_deep(value: object, left: int) -> None:
    if not isinstance(value, dict | list):
        return
    if not left:
        raise DeclarationError("it is nested too deeply")
    for inner in value.values() if isinstance(value, dict) else value:
        _refuse_deep(inner, left - 1)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        _put(table, key, value)
    return table


def _put(table: dict[str, Any], key: str, value: object) -> None:
    if key in table:
        raise DeclarationError(f"the key {key[:60]!r} stands there twice")
    table[key] = value


def _no_number(word: str) -> object:
    raise DeclarationError(f"{word} is no number")


def _yaml(text: str, first_line: int = 1) -> Any:
    import yaml  # noqa: PLC0415 - few repositories declare advisors in YAML

    try:
        _refuse_unbounded(text)
        document = yaml.compose(text, Loader=yaml.SafeLoader)
        return None if document is None else _value(document)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + first_line})" if mark else ""
        raise DeclarationError(f"its YAML is not valid YAML{where}") from None


def _refuse_unbounded(text: str) -> None:
    """Look at the parser's events, of which none makes a value yet."""
    import yaml  # noqa: PLC0415 - few repositories declare advisors in YAML

    depth = count = documents = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        documents += isinstance(event, yaml.DocumentStartEvent)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise DeclarationError("its YAML uses an anchor or an alias: write the value out")
        if isinstance(event, yaml.NodeEvent):
            count += 1
            if getattr(event, "tag", None) is not None:
                raise DeclarationError("its YAML uses a tag: write plain words, numbers, lists and tables")
            depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if documents > 1:
            raise DeclarationError("its YAML holds more than one document")
        if depth > DEEPEST:
            raise DeclarationError("it is nested too deeply")
        if count > MOST_VALUES:
            raise DeclarationError(f"it holds more than {MOST_VALUES:,} values")


def _value(node: Any) -> Any:
    """The value of a node. A key is its own text: YAML 1.1 would take the key ``on`` for a yes."""
    import yaml  # noqa: PLC0415 - few repositories declare advisors in YAML

    if isinstance(node, yaml.ScalarNode):
        return _scalar(node.value) if node.style is None else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value(each) for each in node.value]
    table: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise DeclarationError("a key in its YAML is no word")
        _put(table, key.value, _value(value))
    return table


def _scalar(word: str) -> bool | int | float | str | None:
    """A plain word of YAML 1.2: what YAML 1.1 made of ``no`` and ``on`` surprises everybody."""
    if word.casefold() in _WORDS:
        return _WORDS[word.casefold()]
    kinds: tuple[Callable[[str], int | float], ...] = (int, float)
    for kind in kinds:
        try:
            return kind(word)
        except ValueError:
            continue
    return word


ID = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"
"""An id stands in comments, commands and labels: letters, digits, ``-`` and ``_`` alone."""


LONGEST_PERSONA = 8_000


MOST_SCOPES = 20


_ROLES = ("executor", "pre_flight", "mid_flight", "post_verify", "retro")


_SUBAGENTS_OF_THE_CLI = ("general-purpose", "explore", "plan", "claude", "fork", "statusline-setup")


TAKEN_IDS = frozenset((*_ROLES, VOICES, *_SUBAGENTS_OF_THE_CLI))
"""The roles of a review and the CLI's own subagents, in small letters: no advisor may pass for one of them."""


OLD_NAMES: Mapping[str, str] = {"role": "persona", "schema": "answer", "kind": "type"}
"""Act 017's first names of three keys."""


ScopeText = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f<>]{1,100}$")]
"""What an advisor looks at first, or the lens that a path asks for."""


def _as_table(value: object) -> object:
    """A schema that is given as JSON text."""
    if not isinstance(value, str):
        return value
    (table,) = read_list(value) or [{}]
    return table


class Declaration(BaseModel):
    """What one file says of one advisor. A key that is left out is inherited from the layer before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["advisor"] = "advisor"
    id: Annotated[str, Field(pattern=ID)]
    persona: Annotated[str, Field(max_length=LONGEST_PERSONA)] | None = None
    on: Moment | None = None
    scopes: Annotated[tuple[ScopeText, ...], Field(max_length=MOST_SCOPES)] | None = None
    isInstanced: Annotated[bool, Field(strict=True)] | None = None  # noqa: N815 (act 017's word)
    weight: Annotated[float, Field(ge=0, le=MOST_WEIGHT, allow_inf_nan=False)] | None = None
    veto: Annotated[bool, Field(strict=True)] | None = None
    temperament: Temperament | None = None
    mode: Literal["independent", "inline"] | None = None
    model: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}$")] | None = None
    answer: Annotated[AnswerFields, BeforeValidator(_as_table)] | None = None

    @field_validator("id")
    @classmethod
    def _nobody_elses(cls, id_: str) -> str:
        if id_.casefold() in TAKEN_IDS:
            raise ValueError("taken")
        return id_

    @field_validator("persona")
    @classmethod
    def _blank_is_none(cls, persona: str | None) -> str | None:
        return (persona or "").strip() or None

    @property
    def told(self) -> dict[str, Any]:
        """What it says, by the names that an ``Advisor`` has for it; the schema of its answer as JSON text."""
        told = self.model_dump(exclude={"type", "id", "isInstanced", "mode", "answer"}, exclude_none=True)
        if self.isInstanced is not None:
            told["instanced"] = self.isInstanced
        if self.mode is not None:
            told["inline"] = self.mode == "inline"
        if self.answer is not None:
            told["answer"] = json.dumps(self.answer.model_dump(mode="json", exclude_unset=True))
        return told


@dataclass(frozen=True, slots=True)
class Declared:
    """One declaration, and the file that it stands in."""

    source: str
    said: Declaration


@dataclass(frozen=True, slots=True)
class DeclaredFile:
    """All that one file declares. ``presets`` are those that it asks for, ``problems`` whole sentences."""

    advisors: tuple[Declared, ...] = ()
    presets: tuple[PresetName, ...] = ()
    problems: tuple[str, ...] = ()


class _PresetMessage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["preset"]
    preset: PresetName


def read_declarations(path: str, text: str) -> DeclaredFile:
    """What a file declares: Markdown with frontmatter (the body is the persona), or act 017's JSON list."""
    try:
        tables = read_list(text) if path.endswith(".json") else [_with_body(*read_markdown(text))]
    except DeclarationError as problem:
        return DeclaredFile(problems=(f"{path}: {problem}.",))
    advisors: list[Declared] = []
    presets: list[PresetName] = []
    problems: list[str] = []
    for number, table in enumerate(tables, 1):
        where = path if len(tables) == 1 else f"{path}, number {number}"
        try:
            renamed = _renamed(table)
            if renamed.get("type") == "preset":
                presets.append(_PresetMessage.model_validate(renamed).preset)
            else:
                advisors.append(Declared(path, Declaration.model_validate(renamed)))
        except ValidationError as error:
            found = error.errors(include_url=False)
            problems += [f"{where}: {_complaint(each)}" for each in found[:_MOST_TOLD]]
        except DeclarationError as problem:
            problems.append(f"{where}: {problem}.")
    return DeclaredFile(tuple(advisors), tuple(presets), tuple(problems))


_MOST_TOLD = 10


def _with_body(table: dict[str, Any], body: str) -> dict[str, Any]:
    if not body:
        return table
    if {"persona", "role"} & table.keys():
        raise DeclarationError("it has a persona and a body: the body is the persona, so leave one of them out")
    return {**table, "persona": body}


def _renamed(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table by the present names of its keys."""
    for old, new in OLD_NAMES.items():
        if old in table and new in table:
            raise DeclarationError(f"{old!r} is the old name of {new!r}: leave one of them out")
    return {OLD_NAMES.get(key, key): value for key, value in table.items()}


def _complaint(error: ErrorDetails) -> str:
    where = ".".join(str(step) for step in error["loc"])
    if error["type"] == "extra_forbidden":
        if len(error["loc"]) == 1:
            return f"unknown key {_short(where)}; {nearest_of(where, (*Declaration.model_fields, *OLD_NAMES))}"
        return f"unknown key {_short(where)} in the schema of its answer."
    if error["type"] == "missing" and where == "id":
        return "it has no id."
    if error["loc"] == ("id",) and error["type"] == "value_error":
        return f"the id {_short(error['input'])} is taken by a role of the review or by the CLI: choose another."
    if error["loc"] == ("id",):
        return f"the id {_short(error['input'])} is none: up to 64 letters, digits, `-` and `_`, a letter first."
    return f"{_short(where)}: {value_mistake(error)}."


def _short(word: object) -> str:
    """What somebody wrote, on one line and no longer than a reader needs."""
    return ascii(word if isinstance(word, str) else str(word))[:80]
