"""On which lines of the diff a comment can stand, read from the patches as GitHub shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.github.client import commentable
from review_advisor.mockworld.github_records import patch_of, shown_lines

TEXT = st.lists(
    st.sampled_from(["a", "b", "c", "-- x", "++ y", "@@ -1 +1 @@", "", "\r", "\u2028", "\x0c"]), max_size=30
)


def test_unchanged_lines_take_comments_on_both_sides_changed_ones_on_their_own() -> None:
    lines = commentable("@@ -10,3 +12,4 @@ def f():\n one\n-two\n+TWO\n+more\n three\n\\ No newline at end of file")
    assert lines is not None
    assert lines.left == {10, 11, 12}
    assert lines.right == {12, 13, 14, 15}


def test_a_new_file_has_no_left_side_and_a_deleted_one_no_right_side() -> None:
    new, deleted = commentable("@@ -0,0 +1,2 @@\n+a\n+b"), commentable("@@ -1,2 +0,0 @@\n-a\n-b")
    assert new is not None
    assert deleted is not None
    assert (set(new.left), set(new.right)) == (set(), {1, 2})
    assert (set(deleted.left), set(deleted.right)) == ({1, 2}, set())


@pytest.mark.parametrize(
    "patch", ["@@ -1,3 +1,3 @@\n one", "@@ -1 +1 @@\n-a\n+b\n@@ -nonsense", "@@ -1,2 +1,2 @@\n a\nb\n c"]
)
def test_a_patch_that_does_not_hold_together_has_no_lines(patch: str) -> None:
    assert commentable(patch) is None


@given(before=TEXT, after=TEXT, ending=st.sampled_from(["", "\n"]))
def test_the_lines_are_those_on_which_the_simulated_github_takes_comments(
    before: list[str], after: list[str], ending: str
) -> None:
    patch = patch_of(("\n".join(before) + ending).encode(), "\n".join(after).encode())
    if patch is None:
        return
    lines, shown = commentable(patch), shown_lines(patch)
    assert lines is not None
    assert (set(lines.left), set(lines.right)) == (set(shown.left), set(shown.right))
