"""A text as a program reads it, where each part of that stands as it is written, and how random a part looks."""

from __future__ import annotations

import pytest

from review_advisor.safety.secret_reading import DecodedText, looks_made_up, looks_random, read
from review_advisor.safety.secrets import REDACTED, holds_mark, is_mark, kind_marked, mark

MEANT: list[tuple[str, str]] = [
    ("plain words", "plain words"),
    (r"a\nb", "a\nb"),
    (r"a\rb", "a\rb"),
    (r"a\tb", "a\tb"),
    (r"a\\nb", "a\nb"),
    (r"a\/b", "a/b"),
    (r"a\"b", 'a"b'),
    (r"a\\\'b", "a'b"),
    (r"a\x2Bb", "a+b"),
    (r"a\u003Db", "a=b"),
    ("a%2Fb", "a/b"),
    ("a%3Db", "a=b"),
    ("a%40b", "a@b"),
    ("a%0Ab", "a\nb"),
    ("a%41b", "a%41b"),
    ("a&quot;b", 'a"b'),
    ("a&amp;b", "a&b"),
    ("a&#43;b", "a+b"),
    ("a&#x2F;b", "a/b"),
    ("a&#61;b", "a=b"),
    ("a&nbsp;b", "a&nbsp;b"),
    ('"a" + "b"', '"ab"'),
    ('"a" . "b"', '"ab"'),
    ("'a' +\n    'b'", "'ab'"),
    ('"a"\n  "b"', '"ab"'),
    ('"a" \\\n"b"', '"ab"'),
    ("a\\\n   b", "ab"),
    ('+"a" +\n+"b"', '+"ab"'),
    ('-"a" +\n-"b"', '-"ab"'),
    ("+a\\\n+b", "+ab"),
    ("-a\\\n-b", "-ab"),
    ("a\\\n+b", "a+b"),
    ("-a\\\n+b", "-a+b"),
    ('"a"\n"b": 1', '"a"\n"b": 1'),
]


@pytest.mark.parametrize("written, meant", MEANT, ids=[repr(row[0]) for row in MEANT])
def test_escapes_are_undone_broken_literals_joined_and_each_character_leads_back(written: str, meant: str) -> None:
    reading = read(written)
    assert reading.text == meant
    at = 0
    for position, character in enumerate(meant):
        ((start, end),) = reading.places(position, position + 1)
        assert start >= at, "in order, and none twice"
        assert end > start
        assert written[start:end] == character or read(written[start:end]).text == character
        at = end


def test_a_part_across_a_joint_stands_in_several_places() -> None:
    written = 'x = "abc" + "def" + "ghi"'
    reading = read(written)
    start = reading.text.index("abc")
    assert [written[first:last] for first, last in reading.places(start, start + 9)] == ["abc", "def", "ghi"]
    assert [written[first:last] for first, last in reading.places(start, start + 3)] == ["abc"]
    assert [written[first:last] for first, last in reading.places(start + 3, start + 6)] == ["def"]
    assert [written[first:last] for first, last in reading.places(start + 2, start + 4)] == ["c", "d"]


def test_a_text_without_escapes_is_read_as_it_is() -> None:
    assert read("a b") == DecodedText("a b")
    assert list(read("a b").places(1, 3)) == [(1, 3)]


# --- how likely it was drawn at random --------------------------------------------------------------------------------


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


# --- the mark that stands where a secret was --------------------------------------------------------------------------


@pytest.mark.parametrize("text, kind", [(mark("GitHub token"), "GitHub token"), (REDACTED, "")])
def test_a_mark_is_recognised_alone_and_in_a_text(text: str, kind: str) -> None:
    assert is_mark(text)
    assert holds_mark(f"a {text} b")
    assert not is_mark(f"{text} ")
    assert kind_marked(f"a {text} b") == kind


@pytest.mark.parametrize("text", ["", "[secret]", "[secret: ]", "secret: GitHub token", "[secret: a\nb]"])
def test_what_only_looks_like_a_mark_is_none(text: str) -> None:
    assert not holds_mark(text)
    assert kind_marked(text) == ""
