"""Values that a person wrote in a file: TOML, and what is wrong with one value."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails


class TomlError(ValueError):
    """A text is not valid TOML. The message says why, as a clause without a full stop."""


def read_toml(text: str) -> dict[str, Any]:
    """The table in ``text``. Raises ``TomlError``."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(str(error)) from None
    except RecursionError:
        raise TomlError("nested too deeply") from None
    except ValueError:  # Python reads no number of thousands of digits
        raise TomlError("a number has too many digits") from None


_TEXT = "should be text"
_WHOLE = "should be a whole number"
_NUMBER = "should be a number"
_YES_OR_NO = "should be true or false"
_LIST = "should be a list"
_DAY = "should be a day such as 2026-01-31"
_MOMENT = "should be a date and time such as 2026-01-31T12:00:00Z"
_DURATION = "should be a duration in seconds"

_EXPECTED = {
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
    "string_type": _TEXT,
    "string_unicode": _TEXT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "is too large",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "finite_number": "should be a finite number",
    "bool_type": _YES_OR_NO,
    "bool_parsing": _YES_OR_NO,
    "tuple_type": _LIST,
    "list_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "date_type": _DAY,
    "date_parsing": _DAY,
    "date_from_datetime_parsing": _DAY,
    "date_from_datetime_inexact": "should be a day without a time",
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "timezone_aware": "should name a time zone, such as Z",
    "time_delta_type": _DURATION,
    "time_delta_parsing": _DURATION,
    "json_invalid": "is not valid JSON",
    "union_tag_not_found": "does not say of which kind it is",
}

_BLOCK_TYPES = ("model_type", "model_attributes_type", "dataclass_type", "dict_type", "mapping_type")

_BOUNDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "greater_than": lambda limits: f"should be more than {_bound(limits['gt'])}",
    "greater_than_equal": lambda limits: f"should be at least {_bound(limits['ge'])}",
    "less_than": lambda limits: f"should be less than {_bound(limits['lt'])}",
    "less_than_equal": lambda limits: f"should be at most {_bound(limits['le'])}",
    "multiple_of": lambda limits: f"should be a multiple of {_bound(limits['multiple_of'])}",
    "string_too_short": lambda limits: _at_least(limits["min_length"], "character"),
    "string_too_long": lambda limits: f"should have at most {limits['max_length']:,} characters",
    "too_short": lambda limits: _at_least(limits["min_length"], "entry"),
    "too_long": lambda limits: f"should have at most {limits['max_length']:,} entries",
    "string_pattern_mismatch": lambda limits: f"should match the pattern {limits['pattern']}",
    "literal_error": lambda limits: f"should be {limits['expected']}",
    "enum": lambda limits: f"should be {limits['expected']}",
    "union_tag_invalid": lambda limits: f"should be of the kind {limits['expected_tags']}",
}


def value_mistake(error: ErrorDetails, *, block: str = "a table") -> str:
    """What is expected of the value, without a full stop. The value itself is not repeated.

    ``block`` is what the format calls a group of keys: a table, an object, a block of keys.
    """
    kind = error["type"]
    if kind == "value_error":
        return error["msg"].removeprefix("Value error, ").rstrip(".")
    if kind in _BLOCK_TYPES:
        return f"should be {block}"
    if kind in _BOUNDS:
        return _BOUNDS[kind](error["ctx"])
    return _EXPECTED.get(kind, "cannot be used")


def value_place(steps: Iterable[str | int]) -> str:
    """Where the value is: keys and places in a list, from 0. A key is in ASCII, at most 120 characters."""
    return ".".join(ascii(str(step))[1:-1][:120] for step in steps)


def _at_least(least: int, what: str) -> str:
    if least == 1:
        return "should not be empty"
    return f"should have at least {least:,} {'entries' if what == 'entry' else 'characters'}"


def _bound(value: object) -> object:
    """A limit without the decimal point that only the library's type gave it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def nearest_of(word: str, known: Iterable[str]) -> str:
    """The nearest known word as a question, or all of them."""
    by_small = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), list(by_small), n=1, cutoff=0.5)
    return (
        f"did you mean {by_small[near[0]]!r}?" if near else f"known: {', '.join(sorted(by_small.values())) or 'none'}."
    )
