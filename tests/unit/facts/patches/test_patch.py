"""What is wrong with a damaged patch, told with the number of the line; what a large one takes of memory."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.core.facts.change import Hunk
from review_advisor.core.facts.patches.patch import PatchError, split_git_diff, split_patch

HEADER = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"


@pytest.mark.parametrize(
    "hunk, said",
    [
        ("@@ -1 +1 @@\n-a\n-b\n+c\n", "line 6: more lines than the hunk at line 4 announces"),
        ("@@ -1 +1 @@\n-a\n+b\n+c\n+d\n", None),
        ("@@ -1,2 +1 @@\n+a\n+b\n-c\n", "line 6: more lines than the hunk at line 4 announces"),
        ("@@ -1 +1,2 @@\n-a\n b\n+c\n", "line 6: more lines than the hunk at line 4 announces"),
        ("@@ -1,2 +1 @@\n+a\n b\n-c\n", "line 6: more lines than the hunk at line 4 announces"),
        ("@@ -1,2 +1,2 @@\n a\n#b\n", "line 6: not a line of the hunk that line 4 begins"),
        ("@@ -1,2 +1,2 @@\n a\n", "the hunk at line 4 is cut short: the patch ends inside it"),
        ("@@ -1,3 +1,1 @@\n a\n-b\n", "the hunk at line 4 is cut short: the patch ends inside it"),
        ("@@ -1,1 +1,3 @@\n a\n+b\n", "the hunk at line 4 is cut short: the patch ends inside it"),
    ],
)
def test_the_line_at_which_a_hunk_goes_wrong_is_named(hunk: str, said: str | None) -> None:
    if said is None:
        (section,) = split_patch((HEADER + hunk).encode())
        assert section.hunks[0].lines == ("-a", "+b")
        return
    with pytest.raises(PatchError) as refused:
        split_patch((HEADER + hunk).encode())
    assert str(refused.value) == said


@pytest.mark.parametrize(
    "patch, said",
    [
        ("diff --cc x\n", "line 1: a merge's combined diff cannot be reviewed, make it against one parent"),
        (
            "words\ndiff --combined x\n",
            "line 2: a merge's combined diff cannot be reviewed, make it against one parent",
        ),
        ("words\n@@ -1 +1 @@\n-a\n+b\n", "line 2: a hunk without a file header"),
        (HEADER + "@@ -x +1 @@\n", "line 4: a hunk's header that cannot be read"),
    ],
)
def test_what_is_no_part_of_any_file_is_named(patch: str, said: str) -> None:
    with pytest.raises(PatchError) as refused:
        split_patch(patch.encode())
    assert str(refused.value) == said


def test_gits_own_diff_holds_nothing_but_files() -> None:
    with pytest.raises(PatchError) as refused:
        split_git_diff(f"{HEADER}@@ -1 +1 @@\n-a\n+b\nwords\n".encode())
    assert str(refused.value) == "line 7 of git's diff belongs to no file"


def test_a_hunk_keeps_its_counts_its_section_and_the_marks_of_a_missing_line_end() -> None:
    hunk = "@@ -3 +4,2 @@ def f():\r\n-a\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"
    (section,) = split_git_diff(f"{HEADER}{hunk}".encode())
    (found,) = section.hunks
    assert (found.old_start, found.old_count, found.new_start, found.new_count) == (3, 1, 4, 2)
    assert found.section == "def f():"
    assert [line[0] for line in found.lines] == ["-", "\\", "+", "+", "\\"]
    assert not section.binary


@pytest.mark.parametrize("line", ["Binary files a/x and b/x differ", "GIT binary patch"])
def test_a_patch_says_that_a_file_is_binary(line: str) -> None:
    (section,) = split_git_diff(f"diff --git a/x b/x\nindex 1..2\n{line}\n".encode())
    assert section.binary


def test_a_large_patch_is_held_in_little_more_memory_than_its_own_text() -> None:
    """By objects for its lines it would take four times as much, and while it is read seven times."""
    sections = (
        b"diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n@@ -0,0 +1,200 @@\n" % ((number,) * 4)
        + b"".join(b"+value_%d = %d * 3\n" % (line, number) for line in range(200))
        for number in range(100)
    )
    patch = b"".join(sections)
    split_git_diff(patch)
    tracemalloc.start()
    try:
        found = split_git_diff(patch)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(len(hunk.lines) for section in found for hunk in section.hunks) == 20_000
    assert held < 1.5 * len(patch)
    assert peak < 2.5 * len(patch)


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n"))))
def test_a_hunk_has_the_lines_that_it_is_made_of(lines: list[str]) -> None:
    made = Hunk(1, 2, 3, 4, "def f():", lines)
    assert made.lines == tuple(lines)
    assert made.with_lines(["+x", *lines]) == Hunk(1, 2, 3, 4, "def f():", ["+x", *lines])
