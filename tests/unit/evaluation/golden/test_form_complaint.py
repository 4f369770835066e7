"""No message of a library reaches who wrote a case or a finding."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from review_advisor.core.evaluation.golden.form_complaint import said_of


class Form(BaseModel):
    """One value of each kind that the forms have."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=3)] = "a"
    form: Annotated[str, StringConstraints(pattern="^a$")] = "a"
    line: Annotated[int, Field(ge=1, le=9, strict=True)] = 1
    kind: Literal["clean", "faulty"] = "clean"
    labels: Annotated[list[str], Field(max_length=1)] = []


@pytest.mark.parametrize(
    "told, said",
    [
        ({"text": 1}, "should be text"),
        ({"text": ""}, "is too short"),
        ({"text": "long"}, "is too long"),
        ({"form": "b"}, "cannot be used"),
        ({"line": "1"}, "should be a whole number"),
        ({"line": 0}, "is too small"),
        ({"line": 10}, "is too large"),
        ({"kind": "clear"}, "should be one of clean or faulty"),
        ({"labels": {}}, "should be a list"),
        ({"labels": ["a", "b"]}, "has too many entries"),
    ],
)
def test_a_mistake_is_told_in_our_own_words(told: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Form.model_validate(told)
    assert said_of(refused.value.errors()[0]) == said
