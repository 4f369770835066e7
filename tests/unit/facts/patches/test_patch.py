"""What is wrong with a damaged patch, told with the number of the line; what a large one takes of memory."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.change import Hunk
from review_advisor.change.patch import PatchError, git_diff_sections, split_git_diff, split_patch

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
        *(
            (f"{HEADER}{head}\n", "line 4: a hunk's header that cannot be read")
            for head in ("@@ -x +1 @@", "@@ -1 +1", "@@ -1 +1,9999999999999999999 @@", f"@@ -1,{'9' * 5000} +1 @@")
        ),
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


def added(number: int) -> bytes:
    """The section of a new file."""
    header = b"diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n@@ -0,0 +1,200 @@\n" % ((number,) * 4)
    return header + b"".join(b"+value_%d = %d * 3\n" % (line, number) for line in range(200))


def test_a_large_patch_is_held_in_little_more_memory_than_its_own_text() -> None:
    """By objects for its lines it would take four times as much, and while it is read seven times."""
    patch = b"".join(map(added, range(100)))
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


def test_of_a_patch_in_blocks_no_more_is_held_than_the_next_section() -> None:
    tracemalloc.start()
    try:
        lines = sum(len(section.hunks[0].lines) for section in git_diff_sections(map(added, range(100))))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lines == 20_000
    assert peak < 0.5 * sum(len(added(number)) for number in range(100))


@given(cuts=st.lists(st.integers(1, 120), min_size=1), ends=st.booleans())
def test_the_blocks_of_a_patch_may_be_cut_anywhere(cuts: list[int], ends: bool) -> None:
    patch = f"{HEADER}@@ -1,2 +1 @@\n a\n-{'b' * 90}\n{HEADER}@@ -1 +1,2 @@\n-a\n+b\n+c{chr(10) * ends}".encode()
    blocks, at = [], 0
    for cut in [*cuts, len(patch)]:
        blocks.append(patch[at : at + cut])
        at += cut
    found = tuple(git_diff_sections(blocks))
    assert found == split_git_diff(patch)
    assert [hunk.lines for section in found for hunk in section.hunks] == [(" a", "-" + "b" * 90), ("-a", "+b", "+c")]


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n"))))
def test_a_hunk_has_the_lines_that_it_is_made_of(lines: list[str]) -> None:
    made = Hunk(1, 2, 3, 4, "def f():", lines)
    assert made.lines == tuple(lines)
    assert made.with_lines(["+x", *lines]) == Hunk(1, 2, 3, 4, "def f():", ["+x", *lines])
