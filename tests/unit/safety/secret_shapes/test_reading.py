"""A text as a program reads it, and where each part of that stands in the text as it is written."""

from __future__ import annotations

import pytest

from review_advisor.safety.secret_reading import DecodedText, read

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
