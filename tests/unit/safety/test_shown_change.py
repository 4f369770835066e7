"""By which parts a secret of a change is known again."""

from __future__ import annotations

from review_advisor.core.facts.change import FileChange, Hunk, Status
from review_advisor.core.safety.shown_change import secrets_of


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
