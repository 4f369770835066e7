"""What is wrong with a configuration file, in sentences for whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from review_advisor.core.facts.files.value_mistake import value_mistake

_MOST_TOLD = 10


def setting_complaints(
    error: ValidationError, root: type[BaseModel], tables: Mapping[str, type[BaseModel]], name: str
) -> str:
    """Every mistake in a sentence of its own, up to a number that a person can read.

    ``root`` is the whole file, ``tables`` are those in it by their keys, and ``name`` is what the file's table is
    called. An unknown key gets the nearest known one.
    """
    found = error.errors(include_url=False)
    more = f" There are {len(found) - _MOST_TOLD} more." if len(found) > _MOST_TOLD else ""
    return " ".join(_complaint(each, root, tables, name) for each in found[:_MOST_TOLD]) + more


def _complaint(first: ErrorDetails, root: type[BaseModel], tables: Mapping[str, type[BaseModel]], name: str) -> str:
    where = ".".join(str(step) for step in first["loc"])
    if first["type"] != "extra_forbidden":
        return f"{where or name}: {value_mistake(first)}."
    table = tables.get(str(first["loc"][0]), root) if len(first["loc"]) > 1 else root
    known = list(table.model_fields)
    near = get_close_matches(str(first["loc"][-1]), known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}."
    return f"unknown key {where!r}; {hint}"
