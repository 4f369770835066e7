"""By which parts a secret of a change is known again."""

from __future__ import annotations

import pytest

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.redaction import secrets_of, shown_file, without_line_ends


def known_by(*lines: str) -> list[tuple[str, str]]:
    hunk = Hunk(1, len(lines), 1, len(lines), "", lines)
    return list(secrets_of([FileChange(Status.MODIFIED, "a.py", hunks=(hunk,))]))


RANDOM = "x7Kq2Zv9Bm4Tj6Rw1Ly8"


def test_a_secret_is_known_again_by_its_random_parts_on_either_side_of_the_change() -> None:
    for sign in "+- ":
        assert known_by("+x = 1", f"{sign}password = '{RANDOM}'") == [(RANDOM, "password")]


def test_a_part_that_is_words_is_in_other_texts_too_so_nothing_is_known_by_it() -> None:
    assert known_by(f"+password = '{RANDOM}.correcthorsebattery'") == [(RANDOM, "password")]


def test_a_part_of_fewer_than_sixteen_characters_is_too_short_to_be_known_by() -> None:
    assert known_by(f"+password = '{RANDOM[:15]}'") == []
    assert known_by(f"+password = '{RANDOM[:16]}'") == [(RANDOM[:16], "password")]


def test_a_change_without_a_secret_has_nothing_to_be_known_by() -> None:
    assert known_by("+x = 1", f"+y = '{RANDOM}'") == []


def of_lines(*lines: str) -> FileChange:
    return FileChange(Status.MODIFIED, "a.py", added=1, hunks=(Hunk(1, 1, 1, 2, "", lines),))


def test_a_file_of_windows_line_ends_is_shown_and_quoted_without_them() -> None:
    shown = shown_file(of_lines(" x = 1\r", "-y = 2\r", "+import os\r", "+z = 3", "\\ No newline at end of file"))
    assert shown.hunks[0].lines == (" x = 1", "-y = 2", "+import os", "+z = 3", "\\ No newline at end of file")
    assert without_line_ends(shown) == shown


@pytest.mark.parametrize(
    "lines", [("-x = 1\r", "+x = 1"), ("-x = 1", "+x = 1\r"), (" a\r", "+b"), ("+b\rc",), ("+b\r\r c",)]
)
def test_line_ends_that_differ_are_what_the_change_is_about_and_stay(lines: tuple[str, ...]) -> None:
    assert shown_file(of_lines(*lines)).hunks[0].lines == lines
