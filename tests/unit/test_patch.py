"""The hunk walker against git's own counts, and against what only looks like a patch."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review_advisor.change.change import Hunk, Status
from review_advisor.change.patch import PatchError, count_lines, files_of_patch, split_git_diff, split_patch

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
