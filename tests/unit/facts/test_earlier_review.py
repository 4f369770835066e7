"""What has become of a file's lines since the last complete review, read from the difference between two heads."""

import pytest

from review_advisor.change.change import MOST_GROWTH, Age, FileChange, Hunk, Status, age_of
from review_advisor.change.diff_text import touched_lines

PATH = "src/a.py"


def ages(*lines: str, start: int = 10) -> list[str]:
    """The age of each line of the head from ``start`` on, after one hunk of these lines."""
    count = sum(line[:1] in " +" for line in lines)
    hunk = Hunk(start, sum(line[:1] in " -" for line in lines), start, count, "", lines)
    known = touched_lines([FileChange(Status.MODIFIED, PATH, hunks=(hunk,))])
    return [age_of(known, PATH, line, line, removed=False).value for line in range(start, start + count)]


def test_lines_that_take_the_place_of_others_are_rework_and_lines_beside_them_are_not() -> None:
    assert ages(" a", "-b", "+c", " d") == ["unchanged", "reworked", "unchanged"]


def test_lines_that_are_only_added_are_new() -> None:
    assert ages(" a", "+b", "+c", " d") == ["unchanged", "new", "new", "unchanged"]


@pytest.mark.parametrize("added, age", [(MOST_GROWTH, "reworked"), (MOST_GROWTH + 1, "new")])
def test_much_more_than_was_there_is_new_code_in_an_old_place(added: int, age: str) -> None:
    assert ages(" a", "-b", *["+c"] * added, " d") == ["unchanged", *[age] * added, "unchanged"]


def test_lines_that_are_only_taken_out_make_both_neighbours_new() -> None:
    """Where a check was, the call beside it is exposed."""
    assert ages(" a", " b", "-check", " call", " d") == ["unchanged", "new", "new", "unchanged"]


def test_every_group_of_a_hunk_counts_for_itself() -> None:
    assert ages("-a", "+b", " c", "+d", " e", "-f", " g") == ["reworked", "unchanged", "new", "new", "new"]


def test_a_finding_is_as_new_as_its_newest_line() -> None:
    hunk = Hunk(1, 3, 1, 4, "", (" a", "-b", "+B", "+c", " d", "+e"))
    known = touched_lines([FileChange(Status.MODIFIED, PATH, hunks=(hunk,))])
    assert age_of(known, PATH, 1, 1, removed=False) is Age.UNCHANGED
    assert age_of(known, PATH, 1, 3, removed=False) is Age.REWORKED
    assert age_of(known, PATH, 1, 5, removed=False) is Age.NEW


def test_a_file_that_is_the_same_is_unchanged_and_its_removed_lines_are_too() -> None:
    assert age_of({}, PATH, 1, 9, removed=False) is Age.UNCHANGED
    assert age_of({}, PATH, 1, 9, removed=True) is Age.UNCHANGED


def test_removed_lines_and_files_without_lines_are_new_once_their_file_differs() -> None:
    known = touched_lines([FileChange(Status.MODIFIED, PATH), FileChange(Status.MODIFIED, "b", hunks=(HUNK,))])
    assert age_of(known, PATH, 1, 1, removed=False) is Age.NEW
    assert age_of(known, "b", 77, 77, removed=True) is Age.NEW


def test_where_nobody_can_tell_everything_is_new() -> None:
    assert age_of(None, PATH, 1, 1, removed=False) is Age.NEW


HUNK = Hunk(1, 1, 1, 1, "", ("-a", "+b"))
