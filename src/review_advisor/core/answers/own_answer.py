"""An advisor's own fields beside its vote, read one by one. They decide nothing, so none of them loses the vote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from review_advisor.core.answers.opinion import form_of_field
from review_advisor.core.answers.tolerant import Notes, complaints
from review_advisor.core.roster.answer_fields import AnswerFields

MOST_OWN = 4_000
"""Characters of one advisor's own fields as JSON."""


def read_own(said: object, declared: AnswerFields, notes: Notes) -> str:
    """The ``declared`` fields among what an advisor ``said``, as JSON; empty without any.

    A field that is missing, that its schema does not allow or for which there is no room is left out, and so are fields
    that nobody declares. ``notes`` name each of them.
    """
    if not isinstance(said, Mapping):
        notes.add("own was left out: it is no object")
        return ""
    kept: dict[str, Any] = {}
    for name, field in declared.properties.items():
        if said.get(name) is None:
            if name in declared.required:
                notes.add(f"own.{name} is missing")
            continue
        try:
            read = form_of_field(name, field).model_validate({name: said[name]}, context=notes)
        except ValidationError as error:
            notes.add(f"own.{name} was left out: {complaints(error)}")
            continue
        more = kept | read.model_dump(mode="json")
        if len(_text(more)) > MOST_OWN:
            notes.add(f"own.{name} was left out: all fields together have at most {MOST_OWN:,} characters")
        else:
            kept = more
    further = len(said.keys() - declared.properties.keys())
    if further:
        notes.add(f"{further} of the fields in own were left out: they are not declared")
    return _text(kept) if kept else ""


def own_table(own: str) -> dict[str, Any]:
    """The fields by their names; none of a text that is no JSON object."""
    try:
        said = json.loads(own)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def own_words(own: str) -> str:
    """The fields as a person reads them, on one line; the text itself if it is no JSON object."""
    table = own_table(own).items()
    told = ", ".join(f"{name} {value if isinstance(value, str) else _text(value)}" for name, value in table)
    return " ".join((told or own).split())


def _text(value: object) -> str:
    """As it is read again; the redactor does not know a secret whose letters are escaped."""
    return json.dumps(value, ensure_ascii=False)
