"""What became of lines: found again or not, taken back or not, and never guessed."""

from __future__ import annotations

import pytest

from review_advisor.core.observation.line_match import (
    MOST_LINES,
    Places,
    Said,
    Wanted,
    came_back,
    fate_of_brought,
    fate_of_removed,
    places,
    wanted,
)
from review_advisor.core.safety.secret_shapes import REDACTED, mark

TEXT = "def f():\n    return None\n\ndef g():\n    return None\n"
OWN = "b" * 40


# --- the lines that are looked for ------------------------------------------------------------------------------------


def test_lines_that_a_change_brings_are_known_by_their_place_and_by_what_stands_beside_it() -> None:
    found = wanted(Said("app.py", OWN, 1, 2, quote="return"), TEXT)
    assert found == Wanted(("def f():", "return None"), after="def g():")
    assert wanted(Said("app.py", OWN, 5, 5), TEXT) == Wanted(("return None",), before="def g():")


def test_what_was_taken_away_is_known_by_its_quote_alone() -> None:
    said = Said("app.py", OWN, 1, 1, removed=True, quote=" x  =\t1 \n\n y")
    assert wanted(said, TEXT) == wanted(said, None) == Wanted(("x = 1", "y"), quoted=True)


@pytest.mark.parametrize(
    "said, reviewed, why",
    [
        (
            Said("a", OWN, 1, 1, removed=True, quote=f"key = {REDACTED}"),
            TEXT,
            "its quote holds a secret, which is not kept",
        ),
        (Said("a", OWN, 90, 91), TEXT, "its lines are not in the file that was reviewed"),
        (Said("a", OWN, 3, 3), TEXT, "its lines are not in the file that was reviewed"),
        (Said("a", OWN, 1, 1, quote="def f():"), None, "the file that was reviewed cannot be read any more"),
        (Said("a", OWN, 1, 1, removed=True), TEXT, "its lines are not known"),
        (Said("a", OWN, 1, 10**9), "x\n" * 300, f"it is about more than {MOST_LINES} lines"),
        (Said("a", OWN, 1, 1, removed=True, quote="x\n" * 300), TEXT, f"it is about more than {MOST_LINES} lines"),
        (Said("a", OWN, 0, 0), TEXT, "its lines are not in the file that was reviewed"),
    ],
)
def test_lines_that_cannot_be_known_have_a_reason(said: Said, reviewed: str | None, why: str) -> None:
    assert wanted(said, reviewed) == why


@pytest.mark.parametrize(
    "lines, quoted, found",
    [
        (("return None",), False, Places(2, 2)),
        (("return",), False, Places(0, 0)),
        (("return",), True, Places(0, 2)),
        (("return None", "def g():"), False, Places(1, 1)),
        (("return None", "def g():"), True, Places(1, 1)),
        (("None", "def g"), True, Places(0, 1)),
        (("None", "def g():", "return"), True, Places(0, 1)),
        (("None", "def g", "return"), True, Places(0, 0)),
    ],
)
def test_lines_are_found_whatever_blanks_are_around_them(lines: tuple[str, ...], quoted: bool, found: Places) -> None:
    assert places(Wanted(lines, quoted), TEXT) == found


def test_a_mere_brace_stands_beside_everything() -> None:
    text = "function f() {\n  return null;\n}\n"
    assert wanted(Said("a.js", OWN, 2, 2), text) == Wanted(("return null;",), before="function f() {")
    assert wanted(Said("a.js", OWN, 1, 1), text) == Wanted(("function f() {",), after="return null;")


def test_places_may_lie_one_after_the_other_and_secrets_are_looked_for_as_they_were_shown() -> None:
    assert places(Wanted(("x",)), "x\nx\n\nx").whole == 3
    assert places(Wanted(("x", "x")), "x\nx\n\nx").whole == 2
    token = "ghp_" + "Zk4mQ9vXw2Ls7Rt1Yb8Nc5Jd3Hf6Pg0TaUeI"
    assert places(Wanted((f"token = '{token}'",)), f"token  = '{token}'\n").whole == 1
    assert places(Wanted((f"token = '{mark('GitHub token')}'",), quoted=True), f"token = '{token}'\n") == Places(1, 1)


# --- at the merge -----------------------------------------------------------------------------------------------------

LINE = Wanted(("x = 1",), before="a", after="b")


@pytest.mark.parametrize(
    "reviewed, merged, value",
    [
        ("a\nx = 1\nb", "a\nb", "undone"),
        ("a\nx = 1\nb", "a\nx = 10\nb", "undone"),
        ("a\nx = 1\nb", None, "undone"),
        ("a\nx = 1\nb", "a\nx = 1\nb", "there"),
        ("a\nx = 1\nb", "new\n\ta\n\n  x  = 1\nc", "there"),
        ("a\nx = 1\nb", "c\nx = 1\nb\nx = 1", "there"),
        ("a\nx = 1\nb", "a\nx = 2\nb\nlog\nx = 1", "unknown"),
        ("a\nx = 1\nb\nx = 1", "a\nx = 1\nb", "unknown"),
        ("a\nx = 1\nb\nx = 1", "a\nx = 1\nb\nx = 1", "there"),
    ],
)
def test_lines_that_were_brought(reviewed: str, merged: str | None, value: str) -> None:
    assert fate_of_brought(LINE, reviewed, merged).value == value


def test_lines_that_are_all_of_a_file_stand_beside_nothing() -> None:
    assert fate_of_brought(Wanted(("x = 1",)), "x = 1", "head\nx = 1\n").value == "there"


@pytest.mark.parametrize(
    "reviewed, merged, value",
    [
        ("", "", "there"),
        ("", "check(x)", "undone"),
        ("check(x)", "check(x)", "there"),
        ("recheck(x)", "check(x)", "undone"),
        ("", "recheck(x)", "unknown"),
        ("check(x)", None, "there"),
        (None, None, "there"),
        (None, "", "there"),
        (None, "check(x)", "unknown"),
    ],
)
def test_lines_that_were_taken_away(reviewed: str | None, merged: str | None, value: str) -> None:
    assert fate_of_removed(Wanted(("check(x)",), quoted=True), reviewed, merged).value == value


def test_lines_come_back_as_whole_lines() -> None:
    assert came_back(Places(), Places(1, 1)) is True
    assert came_back(Places(0, 1), Places(1, 1)) is True
    assert came_back(Places(1, 1), Places(1, 2)) is None
    assert came_back(Places(1, 2), Places(1, 1)) is False
