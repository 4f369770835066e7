"""What became of lines: found again or not, taken back or not, and never guessed."""

from __future__ import annotations

import pytest

from review_advisor.core.facts.change import FileChange, Hunk, Status
from review_advisor.core.record.fate import (
    MOST_LINES,
    LaterCommit,
    Said,
    Wanted,
    at_merge,
    may_take_away,
    same_lines,
    taken_back,
    times,
    wanted,
)
from review_advisor.core.roles.secret_shapes import REDACTED

TEXT = "def f():\n    return None\n\ndef g():\n    return None\n"
MERGE, OWN = "a" * 40, "b" * 40
PULL = "octo/app#7"


def change(*lines: str, path: str = "app.py", old_path: str | None = None) -> FileChange:
    status = Status.RENAMED if old_path else Status.MODIFIED
    return FileChange(status, path, old_path, hunks=(Hunk(1, 1, 1, 1, "", lines),))


def later(*lines: str, message: str = "Change", path: str = "app.py", old_path: str | None = None) -> LaterCommit:
    return LaterCommit("c" * 40, message, (change(*lines, path=path, old_path=old_path),))


def named(commit: str) -> str:
    return f'Revert "A change"\n\nThis reverts commit {commit}.'


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


@pytest.mark.parametrize(
    "lines, path, taken",
    [
        (Wanted(("x = 1", "y = 2"), whole=True), "app.py", True),
        (Wanted(("x = 1", "y = 2"), whole=True), "other.py", False),
        (Wanted(("y = 2",), whole=True), "app.py", False),
        (Wanted(("y",), whole=False), "app.py", True),
    ],
)
def test_only_a_commit_that_takes_such_a_line_away_is_looked_at(lines: Wanted, path: str, taken: bool) -> None:
    assert may_take_away([change(" y = 2", "-x  =  1", "+y = 2")], path, lines) is taken


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


@pytest.mark.parametrize(
    "reviewed, merged, value",
    [(0, 0, "there"), (0, 1, "fixed"), (1, 1, "there"), (0, None, "there"), (None, 0, "there"), (None, 1, "unknown")],
)
def test_lines_that_were_taken_away(reviewed: int | None, merged: int | None, value: str) -> None:
    assert at_merge(removed=True, reviewed=reviewed, merged=merged).value == value


# --- after it ---------------------------------------------------------------------------------------------------------


def test_the_exact_opposite_takes_a_change_back_whatever_it_says() -> None:
    brought = (change("-x = 1", "+x = 2", " y"),)
    assert taken_back(brought, [later("-z", "+q"), later("-x = 2", "+x = 1")], (MERGE,), PULL) == "c" * 40


@pytest.mark.parametrize(
    "message", [named(MERGE), named(OWN[:12]), f"Revert it\n\nReverts {PULL}", "Reverts OCTO/app#7"]
)
def test_a_part_of_the_opposite_does_if_it_names_what_it_reverts(message: str) -> None:
    brought = (change("-x = 1", "+x = 2", "+y = 3"),)
    assert taken_back(brought, [later("-x = 2", "+x = 9", message=message)], (MERGE, OWN), PULL)


@pytest.mark.parametrize(
    "message",
    ["Change x", named("d" * 40), named(MERGE[:6]), f"This does not: Reverts {PULL}", f"Reverts {PULL}8", "Reverts #7"],
)
def test_a_part_of_the_opposite_alone_does_not(message: str) -> None:
    brought = (change("-x = 1", "+x = 2", "+y = 3"),)
    assert taken_back(brought, [later("-x = 2", "+x = 9", message=message)], (MERGE, OWN), PULL) is None


def test_words_alone_take_nothing_back() -> None:
    brought = (change("+x = 2"),)
    assert taken_back(brought, [later("+q", message=named(MERGE))], (MERGE,), PULL) is None
    assert taken_back(brought, [later("-x = 2", path="other.py", message=named(MERGE))], (MERGE,), PULL) is None


def test_a_change_without_lines_is_never_taken_back() -> None:
    assert taken_back((), [LaterCommit("c" * 40, named(MERGE), ())], (MERGE,), PULL) is None


def test_a_rename_is_taken_back_by_the_rename_the_other_way() -> None:
    brought = (change("-x = 1", "+x = 2", path="new.py", old_path="old.py"),)
    assert taken_back(brought, [later("-x = 2", "+x = 1", path="old.py", old_path="new.py")], (), PULL)


def test_a_rebased_change_is_known_by_its_lines() -> None:
    one = change("-x = 1", "+x = 2", " context")
    assert same_lines([one], [change(" other context", "-x = 1", "+x = 2", "+")])
    assert not same_lines([one], [change("-x = 1", "+x = 2", path="other.py")])
