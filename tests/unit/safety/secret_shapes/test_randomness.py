"""How likely a text was drawn at random: each measure by itself, and the judgement at its bounds."""

from __future__ import annotations

import pytest

from review_advisor.safety import secret_reading as randomness
from review_advisor.safety.secret_reading import looks_made_up, looks_random, of_both_cases


@pytest.mark.parametrize(
    "piece, share",
    [
        ("abcd", 3 / 4),
        ("0000", 3 / 4),
        ("dcba", 3 / 4),
        ("acac", 0),
        ("ab9z", 1 / 4),
    ],
)
def test_a_row_is_of_neighbours_in_the_alphabet(piece: str, share: float) -> None:
    assert randomness._in_a_row(piece) == share


@pytest.mark.parametrize(
    "piece, measure",
    [
        ("the", 0),
        ("tze", 2 / 2),
        ("thz", 1 / 2),
        ("aB", 1 + 0),
        ("aZ", 1 + 1),
        ("a1", 1),
        ("11", 0),
        ("1a2b", 1),
        ("a!b", 1),
        ("zq", 1),
        ("er", 0),
        ("ER", 0),
        ("e_r", 0),
        ("e/9r", 1 / 1),
        ("zqA9", 2 / 3 + 2 / 2),
        ("", 0),
        ("x", 0),
    ],
)
def test_turns_of_kinds_and_rare_pairs_are_unlikely(piece: str, measure: float) -> None:
    assert randomness._unlikely(piece) == pytest.approx(measure)


@pytest.mark.parametrize(
    "piece, is_hex",
    [
        ("0123456789abcdef", True),
        ("0123456789ABCDEF", True),
        ("0123456789abcde", False),
        ("0123456789abcdEF", False),
        ("0123456789abcdeg", False),
        ("aaaaaaaaaaa12345", True),
        ("aaaaaaaaaaaa1234", False),
        ("1" * 23 + "ab", True),
        ("1" * 24 + "a", False),
    ],
)
def test_a_digest_has_letters_and_digits_and_neither_is_rare(piece: str, is_hex: bool) -> None:
    assert randomness._looks_like_hex(piece) is is_hex


@pytest.mark.parametrize(
    "letter, kind",
    [("7", "digit"), ("q", "lower"), ("Q", "upper"), ("!", "sign"), ("|", "sign"), ("_", ""), ("/", ""), (" ", "")],
)
def test_a_letter_is_of_one_kind(letter: str, kind: str) -> None:
    assert randomness._kind(letter) == kind


def test_a_row_makes_hex_less_likely_only_beyond_a_half() -> None:
    assert looks_random("0123456789abcdef".replace("89", "98")) is False
    assert looks_random("7c2e9a4f1d8b05e3")
    mixed = "012345678" + "a3e7f1b9c5d"
    assert randomness._in_a_row(mixed) <= 0.55
    assert looks_random(mixed)


def test_a_text_is_random_from_the_usual_measure_on() -> None:
    likely, unlikely = "token_name_of9", "xkqzw9Wmvb"
    assert randomness._unlikely(likely) < 0.65 < randomness._unlikely(unlikely) < 1.65
    assert (looks_random(likely), looks_random(unlikely)) == (False, True)


def test_how_unlikely_a_text_must_be_is_said_by_whoever_asks() -> None:
    piece = "xkTqz9Wm"
    measure = randomness._unlikely(piece)
    assert looks_random(piece, measure)
    assert not looks_random(piece, measure + 0.001)


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


@pytest.mark.parametrize("value, both", [("aB1", True), ("aB", False), ("a1", False), ("B1", False), ("", False)])
def test_both_cases_and_a_digit(value: str, both: bool) -> None:
    assert of_both_cases(value) is both
