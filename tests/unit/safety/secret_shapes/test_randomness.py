"""How likely a text was drawn at random: the judgement at its bounds."""

from __future__ import annotations

import pytest

from review_advisor.safety.secret_reading import looks_made_up, looks_random


def test_a_row_makes_hex_less_likely_only_beyond_a_half() -> None:
    assert looks_random("0123456789abcdef".replace("89", "98")) is False
    assert looks_random("7c2e9a4f1d8b05e3")
    assert looks_random("012345678" + "a3e7f1b9c5d")


def test_a_text_is_random_from_the_usual_measure_on() -> None:
    assert (looks_random("token_name_of9"), looks_random("xkqzw9Wmvb")) == (False, True)


def test_how_unlikely_a_text_must_be_is_said_by_whoever_asks() -> None:
    assert looks_random("xkqzw9Wmvb", 0.65)
    assert not looks_random("xkqzw9Wmvb", 1.65)


@pytest.mark.parametrize(
    "value, made_up",
    [
        ("", False),
        ("12345678", False),
        ("!!!!----", False),
        ("x7Kq2Zv9Bm4T", True),
        ("version1of2words", False),
        ("xKqZvBmTjRwLyHd", True),
        ("getTokenOfName", False),
        ("xKq(ZvBmTjRwLyHd", False),
        ("xKq.ZvBmTjRwLyHd", False),
        ("xKqéZvBmTjRwLyHd", False),
        ("xkqzvbmtjrwlyhdp", True),
        ("xkqzvbmtjrwlyhd", False),
        ("XKQZVBMTJRWLYHDP", True),
        ("thisiscommonwords", False),
    ],
)
def test_a_password_is_made_up_by_a_stricter_measure_where_it_has_no_digit(value: str, made_up: bool) -> None:
    assert looks_made_up(value) is made_up
