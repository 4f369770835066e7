"""Which lines a change touches."""

from __future__ import annotations

import pytest

from review_advisor.core.evaluation.golden.changed_lines import line_steps, lines_of, new_lines


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
