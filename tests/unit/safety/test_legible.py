"""What a model said can be stored, shown and passed on, whatever JSON it wrote."""

from dataclasses import dataclass
from typing import Any

import pytest

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.policy.surfaces import Role
from review_advisor.safety.fence import DEEPEST, LARGEST, legible, read_json


@dataclass(frozen=True)
class Said:
    words: str
    number: float


def nested(depth: int) -> Any:
    value: Any = "inside"
    for _ in range(depth):
        value = [value]
    return value


def depth_of(value: Any) -> int:
    return 1 + depth_of(value[0]) if isinstance(value, list) else 0


@pytest.mark.parametrize(
    "number, becomes",
    [
        *((number, number) for number in (0, 1, -1, LARGEST, -LARGEST, 0.5)),
        *((LARGEST + 1, LARGEST), (-LARGEST - 1, -LARGEST), (10**30, LARGEST), (-(10**30), -LARGEST)),
        *((float("inf"), None), (float("-inf"), None), (float("nan"), None)),
    ],
)
def test_a_number_that_json_cannot_carry_becomes_one_that_it_can(number: float, becomes: float | None) -> None:
    assert legible(number) == becomes


def test_the_largest_number_is_the_largest_that_every_reader_of_json_knows() -> None:
    assert float(LARGEST) == LARGEST
    assert float(LARGEST + 1) == LARGEST


def test_a_text_is_shown_wherever_it_stands() -> None:
    told = legible({"k\0": ["a\x1b", ("b\ud800", Said("c\uffff", 1.0))]})
    assert told == {"k<U+0000>": ["a<U+001B>", ("b<U+D800>", Said("c<U+FFFF>", 1.0))]}


@pytest.mark.parametrize("text", ["plain", "a\tb\nc", "\u202e", "漢字"])
def test_a_text_that_can_be_stored_stays(text: str) -> None:
    assert legible(text) == text


def test_a_line_break_of_two_characters_becomes_a_line_feed() -> None:
    assert legible("a\r\nb\rc") == "a\nb<U+000D>c"


@pytest.mark.parametrize("value", [None, True, False, Role.EXECUTOR, PostVerifyResult(verdict="VETO"), Said])
def test_any_other_value_stays(value: object) -> None:
    assert legible(value) is value


@pytest.mark.parametrize("depth", [1, DEEPEST - 1, DEEPEST])
def test_what_is_nested_as_deep_as_allowed_stays(depth: int) -> None:
    assert legible(nested(depth)) == nested(depth)


def test_what_is_nested_deeper_is_cut() -> None:
    told = legible(nested(DEEPEST + 1))
    assert "[nested too deeply]" in str(told)
    assert depth_of(told) == DEEPEST


def test_json_nested_too_deeply_to_read_is_cut_there_and_read_on_both_sides() -> None:
    deep = "[" * 200_000 + "]" * 200_000
    told = read_json(f'{{"before": "]", "deep": {deep}, "after": ["\\"]", 1]}}')
    assert (told["before"], told["after"]) == ("]", ['"]', 1])
    assert depth_of(told["deep"]) == DEEPEST - 1


def test_json_that_is_too_deep_and_cut_off_is_no_json() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        read_json("[" * 200_000)


def test_a_number_of_thousands_of_digits_is_read() -> None:
    assert read_json("9" * 5_000) == int("9" * 400)


def test_bytes_that_are_no_text_are_replaced_and_control_characters_are_read() -> None:
    assert read_json(b'["\xff", "a\nb"]') == ["\ufffd", "a\nb"]


def test_a_key_with_several_values_has_all_of_them_unless_they_agree() -> None:
    assert read_json('{"a": 1, "a": 2, "b": 3, "b": 3, "c": 4}') == {"a": [1, 2], "b": 3, "c": 4}
