"""The text of a declaration file as plain values: Markdown with frontmatter, or JSON. Nothing of it can grow.

YAML is read as words, numbers, lists and tables alone. Anchors, aliases and tags are refused: a short text could stand
for a huge one, or for something that no table is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import yaml

from review_advisor.core.facts.files.declared import LONGEST_FILE

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


def _value(node: yaml.Node) -> Any:
    """One value. A key is its own text: YAML 1.1 would take the key ``on`` for a yes."""
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
