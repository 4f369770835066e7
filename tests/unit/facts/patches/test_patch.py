"""What a patch says: its hunks against git's own counts, its names, modes and kinds, and what only looks like one."""

from __future__ import annotations

import os
import subprocess
import tempfile
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.patch import (
    PatchError,
    count_lines,
    files_of_patch,
    git_diff_sections,
    split_git_diff,
    split_patch,
)

LOOKALIKES = [
    b"",
    b" ",
    b"-- a/x",
    b"++ b/x",
    b"--- a/x",
    b"+++ b/x",
    b"@@ -1,3 +1,4 @@",
    b"@@ -0,0 +1 @@ def f():",
    b"diff --git a/x b/x",
    b"rename to y",
    b"Binary files a/x and b/x differ",
    b"\\ No newline at end of file",
    b"\r",
    b"\x0c",
    "\u2028".encode(),
    b"\xff\xfe",
    b"same",
    b"other",
]
texts = st.tuples(st.lists(st.sampled_from(LOOKALIKES), max_size=40), st.booleans()).map(
    lambda drawn: b"\n".join(drawn[0]) + (b"\n" if drawn[0] and drawn[1] else b"")
)


def git_diff(folder: Path, *options: str) -> bytes:
    environment = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "diff", "--no-index", "--text", *options, "old", "new"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


@pytest.mark.every_case
@settings(max_examples=60)
@given(old=texts, new=texts, context=st.sampled_from(["-U0", "-U1", "-U3", "-U99"]))
def test_the_walk_agrees_with_git(old: bytes, new: bytes, context: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "old").write_bytes(old)
        (folder / "new").write_bytes(new)
        patch = git_diff(folder, context)
        counts = git_diff(folder, "--numstat")
    sections = split_git_diff(patch)
    assert split_patch(patch) == sections
    if old == new:
        assert sections == ()
        return
    (section,) = sections
    assert b"%d\t%d" % count_lines(section.hunks) == b"\t".join(counts.split(b"\t")[:2])
    assert applied(old, section.hunks) == new.decode("utf-8", "replace")


def applied(old: bytes, hunks: tuple[Hunk, ...]) -> str:
    """``old`` with the hunks applied: the proof that they hold every changed line, in its place."""
    lines = [line + "\n" for line in old.decode("utf-8", "replace").split("\n")]
    lines[-1] = lines[-1][:-1]
    lines = [line for line in lines if line]
    result: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        result += lines[at:start]
        at = start + hunk.old_count
        for index, line in enumerate(hunk.lines):
            if line[0] in " +":
                ends = index + 1 < len(hunk.lines) and hunk.lines[index + 1].startswith("\\")
                result.append(line[1:] + ("" if ends else "\n"))
    return "".join(result + lines[at:])


@settings(max_examples=60)
@given(st.binary(max_size=300) | st.lists(st.sampled_from(LOOKALIKES)).map(b"\n".join))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (split_patch, split_git_diff, files_of_patch):
        with suppress(PatchError):
            read(data)


def test_a_mail_is_passed_over_and_its_series_is_read() -> None:
    mail = (
        b"From 1 Mon\nSubject: x\n\n--- a/fake\n---\n x | 2 +-\n\n"
        b"diff --git a/x b/x\nindex 1..2 100755\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n"
        b"From 2 Mon\n---\ndiff --git a/y b/y\nold mode 100644\nnew mode 100755\n-- \n2.39.5\n"
    )
    x, y = files_of_patch(mail)
    assert (x.path, x.old_mode, x.added, x.removed) == ("x", "100755", 1, 1)
    assert (y.path, y.old_mode, y.new_mode, y.status) == ("y", "100644", "100755", Status.MODIFIED)


marks = st.lists(st.sampled_from([b" c", b"-o", b"+n", b"\\ No newline at end of file", b"", b"?"]), max_size=12)


@pytest.mark.every_case
@settings(max_examples=300)
@given(lines=marks, wrong=st.tuples(st.sampled_from([-1, 0, 0, 0, 1]), st.sampled_from([-1, 0, 0, 0, 1])))
def test_a_hunk_ends_where_line_by_line_its_counts_are_used_up(lines: list[bytes], wrong: tuple[int, int]) -> None:
    old = sum(line[:1] in b"- " for line in lines) + wrong[0]
    new = sum(line[:1] in b"+ " for line in lines) + wrong[1]
    header = [b"diff --git a/x b/x", b"--- a/x", b"+++ b/x", b"@@ -1,%d +1,%d @@" % (max(0, old), max(0, new))]
    expected = line_by_line(lines, max(0, old), max(0, new))
    patch = b"\n".join([*header, *lines, b""])
    if isinstance(expected, str):
        with pytest.raises(PatchError, match=expected):
            split_patch(patch)
    else:
        (section,) = split_patch(patch)
        shown = [line.decode() or " " for line in lines[:expected]]
        assert [line for hunk in section.hunks for line in hunk.lines] == shown


