"""Whether a finding's lines stand in the merged file, and which messages say that a commit reverts its pull request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.review.observed import FindingPlace, is_revert, lines_at_merge, quoted_lines

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


MERGE = "c" * 40


@pytest.mark.parametrize(
    "message, found",
    [
        (f'Revert "A change"\n\nThis reverts commit {MERGE}.', True),
        (f"Revert\n\nThis reverts commit {MERGE}, reversing\nchanges made to {'d' * 40}.", True),
        ('Revert "A change" (#8)\n\nReverts octo/app#7', True),
        ("Revert (#8)\n\nReverts Octo/App#7  \r\n", True),
        ("Reverts #7", True),
        ("Reverts octo/other#7", False),
        ("Reverts octo/app#77", False),
        ("Reverts octo/app#7 in part", False),
        ("It never Reverts octo/app#7", False),
        (f"See: This reverts commit {MERGE}.", False),
        (f"This reverts commit {MERGE}0.", False),
        (f"This reverts commit {'d' * 40}.", False),
        ("", False),
    ],
)
def test_a_revert_names_the_merge_or_the_pull_request(message: str, found: bool) -> None:
    assert is_revert(message, "octo/app", 7, MERGE) is found


def test_the_case_of_a_repositorys_name_is_no_difference() -> None:
    assert is_revert("Reverts octo/app#7", "Octo/App", 7, MERGE)
    assert is_revert(f"This reverts commit {'e' * 64}.", "octo/app", 7, "e" * 64)
