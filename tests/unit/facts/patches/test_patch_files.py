"""Names, modes and kinds of change, as a patch's header lines state them."""

from __future__ import annotations

import pytest

from review_advisor.change.change import FileChange, Status
from review_advisor.change.patch import PatchError, files_of_patch

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
