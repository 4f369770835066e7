"""The boundary at which what a model said becomes our values: every text in them can be stored, shown and passed on."""

from __future__ import annotations

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
        return replace(value, **{field.name: _made(getattr(value, field.name), depth) for field in fields(value)})
    return value


def _gathered(value: dict[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Any:
    if isinstance(value, dict):
        return {_made(key, depth): _made(inner, depth) for key, inner in value.items()}
    return type(value)(_made(inner, depth) for inner in value)


def _text(text: str) -> str:
    # A subclass says more than its letters: a member of an enumeration stays what it is.
    if type(text) is not str or _UNPRINTABLE.search(text) is None:
        return text
    return with_shown(_UNPRINTABLE, text.replace("\r\n", "\n"))
