"""What is wrong in a file of golden cases or findings, in words for whoever wrote it."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import ErrorDetails

from review_advisor.core.evaluation.golden.golden_case import GoldenSetError

_WORDS = {
    "missing": "is missing",
    "string_type": "should be text",
    "int_type": "should be a whole number",
    "int_from_float": "should be a whole number",
    "bool_type": "should be true or false",
    "tuple_type": "should be a list of tables",
    "list_type": "should be a list",
    "model_type": "should be a table",
    "model_attributes_type": "should be a table",
    "string_too_long": "is too long",
    "string_too_short": "is too short",
    "too_long": "has too many entries",
    "greater_than_equal": "is too small",
    "less_than_equal": "is too large",
    "json_invalid": "is not valid JSON",
}


def said_of(error: ErrorDetails) -> str:
    """The words for one mistake, without a full stop: our own, never those of a library."""
    if error["type"] == "value_error":
        return error["msg"].removeprefix("Value error, ").rstrip(".")
    if error["type"] == "literal_error":
        return f"should be one of {error['ctx']['expected']}".replace("'", "")
    return _WORDS.get(error["type"], "cannot be used")


def json_object(line: str, where: str) -> dict[str, Any]:
    """The object in a line of JSON. Raises ``GoldenSetError``."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise GoldenSetError(f"{where} is not valid JSON.") from None
    if not isinstance(told, dict):
        raise GoldenSetError(f"{where} is no JSON object.")
    return told
