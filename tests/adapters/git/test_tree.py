"""The exported head tree."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.change.change import SourceError
from review_advisor.change.sources import GitSource, open_range


def opened(repo: Repo) -> GitSource:
    return open_range(repo.path, "HEAD..HEAD")


def test_the_bytes_are_the_blobs_own_d5(repo: Repo) -> None:
    repo.write("crlf.txt", b"a\r\nb\r\n")
    repo.write("subst.txt", "$Format:%H$\n$Id$\n")
    repo.write("hidden.txt", "not left out\n")
    repo.write("big.bin", bytes(range(256)) * 20_000)
    repo.write("empty", "")
    repo.commit()
    rules = "*.txt text eol=lf\nsubst.txt export-subst ident\nhidden.txt export-ignore\n*.bin filter=lfs\n"
    repo.write(".gitattributes", rules)
    repo.git("add", ".gitattributes")
    repo.git("commit", "--quiet", "--message", "rules")
    (repo.path / "hidden.txt").write_text("changed in the work tree only\n")
    (repo.path / ".env").write_text("SECRET=1\n")
    with opened(repo).head_tree() as tree:
        assert (tree / "crlf.txt").read_bytes() == b"a\r\nb\r\n"
        assert (tree / "subst.txt").read_text() == "$Format:%H$\n$Id$\n"
        assert (tree / "hidden.txt").read_text() == "not left out\n"
        assert (tree / "big.bin").read_bytes() == bytes(range(256)) * 20_000
        assert not (tree / ".env").exists()
        assert not (tree / ".git").exists()
        assert {p.name for p in tree.iterdir()} == {
            "crlf.txt",
            "subst.txt",
            "hidden.txt",
            "big.bin",
            "empty",
            ".gitattributes",
        }


def test_links_become_text_submodules_empty_folders_and_nothing_is_executable(repo: Repo) -> None:
    (repo.path / "link").symlink_to("/etc/passwd")
    (repo.path / "folder-link").symlink_to("..")
    repo.write("run.sh", "#!/bin/sh\n")
    (repo.path / "run.sh").chmod(0o755)
    repo.git("add", ".")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},libs/sub")
    repo.git("commit", "--quiet", "--message", "all")
    with opened(repo).head_tree() as tree:
        assert stat.S_IMODE(tree.stat().st_mode) == 0o700
        assert not (tree / "link").is_symlink()
        assert (tree / "link").read_text() == "/etc/passwd"
        assert (tree / "folder-link").read_text() == ".."
        assert stat.S_IMODE((tree / "run.sh").stat().st_mode) == 0o600
        assert list((tree / "libs/sub").iterdir()) == []


def test_it_is_removed_also_when_read_only_and_after_an_error(repo: Repo, scratch: Path) -> None:
    repo.write("sub/deep/a")
    repo.commit()
    source = opened(repo)
    with source.head_tree() as tree:
        (tree / "sub/deep").chmod(0o500)
        (tree / "sub").chmod(0)
    assert not tree.exists()

    def fail() -> None:
        with source.head_tree() as second:
            assert second != tree
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    source.close()
    assert list(scratch.iterdir()) == []


def tree_with(repo: Repo, name: str, mode: str = "100644") -> str:
    """A commit of a hand-made tree that git itself would not write."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"x")
    if mode == "40000":
        blob = repo.git("mktree", stdin=b"100644 blob " + blob.strip() + b"\tinner\n")
    raw = f"{mode} {name}\0".encode() + bytes.fromhex(blob.decode().strip())
    tree = repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw).decode().strip()
    return repo.git("commit-tree", tree, "-m", "hostile").decode().strip()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("mode", ["100644", "40000"])
@pytest.mark.parametrize(
    "name", ["..", ".", ".git", ".GIT", "git~1", ".g\u200cit", ".git ", "../out", "/abs", "a/../../b"]
)
def test_names_that_would_escape_are_refused(repo: Repo, scratch: Path, name: str, mode: str) -> None:
    commit = tree_with(repo, name, mode)
    source = open_range(repo.path, f"{commit}..{commit}")
    with pytest.raises(SourceError, match="must not be written to disk"), source.head_tree():
        pass
    source.close()
    assert list(scratch.iterdir()) == []


def test_a_change_that_takes_such_a_name_away_can_be_reviewed(repo: Repo) -> None:
    """Only what is written to disk must not escape: the base is compared, and nothing else."""
    hostile = tree_with(repo, ".git ")
    repo.write("a")
    repo.commit()
    source = open_range(repo.path, f"{hostile}..HEAD")
    assert [file.path for file in source.change().files] == [".git ", "a"]
    with source.head_tree() as tree:
        assert [path.name for path in tree.iterdir()] == ["a"]


def test_ordinary_names_with_dots_are_fine(repo: Repo) -> None:
    for name in ("...", "..a", ".gitignore", ".github/x", "[...slug].ts", "a..b"):
        repo.write(name)
    repo.commit()
    with opened(repo).head_tree() as tree:
        assert (tree / "...").exists()
        assert (tree / "[...slug].ts").exists()


def test_a_name_that_is_file_and_folder_is_refused(repo: Repo) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
    inner = repo.git("mktree", stdin=f"100644 blob {blob}\tb\n".encode()).decode().strip()
    raw = b"100644 a\0" + bytes.fromhex(blob) + b"40000 a\0" + bytes.fromhex(inner)
    tree = repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw).decode().strip()
    commit = repo.git("commit-tree", tree, "-m", "hostile").decode().strip()
    with (
        pytest.raises(SourceError, match="cannot be written out"),
        open_range(repo.path, f"{commit}..{commit}").head_tree(),
    ):
        pass
