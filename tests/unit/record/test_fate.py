"""What became of lines: found again or not, taken back or not, and never guessed."""

from __future__ import annotations

import pytest

from review_advisor.core.record.fate import (
    MOST_LINES,
    Lines,
    Said,
    Touched,
    Wanted,
    are_whole,
    at_merge,
    changed_lines,
    may_undo,
    moves_away,
    names_renames,
    of_file,
    restores,
    times,
    undoes,
    wanted,
    weights,
)
from review_advisor.core.roles.secret_shapes import REDACTED

TEXT = "def f():\n    return None\n\ndef g():\n    return None\n"
OWN = "b" * 40


def touched(path: str = "app.py", old_path: str | None = None, old: str = "1", new: str = "2") -> Touched:
    return Touched(path if old_path is None else old_path, path, old, new)


def brought(*lines: str, path: str = "app.py") -> Lines:
    return Lines((path, line[0], line[1:]) for line in lines)


# --- the lines that are looked for ------------------------------------------------------------------------------------


def test_where_the_reviewed_file_can_be_read_whole_lines_are_looked_for() -> None:
    said = Said("app.py", OWN, 1, 2, quote="return")
    assert wanted(said, TEXT) == Wanted(("def f():", "return None"), whole=True)


def test_where_it_cannot_the_quote_has_to_do() -> None:
    assert wanted(Said("app.py", OWN, 1, 2, quote=" x  =\t1 \n\n y"), None) == Wanted(("x = 1", "y"), whole=False)


def test_what_was_taken_away_is_known_by_its_quote_alone() -> None:
    assert wanted(Said("app.py", OWN, 1, 1, removed=True, quote="old = 1"), TEXT) == Wanted(("old = 1",), whole=False)


@pytest.mark.parametrize(
    "said, reviewed, why",
    [
        (Said("a", OWN, 1, 1, quote=f"key = {REDACTED}"), TEXT, "its quote holds a secret, which is not kept"),
        (Said("a", OWN, 90, 91), TEXT, "its lines are not in the file that was reviewed"),
        (Said("a", OWN, 3, 3), TEXT, "its lines are not in the file that was reviewed"),
        (Said("a", OWN, 1, 1), None, "the file that was reviewed cannot be read any more"),
        (Said("a", OWN, 1, 1, removed=True), TEXT, "its lines are not known"),
        (Said("a", OWN, 1, 10**9), "x\n" * 300, f"it is about more than {MOST_LINES} lines"),
        (Said("a", OWN, 0, 0), TEXT, "its lines are not in the file that was reviewed"),
    ],
)
def test_lines_that_cannot_be_known_have_a_reason(said: Said, reviewed: str | None, why: str) -> None:
    assert wanted(said, reviewed) == why


@pytest.mark.parametrize(
    "lines, whole, found",
    [
        (("return None",), True, 2),
        (("return",), True, 0),
        (("return",), False, 2),
        (("return None", "def g():"), True, 1),
        (("None", "def g"), False, 1),
        (("None", "def g():", "return"), False, 1),
        (("None", "def g", "return"), False, 0),
    ],
)
def test_lines_are_found_whatever_blanks_are_around_them(lines: tuple[str, ...], whole: bool, found: int) -> None:
    assert times(Wanted(lines, whole), TEXT) == found


def test_places_may_lie_one_after_the_other_and_secrets_are_looked_for_as_they_were_shown() -> None:
    assert times(Wanted(("x",), whole=True), "x\nx\n\nx") == 3
    assert times(Wanted(("x", "x"), whole=True), "x\nx\n\nx") == 2
    token = "ghp_" + "Zk4mQ9vXw2Ls7Rt1Yb8Nc5Jd3Hf6Pg0TaUeI"
    assert times(Wanted((f"token = '{token}'",), whole=True), f"token  = '{token}'\n") == 1
    assert times(Wanted((f"token = '{REDACTED}'",), whole=False), f"token = '{token}'\n") == 1


# --- at the merge -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reviewed, merged, value",
    [
        (1, 0, "fixed"),
        (0, 0, "unknown"),
        (1, 1, "there"),
        (1, 2, "there"),
        (2, 1, "unknown"),
        (2, 2, "there"),
        (1, None, "fixed"),
        (None, 0, "fixed"),
        (None, 1, "there"),
        (None, 2, "unknown"),
        (None, None, "unknown"),
    ],
)
def test_lines_that_were_brought(reviewed: int | None, merged: int | None, value: str) -> None:
    assert at_merge(removed=False, reviewed=reviewed, merged=merged).value == value


def test_a_mere_quote_that_stands_within_a_line_may_be_another_line() -> None:
    assert at_merge(removed=False, reviewed=None, merged=1, whole=False).value == "unknown"
    assert at_merge(removed=False, reviewed=None, merged=0, whole=False).value == "fixed"
    quote = Wanted(("value = 3",), whole=False)
    assert (times(quote, "value = 30"), are_whole(quote, "value = 30")) == (1, False)
    assert are_whole(quote, " value  = 3\n")
    token = "ghp_" + "Zk4mQ9vXw2Ls7Rt1Yb8Nc5Jd3Hf6Pg0TaUeI"
    assert are_whole(Wanted((f"token = {REDACTED}",), whole=False), f"token = {token}\n"), "as it was shown"


