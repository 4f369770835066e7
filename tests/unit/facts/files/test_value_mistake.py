"""No message of a library reaches whoever wrote a file, or asked a model."""

from __future__ import annotations

import ast
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import BaseModel, Field, StringConstraints, ValidationError, field_validator
from pydantic_core.core_schema import ErrorType

from review_advisor.safety.stated_values import value_mistake, value_place

SOURCE = Path(__file__).parents[4] / "src" / "review_advisor"
PIECED_KEY = re.compile(r"""\[(?!\s*"[^"\\\n]*"\s*[\],])\s*(?:[(#\\]|[rRuU]?["'])""")
"""What begins like a key or a list and is not one plain literal in double quotes."""
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


@pytest.mark.parametrize("kind", sorted(set(get_args(ErrorType)) - {"value_error"}))
def test_no_kind_of_mistake_shows_the_words_of_the_library(kind: str) -> None:
    said = value_mistake({"type": kind, "loc": (), "msg": "Input should be an instance", "input": 1, "ctx": CONTEXT})
    assert said
    assert "Input" not in said


def test_no_other_module_reads_the_words_of_the_library() -> None:
    """The script of the embedded agent repeats what the real CLI answers to a model."""
    readers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if reads_words_of_the_library(path.read_text(encoding="utf-8"))
    }
    assert readers == {"core/facts/files/value_mistake.py", "embedded/scripted.py"}


@pytest.mark.parametrize(
    "key", ['"msg"', "'msg'", '"m" "sg"', r'"\x6dsg"', '("m"\n"sg")', '\\\n"m" "sg"', '# a\n"m" "sg"', 'u"m" "sg"']
)
def test_the_words_of_the_library_are_found_however_they_are_spelled(key: str) -> None:
    assert reads_words_of_the_library(f"told = error[{key}]\n")
    assert not reads_words_of_the_library('told = error["message"]\n')


def reads_words_of_the_library(text: str) -> bool:
    """A key of several literals or with escapes has to be parsed to be known."""
    return bool("msg" in text or PIECED_KEY.search(text)) and any(
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "msg"
        for node in ast.walk(ast.parse(text))
    )


def test_a_key_that_is_spelled_like_another_line_is_one_word_of_ascii() -> None:
    assert value_place(("threshold", 0, "x\nApplied.")) == r"threshold.0.x\nApplied."
    assert len(value_place(("é" * 500,))) == 120
