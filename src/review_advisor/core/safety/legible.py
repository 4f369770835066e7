"""The boundary at which what a model said becomes our values: every text in them can be stored, shown and passed on."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from review_advisor.core.safety.frame import CONTROLS, NO_CHARACTERS, with_shown

DEEPEST = 32
"""No answer that we ask for is nested a third as deep."""
LARGEST = 2**53
"""The largest number up to which every reader of JSON knows all whole numbers."""
_CUT = "[nested too deeply]"
_LONGEST_NUMBER = 400
"""Digits of a whole number that are read. Python refuses to read thousands of them."""
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_UNPRINTABLE = re.compile(f"[{CONTROLS}{NO_CHARACTERS}]")

Value = TypeVar("Value")


def legible(value: Value) -> Value:
    """``value`` with every text in it, keys included, made of characters that a text can hold.

    Control characters other than line feed and tab, lone surrogates and non-characters are shown as ``<U+XXXX>``, as
    the prompts show them; a line break of two characters becomes a line feed. What is nested deeper than ``DEEPEST``
    is cut, a number beyond ``LARGEST`` becomes it, and one that JSON cannot spell becomes null.
    """
    made: Any = _made(value, DEEPEST)
    return made  # type: ignore[no-any-return]


def read_json(text: str | bytes) -> Any:
    """What a text of JSON says, whatever its depth, its digits and its bytes. Raises ``ValueError`` if it is no JSON.

    What Python cannot nest is cut at ``DEEPEST``, bytes that are no UTF-8 are replaced, and a key that one object gives
    different values has the list of them, so that none outweighs another unseen.
    """
    told = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        return _DECODER.decode(told)
    except RecursionError:
        return _DECODER.decode(_shallow(told))


def _shallow(text: str) -> str:
    """JSON with null in the place of whatever is nested deeper than ``DEEPEST``."""
    kept, depth, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
            if depth == DEEPEST + 1:
                kept.append(text[start : token.start()])
        elif token[0] in ("]", "}"):
            if depth == DEEPEST + 1:
                kept.append("null")
                start = token.end()
            depth -= 1
    return "".join([*kept, text[start:] if depth <= DEEPEST else ""])


def _all_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    for name in found:
        values = [value for key, value in pairs if key == name]
        if any(value != values[0] for value in values):
            found[name] = values
    return found


_DECODER = json.JSONDecoder(
    parse_int=lambda digits: int(digits[:_LONGEST_NUMBER]), object_pairs_hook=_all_values, strict=False
)


def _made(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict | list | tuple):
        return _gathered(value, depth - 1) if depth else _CUT
    if isinstance(value, int):
        return value if -LARGEST <= value <= LARGEST else LARGEST if value > 0 else -LARGEST
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        changed = {name: made for name, part in parts.items() if (made := _made(part, depth)) is not part}
        return replace(value, **changed) if changed else value
    return value


def _gathered(value: dict[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Any:
    if isinstance(value, dict):
        return {_made(key, depth): _made(inner, depth) for key, inner in value.items()}
    if not value:
        return value
    return type(value)(_made(inner, depth) for inner in value)


def _text(text: str) -> str:
    # A subclass says more than its letters: a member of an enumeration stays what it is.
    if type(text) is not str or _UNPRINTABLE.search(text) is None:
        return text
    return with_shown(_UNPRINTABLE, text.replace("\r\n", "\n"))