@pytest.mark.parametrize(
    "reviewed, merged, value",
    [(0, 0, "there"), (0, 1, "fixed"), (1, 1, "there"), (0, None, "there"), (None, 0, "there"), (None, 1, "unknown")],
)
def test_lines_that_were_taken_away(reviewed: int | None, merged: int | None, value: str) -> None:
    assert at_merge(removed=True, reviewed=reviewed, merged=merged).value == value


# --- after it ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "later, back",
    [
        (("-x = 2", "+x = 1", "-y = 3", "-z = 4", "-w = 5"), True),
        (("-x = 2", "+x = 1", "-y = 3", "-z = 4"), True),
        (("-x = 2", "+x = 1", "-y = 3", "-z = 4", "-w = 5", "+q"), True),
        (("-x = 2", "+x = 1", "-y = 3"), False),
        (("-y = 3",), False),
        (("-x = 2", "+x = 1", "-y = 3", "-z = 4", "-w = 5", "+y = 4", "+z = 5"), False),
        ((), False),
    ],
)
def test_who_undoes_most_of_a_change_and_does_little_else_takes_it_back(later: tuple[str, ...], back: bool) -> None:
    change = brought("-x = 1", "+x = 2", "+y = 3", "+z = 4", "+w = 5")
    assert undoes(change, brought(*later)) is back


def test_lines_are_undone_in_their_own_file_and_only_so_often_as_they_were_brought() -> None:
    assert not undoes(brought("+x = 2"), brought("-x = 2", path="other.py"))
    assert undoes(brought("+x = 2", "+x = 2"), brought("-x = 2", "-x = 2"))
    assert not undoes(brought("+x = 2"), brought("-x = 2", "-x = 2"))


def test_lines_that_only_move_are_not_undone() -> None:
    change = brought("+a = 1", "+b = 2")
    away = brought("-a = 1", "-b = 2")
    assert undoes(change, away)
    assert not undoes(change, away, brought("+  a = 1", "+b = 2", path="new.py")), "to another file, indented"
    assert not undoes(change + brought("+c", path="other.py"), away + brought("+a = 1", "+b = 2", path="other.py"))
    assert undoes(change, away, brought("+log", path="log.md"))
    assert moves_away(away, brought("+b  = 2", path="new.py"))
    assert not moves_away(away, brought("-b = 2", path="new.py"))


def test_who_takes_a_move_back_moves_the_lines_back() -> None:
    change = brought("-a = 1", "-b = 2", path="old.py") + brought("+a = 1", "+b = 2", path="new.py")
    back = brought("+a = 1", "+b = 2", path="old.py") + brought("-a = 1", "-b = 2", path="new.py")
    assert undoes(change, back)


def test_a_change_without_lines_is_taken_back_by_whoever_restores_its_files() -> None:
    nothing = Lines()
    assert not undoes(nothing, nothing)
    assert not undoes(nothing, brought("-x"))
    picture = (touched("a.png"), touched("b.png"))
    assert restores(picture, [each.back for each in (*picture, touched("c.png"))])
    assert not restores(picture, [picture[0].back])
    assert not restores((), ())


def test_a_rename_is_taken_back_by_the_rename_the_other_way() -> None:
    moved = touched("new.py", "old.py")
    assert moved.is_moved
    assert not touched().is_moved
    assert restores([moved], [moved.back])
    change = changed_lines(moved, "x = 1\n", "x = 2\n")
    assert change == Lines({("old.py", "-", "x = 1"): 1, ("new.py", "+", "x = 2"): 1})
    assert undoes(change, changed_lines(moved.back, "x = 2\n", "x = 1\n"))


def test_changed_lines_are_those_that_only_one_side_has() -> None:
    assert changed_lines(touched(), "a\n\nb\nb\n", "b\na\n  \nc\n") == brought("-b", "+c")


def test_only_who_touches_the_files_of_most_lines_can_undo_them() -> None:
    change = brought("+a", "+b", "+c", "+d") + brought("+lock", path="x.lock")
    assert weights(change) == {"app.py": 4, "x.lock": 1}
    assert may_undo(weights(change), [touched()])
    assert may_undo(weights(change), [touched("elsewhere.py", "app.py")])
    assert not may_undo(weights(change), [touched("x.lock")])
    assert not may_undo(weights(Lines()), [touched()])


def test_among_too_many_files_git_names_no_renames() -> None:
    gone, made = [touched("", "a", new="")] * 1_000, [touched("b", "", old="")] * 1_000
    assert names_renames([*gone, *made, touched()])
    assert not names_renames([*gone, *made, touched("b", "", old="")])


def test_a_file_is_found_by_the_name_that_it_had_and_else_by_the_one_that_it_got() -> None:
    away, made = touched("b.py", "app.py"), touched("app.py", "")
    assert of_file([made, away], "app.py") == away
    assert of_file([made], "app.py") == made
    assert of_file([touched("c.py")], "app.py") is None
    assert of_file([touched("", "app.py", new="")], "app.py") is not None
