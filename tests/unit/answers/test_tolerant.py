"""What is cut from an answer, set right in it or left out of it, and what is noted of that."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from review_advisor.agents.answers import (
    Notes,
    at_most,
    complaints,
    left_out_beyond,
    or_left_out,
    otherwise,
    severity_of,
)

NO_INTEGER = "should be a whole number"
WORST_FIRST = ("critical", "high", "low")


class Item(BaseModel):
    severity: Literal["critical", "high", "low"]
    number: int = 0


class Said(BaseModel):
    text: Annotated[str, at_most(4)] = ""
    items: Annotated[tuple[int, ...], at_most(2)] = ()
    ranked: Annotated[tuple[Item, ...], at_most(2, worst_first=WORST_FIRST)] = ()
    whole: Annotated[str, left_out_beyond(4)] | None = None
    severity: Annotated[str, severity_of(WORST_FIRST)] = "low"
    sure: Annotated[float, Field(ge=0, le=1), otherwise(0.0)] = 1.0
    left: tuple[Annotated[int, or_left_out()], ...] = ()
    aside: tuple[Annotated[int, or_left_out(kept_aside=True)], ...] = ()


def read(**said: Any) -> tuple[Said, Notes]:
    notes = Notes()
    return Said.model_validate(said, context=notes), notes


@pytest.mark.parametrize(
    "given, kept, note",
    [
        ({"text": "abcd"}, {"text": "abcd"}, None),
        ({"text": "abcde"}, {"text": "abcd"}, "text was cut to 4 of its 5 characters"),
        ({"items": (1, 2)}, {"items": (1, 2)}, None),
        ({"items": (1, 2, 3)}, {"items": (1, 2)}, "items was cut to 2 of its 3 items"),
        ({"whole": "abcd"}, {"whole": "abcd"}, None),
        ({"whole": "abcde"}, {"whole": None}, "whole was left out: it has 5 characters, the most is 4"),
        ({"severity": "high"}, {"severity": "high"}, None),
        ({"severity": " HIGH "}, {"severity": "high"}, None),
        (
            {"severity": "terrible"},
            {"severity": "critical"},
            "severity was none of critical, high, low: it counts as critical",
        ),
        ({"sure": 0.5}, {"sure": 0.5}, None),
        ({"sure": 1.5}, {"sure": 0.0}, "sure could not be read: it counts as 0.0"),
        ({"left": (1, 2)}, {"left": (1, 2)}, None),
        (
            {"left": (1, "x", 2)},
            {"left": (1, 2)},
            f"an item of left was left out: the object: {NO_INTEGER}",
        ),
    ],
)
def test_an_answer_is_cut_or_set_right_and_that_is_noted(
    given: dict[str, Any], kept: dict[str, Any], note: str | None
) -> None:
    said, notes = read(**given)
    assert {name: getattr(said, name) for name in kept} == kept
    assert notes.words == (() if note is None else (note,))
    assert notes.unreadable == []


def test_of_too_many_items_the_worst_stay_in_their_order() -> None:
    said, _ = read(
        ranked=[
            {"severity": "low", "number": 1},
            {"severity": "high", "number": 2},
            {"severity": "high", "number": 3},
            {"severity": "critical", "number": 4},
        ]
    )
    assert [item.number for item in said.ranked] == [2, 4]


def test_an_item_that_is_kept_aside_is_no_note() -> None:
    said, notes = read(aside=[1, "x"])
    assert said.aside == (1,)
    ((item, why),) = notes.unreadable
    assert item == "x"
    assert why.startswith("the object: should be a whole number")
    assert notes.words == ()


def test_what_is_noted_twice_is_told_once_and_in_its_order() -> None:
    notes = Notes()
    for note in ("b", "a", "b"):
        notes.add(note)
    assert notes.words == ("b", "a")


@pytest.mark.parametrize("wrong", [{"sure": 1.5}, {"left": ["x"]}, {"aside": ["x"]}, {"severity": 7}])
def test_a_stored_value_is_not_set_right_but_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Said.model_validate(wrong)


def test_a_stored_value_is_cut_in_silence() -> None:
    said = Said.model_validate({"text": "abcde", "whole": "abcde", "items": [1, 2, 3]})
    assert (said.text, said.whole, said.items) == ("abcd", None, (1, 2))


def test_complaints_say_where_and_how_and_no_more_than_ten() -> None:
    class Row(BaseModel):
        numbers: list[int]

    with pytest.raises(ValidationError) as refused:
        Row.model_validate({"numbers": ["SECRET"] * 11})
    told = complaints(refused.value).split("; ")
    assert len(told) == 10
    assert told[3].startswith("numbers.3: should be a whole number")
    assert "SECRET" not in complaints(refused.value)
    with pytest.raises(ValidationError) as whole:
        Row.model_validate(7)
    assert complaints(whole.value).startswith("the object: should be an object")