def line_by_line(lines: list[bytes], old: int, new: int) -> int | str:
    """How many lines belong to a hunk with these counts, or what is wrong with it: the slow way to tell."""
    at = 0
    while old or new:
        if at == len(lines):
            return "the hunk at line 4 is cut short"
        mark = lines[at][:1]
        if mark == b"?":
            return f"line {at + 5}: not a line of the hunk"
        old -= mark in {b"-", b" ", b""}
        new -= mark in {b"+", b" ", b""}
        if min(old, new) < 0:
            return f"line {at + 5}: more lines than the hunk"
        at += 1
    while at < len(lines) and lines[at].startswith(b"\\ "):
        at += 1
    return at


def test_windows_line_ends_in_the_whole_patch() -> None:
    patch = b"diff --git a/x b/x\r\nindex 1..2 100644\r\n--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n"
    (file,) = files_of_patch(patch)
    assert (file.path, file.hunks[0].lines) == ("x", ("-a\r", "+b\r"))


@pytest.mark.parametrize(
    "header, paths",
    [
        (b"--- a/x.py\n+++ b/x.py", ("x.py",)),
        (b"--- x.py\t2024\n+++ x.py\t2025", ("x.py",)),
        (b"--- a/x.py\n+++ a/x.py", ("a/x.py",)),
        (b"diff --git a/x b/x\n--- a/x\n+++ b/x", ("x",)),
        (b"diff --git a/x a/x\n--- a/x\n+++ a/x", ("a/x",)),
        (
            b'diff --git "a/\\303\\274\\t\\"" "b/\\303\\274\\t\\""\n--- "a/\\303\\274\\t\\""\n+++ "b/\\303\\274\\t\\""',
            ('ü\t"',),
        ),
        (b'diff --git "a/\\377" "b/\\377"\n--- "a/\\377"\n+++ "b/\\377"', ("\\xff",)),
    ],
)
def test_names(header: bytes, paths: tuple[str, ...]) -> None:
    (file,) = files_of_patch(header + b"\n@@ -1 +1 @@\n-a\n+b\n")
    assert file.paths == paths


# --- what is wrong with a damaged one, and what a large one takes of memory -------------------------------------------


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


# --- names, modes and kinds of change, as header lines state them -----------------------------------------------------


HUNK = "@@ -1 +1 @@\n-a\n+b\n"
GONE = "@@ -1 +0,0 @@\n-a\n"
NEW = "@@ -0,0 +1 @@\n+b\n"


def only(patch: str) -> FileChange:
    (file,) = files_of_patch(patch.encode())
    return file


REGULAR, SCRIPT, LINK, NOTHING = "100644", "100755", "120000", "000000"
TEXT = f"--- a/x\n+++ b/x\n{HUNK}"
REMOVED = f"--- a/x\n+++ /dev/null\n{GONE}"
CREATED = f"--- /dev/null\n+++ b/x\n{NEW}"
X = "diff --git a/x b/x\n"
DIFFERENT = "the header lines under 'diff --git a/x b/x' name different files"


@pytest.mark.parametrize(
    "patch, status, modes",
    [
        (f"{X}index 1..2 100755\n{TEXT}", Status.MODIFIED, (SCRIPT, SCRIPT)),
        (f"{X}old mode 100644\nnew mode 100755\n", Status.MODIFIED, (REGULAR, SCRIPT)),
        (f"{X}new file mode 100755\n{CREATED}", Status.ADDED, (NOTHING, SCRIPT)),
        (CREATED, Status.ADDED, (NOTHING, REGULAR)),
        (f"{X}new file mode 120000\n", Status.ADDED, (NOTHING, LINK)),
        (f"{X}deleted file mode 100755\n{REMOVED}", Status.DELETED, (SCRIPT, NOTHING)),
        (f"{X}deleted file mode 100644\n", Status.DELETED, (REGULAR, NOTHING)),
        (REMOVED, Status.DELETED, (REGULAR, NOTHING)),
    ],
)
def test_a_header_states_what_happened_and_both_modes(patch: str, status: Status, modes: tuple[str, str]) -> None:
    file = only(patch)
    assert (file.status, file.path, file.old_path, (file.old_mode, file.new_mode)) == (status, "x", None, modes)


