"""What a database takes as a row, and in which order those who took part stand."""

from __future__ import annotations

from itertools import permutations

import pytest

from review_advisor.ledger.rows import Participant, Scalar, casting_of, row, storable, storable_text


@pytest.mark.parametrize(
    "value, stored",
    [
        ("text", "text"),
        ("a\0b", "a\\x00b"),
        ("\ud800", "\\ud800"),
        (10**15, 10**15),
        (10**15 + 1, 10**15),
        (-(10**15) - 1, -(10**15)),
        (True, 1),
        (0.25, 0.25),
        (float("inf"), None),
        (float("nan"), None),
        (None, None),
    ],
)
def test_what_is_stored_of_a_value(value: Scalar, stored: Scalar) -> None:
    assert storable(value) == stored
    assert row(column=value) == {"column": stored}
    assert not isinstance(storable(value), bool)


def test_a_text_without_half_characters_and_nul_stays_as_it_is() -> None:
    assert storable_text("naïve 漢字") == "naïve 漢字"


def test_each_part_stands_once_in_one_order_whatever_the_order_of_events() -> None:
    parts = [
        Participant("adr_review"),
        Participant("adr_review", "executor", "haiku"),
        Participant("adr_review", "executor", "opus"),
        Participant("adr_review", "executor", "opus", "timeout"),
        Participant("adr_review", "post_verify", "haiku"),
        Participant("pr_review"),
    ]
    for shuffled in permutations(parts):
        assert casting_of((*shuffled, parts[0])) == tuple(parts)


def test_a_part_is_stored_like_any_text() -> None:
    assert casting_of([Participant("s\0", "r\0", "m\0", "e\0")]) == (
        Participant("s\\x00", "r\\x00", "m\\x00", "e\\x00"),
    )
