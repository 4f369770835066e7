"""A patch file, compared with the same change read from its repository."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.adapters.git_repository import Repo

from review_advisor.change.change import FileChange, SourceError, Spec
from review_advisor.change.patch import entries_of_patch, merged_types
from review_advisor.change.patch_source import open_patch
from review_advisor.change.sources import About, open_range

NAMES = [
    "plain.py",
    "two words",
    "b/a b/x.txt",
    "tab\there",
    'quo"te',
    "new\nline",
    "grüße",
    "back\\slash",
    "-x",
    "a => b",
]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    lines = "".join(f"line {n}\n" for n in range(30))
    for name in NAMES:
        repo.write(name, lines)
        repo.write("move/" + name, lines + name)
        repo.write("drop/" + name, "x\n\ny")
        repo.write("mode/" + name, "#!\n")
    repo.write("a.png", b"\0one")
    repo.write("to-link", "a\nb\n")
    repo.commit("start")
    for name in NAMES:
        repo.write(name, lines.replace("line 7\n", "line\r\n\nseven\n"))
        (repo.path / "move" / name).unlink()
        repo.write("moved/" + name, lines + name + "!")
        (repo.path / "drop" / name).unlink()
        repo.write("new/" + name, "-- a/x\n++ b/y\n@@ -1 +1 @@\ndiff --git a/x b/x\n")
        repo.write("empty/" + name, "")
        (repo.path / "mode" / name).chmod(0o755)
    repo.write("a.png", b"\0two")
    (repo.path / "to-link").unlink()
    (repo.path / "to-link").symlink_to("a.png")
    repo.commit("Change everything\n\ndiff -u looks like a diff\n@@ not a hunk @@\n")
    return repo


def plain_modes(file: FileChange) -> FileChange:
    """Without the modes of pure renames, which a patch does not state."""
    return replace(file, old_mode="", new_mode="") if not file.hunks else file


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "command",
    [
        ["diff", "HEAD~1", "HEAD"],
        ["diff", "HEAD~1", "HEAD", "--no-prefix"],
        ["diff", "HEAD~1", "HEAD", "--binary", "--full-index"],
        ["-c", "diff.mnemonicPrefix=true", "diff", "HEAD~1"],
        ["-c", "core.quotepath=false", "diff", "HEAD~1", "HEAD"],
        ["-c", "diff.suppressBlankEmpty=true", "diff", "HEAD~1", "HEAD"],
        ["format-patch", "--stdout", "-1"],
        ["show", "HEAD"],
    ],
)
def test_a_patch_tells_the_same_as_the_repository(repo: Repo, tmp_path: Path, command: list[str]) -> None:
    patch = tmp_path / "my-change.patch"
    patch.write_bytes(repo.git(*command, "-M") if "-c" not in command[:1] else repo.git(*command))
    change = open_patch(patch).change()
    expected = open_range(repo.path, "HEAD~1..HEAD").change()
    assert [plain_modes(f) for f in change.files] == [plain_modes(f) for f in expected.files]
    assert (change.title, change.body, change.author) == ("my-change", "", "")
    assert (change.base_sha, change.head_sha) == (None, None)
    assert change.label == "patch-" + hashlib.sha256(patch.read_bytes()).hexdigest()[:12]


WORDS = [
    "",
    "one",
    "two",
    "--- a/x",
    "-- ",
    "@@ -1 +1 @@",
    "diff --git a/x b/x",
    "From 1 Mon",
    "\r",
    "1d",
    "*** 1 ****",
]
trees = st.dictionaries(
    st.sampled_from(["a.py", "b c.py", "src/d.py", "src/ü.py", "e.png"]),
    st.tuples(
        st.lists(st.sampled_from(WORDS), max_size=8).map("\n".join),
        st.sampled_from([0o644, 0o755]),
        st.sampled_from(["", "\n", "\0"]),
    ),
)


def put(repo: Repo, tree: dict[str, tuple[str, int, str]], message: str) -> None:
    for path in repo.git("ls-files", "-z").decode().split("\0")[:-1]:
        (repo.path / path).unlink()
    for path, (text, mode, end) in tree.items():
        repo.write(path, text + end)
        (repo.path / path).chmod(mode)
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--allow-empty", "--message", message)


@pytest.mark.every_case
@settings(max_examples=15)
@given(base=trees, heads=st.lists(trees, min_size=1, max_size=2), crlf=st.booleans())
def test_whatever_git_writes_is_accepted_and_means_the_same_to_git(
    base: dict[str, tuple[str, int, str]], heads: list[dict[str, tuple[str, int, str]]], crlf: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        repo = Repo(Path(name) / "repo")
        put(repo, base, "start")
        for number, head in enumerate(heads):
            put(repo, head, f"Change {number}\n\ndiff -u and --- a/x\n@@ words @@\n")
        ago = f"HEAD~{len(heads)}"
        for command in (
            ["diff", "--find-renames", "--find-copies-harder", ago, "HEAD"],
            ["diff", "--binary", "--unified=0", ago, "HEAD"],
            ["format-patch", "--stdout", "--cover-letter", ago],
        ):
            patch = Path(name) / "p.patch"
            text = repo.git(*command)
            patch.write_bytes(text.replace(b"\n", b"\r\n") if crlf else text)
            if b"diff --git" not in text:
                continue
            (Path(name) / "git.patch").write_bytes(text)
            listed = repo.git("apply", "--numstat", "-z", str(Path(name) / "git.patch")).split(b"\0")[:-1]
            entries = entries_of_patch(patch.read_bytes())
            assert [
                (b"-\t-\t" if each.binary else b"%d\t%d\t" % (each.added, each.removed)) + each.path.encode()
                for each in entries
            ] == listed
            assert open_patch(patch).change().files == merged_types(entries)


def test_words_and_spec_of_the_caller_and_no_tree(tmp_path: Path) -> None:
    patch = tmp_path / "p.diff"
    patch.write_text("--- a/x\t2024-01-01\n+++ b/x\t2024-01-02\n@@ -1 +1,2 @@\n one\n+two\n")
    source = open_patch(patch, About(title="T", body="B", spec=Spec("o", "t")))
    change = source.change()
    assert (change.title, change.body, change.spec) == ("T", "B", Spec("o", "t"))
    assert [(f.path, f.added, f.removed) for f in change.files] == [("x", 1, 0)]
    assert (source.base_sha, source.base_file("x")) == (None, None)
    with source.head_tree() as tree:
        assert tree is None


@pytest.mark.parametrize(
    "text",
    [
        "nothing to see\n",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n one\nrest\n@@ -9 +9 @@\n-a\n+b\n",
        "diff --git a/x b/x\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-one\n+two\n",
        "diff --git a/x b/x\nrename from x\nrename to y\nrename to z\n",
        "diff --cc x\nindex 1,2..3\n@@@ -1 -1 +1 @@@\n",
        "diff --git a/x b/y\n",
        "@@ -1 +1 @@\n-a\n+b\n",
    ],
)
def test_damaged_patches_are_one_sentence(tmp_path: Path, text: str) -> None:
    patch = tmp_path / "p.diff"
    patch.write_text(text)
    with pytest.raises(SourceError, match=r"^The patch .*\.$"):
        open_patch(patch).change()


def test_an_empty_patch_and_a_missing_one_are_errors(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("")
    with pytest.raises(SourceError, match="holds no change"):
        open_patch(tmp_path / "p").change()
    with pytest.raises(SourceError, match="cannot be read"):
        open_patch(tmp_path / "missing")
