"""Which lines a change touches, and where labels may stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.lab.golden_cases import GoldenFile, GoldenLabel, line_steps, lines_of, misplaced_label, new_lines

FILES = (GoldenFile("a.py", "one\ntwo\n", "one\nthree\n"), GoldenFile("gone.py", "one\n", None))
LABEL = GoldenLabel("It is three.", "a.py", 2, 2)


@pytest.mark.parametrize(
    "before, after, new",
    [
        ("a\nb\nc\n", "a\nB\nc\n", {2}),
        ("a\nb\n", "a\nx\nb\ny\n", {2, 4}),
        ("a\nb\n", "a\n", set()),
        (None, "a\nb\n", {1, 2}),
        ("a\n", None, set()),
        ("a", "a\n", set()),
    ],
)
def test_new_lines_are_those_of_the_new_side_alone(before: str | None, after: str | None, new: set[int]) -> None:
    assert new_lines(before, after) == new


def test_a_removed_line_leaves_a_place() -> None:
    assert line_steps("a\nb\nc\n", "a\nc\n") == (((1, 2), (1, 1)),)


def test_the_end_of_the_last_line_begins_no_further_one() -> None:
    assert lines_of("a\n\n") == ["a", ""]
    assert lines_of("") == lines_of(None) == []


@pytest.mark.parametrize(
    "label",
    [
        LABEL,
        replace(LABEL, first_line=1),
        replace(LABEL, first_line=1, last_line=1, unchanged=True),
        replace(LABEL, first_line=0, last_line=0),
        GoldenLabel("Only words."),
    ],
)
def test_a_label_stands_on_a_changed_line_or_says_that_it_does_not(label: GoldenLabel) -> None:
    assert misplaced_label([LABEL, label], FILES) is None


@pytest.mark.parametrize(
    "label, says",
    [
        (replace(LABEL, file="b.py"), "label 2 is about b.py, which is not there after the change"),
        (replace(LABEL, file="gone.py"), "label 2 is about gone.py, which is not there after the change"),
        (replace(LABEL, last_line=3), "label 2 is about line 3 of a.py, which has fewer lines"),
        (replace(LABEL, unchanged=True), "label 2 is about lines of a.py that change, and says unchanged"),
        (replace(LABEL, first_line=1, last_line=1), "label 2 is about lines of a.py that do not change: correct them"),
    ],
)
def test_any_other_is_named(label: GoldenLabel, says: str) -> None:
    assert (misplaced_label([LABEL, label], FILES) or "").startswith(says)
