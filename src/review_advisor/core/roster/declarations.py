"""The declaration of one advisor, checked: the keys of the frontmatter, and those of act 017's JSON (see ADR-0115)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from review_advisor.core.facts.files.value_mistake import value_mistake
from review_advisor.core.roster.advisor import MOST_WEIGHT, REFUTER, VOICES, Moment, Temperament
from review_advisor.core.roster.answer_fields import AnswerFields
from review_advisor.core.roster.declaration_text import DeclarationError, read_list, read_markdown
from review_advisor.core.roster.nearest import nearest_of
from review_advisor.core.roster.presets import PresetName

ID = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"
"""An id stands in comments, commands and labels: letters, digits, ``-`` and ``_`` alone."""
LONGEST_PERSONA = 8_000
MOST_SCOPES = 20
_ROLES = ("executor", "pre_flight", "mid_flight", "post_verify", "retro")
_SUBAGENTS_OF_THE_CLI = ("general-purpose", "explore", "plan", "claude", "fork", "statusline-setup")
TAKEN_IDS = frozenset((*_ROLES, REFUTER, VOICES, *_SUBAGENTS_OF_THE_CLI))
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
