"""Whether a finding's lines stand in the merged file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.core.observation.merged_lines import FindingPlace, lines_at_merge, quoted_lines

PLACE = FindingPlace("app.py", "c" * 40, 2, 3)
REVIEWED = "one\ntwo = 2\nthree = 3\nfour\n"


def test_a_finding_is_about_its_quote_or_else_the_lines_at_its_place() -> None:
    assert quoted_lines(PLACE, REVIEWED) == "two = 2\nthree = 3"
    assert quoted_lines(PLACE, None) == ""
    assert quoted_lines(FindingPlace("app.py", "c" * 40, 9, 9), "one") == ""
    assert quoted_lines(FindingPlace("app.py", "c" * 40, 2, 3, quote="2\nthree"), REVIEWED) == "2\nthree"


@pytest.mark.parametrize(
    "lines, merged, value",
    [
        ("two = 2\nthree = 3", REVIEWED, "there"),
        ("two = 2\nthree = 3", "\ttwo  = 2\n\n  three = 3\n", "there"),
        ("2\nthree", REVIEWED, "there"),
        ("two = 2\nthree = 3", "two = 2\nbetween\nthree = 3", "gone"),
        ("two = 2", "", "gone"),
        ("two = 2", None, "unknown"),
        (" \n\t", REVIEWED, "unknown"),
        ("key = [secret: api key]", REVIEWED, "unknown"),
        ("a<U+202E>b", "a\u202eb", "there"),
    ],
)
def test_lines_are_looked_for_as_a_model_was_shown_them(lines: str, merged: str | None, value: str) -> None:
    assert lines_at_merge(PLACE, lines, merged)[0] == value


def test_lines_that_the_change_removes_are_never_looked_for() -> None:
    removed = FindingPlace("app.py", "c" * 40, 2, 2, removed=True, quote="two = 2")
    assert lines_at_merge(removed, "two = 2", REVIEWED)[0] == "unknown"


@pytest.mark.parametrize(
    "place, lines, merged, told",
    [
        (replace(PLACE, removed=True), "x", "x", ("unknown", "the finding is about lines that the change removes")),
        (PLACE, "key = [secret: api key]", "x", ("unknown", "its quote holds a secret, which is not kept")),
        (PLACE, " ", "x", ("unknown", "neither the ledger nor the reviewed commit has its lines")),
        (PLACE, "x", None, ("unknown", "the merge has no file of that name")),
        (PLACE, "x", "x", ("there", "its lines are in the merged file")),
        (PLACE, "x", "y", ("gone", "its lines are not in the merged file")),
    ],
)
def test_what_shows_where_the_lines_are_is_said(
    place: FindingPlace, lines: str, merged: str | None, told: tuple[str, str]
) -> None:
    assert lines_at_merge(place, lines, merged) == told


def test_a_place_before_the_first_line_is_the_first_line() -> None:
    assert quoted_lines(FindingPlace("app.py", "c" * 40, 0, 1), REVIEWED) == "one"
    assert quoted_lines(FindingPlace("app.py", "c" * 40, 1, 1), REVIEWED) == "one"