@pytest.mark.parametrize(
    "header, status, paths",
    [
        ("a/x b/y\nrename from x\nrename to y", Status.RENAMED, ("y", "x")),
        ("a/x b/y\ncopy from x\ncopy to y", Status.COPIED, ("y", "x")),
        ('"a/x\\ty" b/z\nrename from "x\\ty"\nrename to z', Status.RENAMED, ("z", "x\ty")),
        ('"a/\\a\\b\\v\\f\\r\\n" "b/\\a\\b\\v\\f\\r\\n"\nindex 1..2', Status.MODIFIED, ("\a\b\v\f\r\n",)),
        ("c/x i/x\nindex 1..2 100644", Status.MODIFIED, ("x",)),
        ("x x\nindex 1..2 100644", Status.MODIFIED, ("x",)),
        ("a/a b b/a b\nindex 1..2 100644", Status.MODIFIED, ("a b",)),
    ],
)
def test_a_header_states_both_names(header: str, status: Status, paths: tuple[str, ...]) -> None:
    file = only(f"diff --git {header}\n")
    assert (file.status, file.paths) == (status, paths)


@pytest.mark.parametrize(
    "patch, said",
    [
        (f"--- /dev/null\n+++ /dev/null\n{HUNK}", "a file section names no file: '--- /dev/null'"),
        ("diff --git a/x b/y\n", "the names in 'diff --git a/x b/y' cannot be told apart"),
        ("diff --git a/xb/x\n", "the names in 'diff --git a/xb/x' cannot be told apart"),
        ('diff --git "a/x"Zb/x\n', "the names in 'diff --git \"a/x\"Zb/x' cannot be told apart"),
        ('diff --git "a/x"b/x\n', "the names in 'diff --git \"a/x\"b/x' cannot be told apart"),
        ("diff --git a/x b/x\nold mode 100644\nold mode 100755\n", "two 'old mode' lines under 'diff --git a/x b/x'"),
        (f"{X}--- a/x\n+++ b/y\n{HUNK}", DIFFERENT),
        (f"{X}--- a/y\n+++ b/x\n{HUNK}", DIFFERENT),
    ],
)
def test_a_header_that_names_no_file_or_several_is_refused(patch: str, said: str) -> None:
    with pytest.raises(PatchError) as refused:
        files_of_patch(patch.encode())
    assert str(refused.value) == said


def test_a_quote_within_an_unquoted_name_begins_no_quoted_one() -> None:
    assert only('diff --git a/x "y" z b/x "y" z\nindex 1..2 100644\n').paths == ('x "y" z',)
    with pytest.raises(PatchError):
        files_of_patch(b'diff --git z"a/x" "b/x"\nindex 1..2 100644\n')


@pytest.mark.parametrize("pair", ['"a/\\303\\274" "b/\\303\\274"', '"a/\\303\\274" b/ü', 'a/ü "b/\\303\\274"'])
def test_either_name_may_be_quoted(pair: str) -> None:
    assert only(f"diff --git {pair}\nindex 1..2 100644\n").paths == ("ü",)


BINARY = "Binary files a/x and b/x differ\n"


@pytest.mark.parametrize("gone, new", [(BINARY, BINARY), (BINARY, ""), ("", BINARY), ("", "")])
def test_a_file_that_becomes_a_link_is_one_change_of_type(gone: str, new: str) -> None:
    removed = f"{X}deleted file mode 100644\n{gone or REMOVED}"
    added = f"{X}new file mode 120000\n{new or CREATED}"
    file = only(removed + added)
    assert (file.status, file.path, file.old_mode, file.new_mode) == (Status.TYPE_CHANGED, "x", "100644", "120000")
    assert (file.binary, file.removed, file.added) == (bool(gone or new), int(not gone), int(not new))
    assert [line for hunk in file.hunks for line in hunk.lines] == ["-a"] * (not gone) + ["+b"] * (not new)


@pytest.mark.parametrize("mode, name", [("100755", "x"), ("120000", "y")])
def test_another_file_or_only_another_mode_is_no_change_of_type(mode: str, name: str) -> None:
    removed = f"diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n{GONE}"
    added = f"diff --git a/{name} b/{name}\nnew file mode {mode}\n--- /dev/null\n+++ b/{name}\n{NEW}"
    assert [file.status for file in files_of_patch((removed + added).encode())] == [Status.DELETED, Status.ADDED]


def test_a_binary_file_has_no_lines() -> None:
    file = only(f"diff --git a/x b/x\nindex 1..2 100644\n{BINARY}")
    assert (file.binary, file.added, file.removed, file.hunks) == (True, 0, 0, ())
