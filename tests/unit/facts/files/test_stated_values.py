"""A file that somebody wrote: TOML is a table or one error, and no message of a library reaches anybody."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, StringConstraints, ValidationError, field_validator
from pydantic_core.core_schema import ErrorType

from review_advisor.change.checker_settings import ruff_settings
from review_advisor.safety.stated_values import TomlError, read_toml, value_mistake, value_place

# --- TOML -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, says",
    [
        ("x = [", "Invalid value"),
        ("x = " + "[" * 9_000, "nested too deeply"),
        ("x = " + "9" * 6_000, "a number has too many digits"),
    ],
)
def test_a_text_that_is_no_toml_is_one_error_with_its_reason(text: str, says: str) -> None:
    with pytest.raises(TomlError, match=says):
        read_toml(text)
    assert ruff_settings(text, "", "ruff.toml") is None


@given(st.text(alphabet="ax=[]{}\"'.#9-:\n "))
def test_a_text_is_a_table_or_that_error(text: str) -> None:
    with suppress(TomlError):
        assert isinstance(read_toml(text), dict)


# --- a wrong value ----------------------------------------------------------------------------------------------------


CONTEXT: dict[str, Any] = {
    **dict.fromkeys(("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length"), 2),
    **dict.fromkeys(("pattern", "expected", "expected_tags"), "a"),
}


class Form(BaseModel):
    """One value of each kind that our forms have."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=3)] = "a"
    form: Annotated[str, StringConstraints(pattern="^a$")] = "a"
    line: Annotated[int, Field(ge=1, le=9, strict=True)] = 1
    price: Annotated[float, Field(gt=0, lt=10, allow_inf_nan=False)] = 1
    kind: Literal["clean", "faulty"] = "clean"
    labels: Annotated[list[str], Field(min_length=1, max_length=1)] = ["a"]
    table: dict[str, str] = {}
    yes: bool = True
    day: date = date.min
    moment: datetime = datetime.max.replace(tzinfo=UTC)
    wait: timedelta = timedelta()
    even: int = 2

    @field_validator("even")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("give an even number.")
        return value


@pytest.mark.parametrize(
    "told, said",
    [
        ({"text": 1}, "should be text"),
        ({"text": ""}, "should not be empty"),
        ({"text": "long"}, "should have at most 3 characters"),
        ({"form": "b"}, "should match the pattern ^a$"),
        ({"line": "1"}, "should be a whole number"),
        ({"line": 0}, "should be at least 1"),
        ({"line": 10}, "should be at most 9"),
        ({"price": "much"}, "should be a number"),
        ({"price": 0}, "should be more than 0"),
        ({"price": 10}, "should be less than 10"),
        ({"price": float("nan")}, "should be a finite number"),
        ({"kind": "clear"}, "should be 'clean' or 'faulty'"),
        ({"labels": {}}, "should be a list"),
        ({"labels": []}, "should not be empty"),
        ({"labels": ["a", "b"]}, "should have at most 1 entries"),
        ({"table": 1}, "should be a table"),
        ({"yes": "perhaps"}, "should be true or false"),
        ({"day": "soon"}, "should be a day such as 2026-01-31"),
        ({"moment": "soon"}, "should be a date and time such as 2026-01-31T12:00:00Z"),
        ({"wait": "soon"}, "should be a duration in seconds"),
        ({"even": 3}, "give an even number"),
    ],
)
def test_a_mistake_is_told_in_our_own_words(told: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Form.model_validate(told)
    assert value_mistake(refused.value.errors()[0]) == said


def test_a_group_of_keys_has_the_name_that_its_format_gives_it() -> None:
    with pytest.raises(ValidationError) as refused:
        Form.model_validate(7)
    assert value_mistake(refused.value.errors()[0], block="an object") == "should be an object"


def test_no_kind_of_mistake_shows_the_words_of_the_library() -> None:
    for kind in set(get_args(ErrorType)) - {"value_error"}:
        mistake = {"type": kind, "loc": (), "msg": "Input should be an instance", "input": 1, "ctx": CONTEXT}
        said = value_mistake(mistake)  # type: ignore[arg-type]
        assert said, kind
        assert "Input" not in said, kind


def test_a_key_that_is_spelled_like_another_line_is_one_word_of_ascii() -> None:
    assert value_place(("threshold", 0, "x\nApplied.")) == r"threshold.0.x\nApplied."
    assert len(value_place(("é" * 500,))) == 120
