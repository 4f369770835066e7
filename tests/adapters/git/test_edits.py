"""What an executor left in its copy of the tree, read back by real git: a patch, or a refusal by name."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.change.change import Edits, Status
from review_advisor.change.sources import GitSource, open_range, open_staged

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A change to one file, in a repository with one of everything."""
    repo = Repo(tmp_path / "repo")
    repo.write("src/app.py", "a = 1\nb = 2\n")
    repo.write("crlf.txt", b"one\r\ntwo\r\n")
    repo.write("latin.txt", b"caf\xe9\n")
    repo.write("logo.png", PNG)
    repo.write("end.txt", "no line feed")
    repo.write("run.sh", "#!/bin/sh\n")
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "link").symlink_to("/etc/passwd")
    repo.git("add", ".")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},libs/sub")
    repo.git("commit", "--quiet", "--message", "base")
    repo.write("src/app.py", "a = 1\nb = 3\n")
    repo.git("add", "src/app.py")
    repo.git("commit", "--quiet", "--message", "head")
    return repo


@pytest.fixture
def source(repo: Repo, scratch: Path) -> Iterator[GitSource]:
    opened = open_range(repo.path, "HEAD~1..HEAD")
    yield opened
    opened.close()
    assert list(scratch.iterdir()) == []


def edited(source: GitSource, edit: Callable[[Path], object]) -> Edits:
    with source.head_tree() as folder:
        edit(folder)
        return source.edits(folder)


def unfit(edits: Edits) -> list[tuple[str, str]]:
    assert (edits.patch, edits.touched) == ("", ())
    return [(each.path, each.why) for each in edits.unfit]


def applied(repo: Repo, edits: Edits, base: str = "HEAD") -> str:
    """The tree that ``git apply`` makes of the patch on the head."""
    patch = repo.path.parent / "repair.patch"
    patch.write_text(edits.patch, encoding="utf-8", newline="")
    repo.git("reset", "--quiet", "--hard", base)
    repo.git("apply", "--check", "--index", str(patch))
    repo.git("apply", "--index", str(patch))
    return repo.git("write-tree").decode().strip()


def test_nothing_edited_is_the_head_itself(repo: Repo, source: GitSource) -> None:
    edits = edited(source, lambda folder: None)
    assert edits.tree == source.change().tree == repo.rev("HEAD^{tree}")
    assert (edits.patch, edits.touched, edits.unfit) == ("", (), ())
    assert edits.change == source.change()


def test_an_edit_is_a_patch_that_git_takes_on_the_head_and_a_new_change(repo: Repo, source: GitSource) -> None:
    def edit(folder: Path) -> None:
        (folder / "src/app.py").write_text("a = 1\nb = 4\n")
        (folder / "tests").mkdir()
        (folder / "tests/test_app.py").write_text("assert True\n")

    edits = edited(source, edit)
    assert [(file.path, file.status) for file in edits.touched] == [
        ("src/app.py", Status.MODIFIED),
        ("tests/test_app.py", Status.ADDED),
    ]
    assert [file.hunks[0].lines for file in edits.change.files] == [
        (" a = 1", "-b = 2", "+b = 4"),
        ("+assert True",),
    ]
    assert edits.change.base_sha == source.change().base_sha
    assert applied(repo, edits) == edits.tree


def test_the_repaired_tree_can_be_written_out_again(source: GitSource) -> None:
    edits = edited(source, lambda folder: (folder / "src/app.py").write_text("a = 9\n"))
    with source.head_tree(edits.tree) as folder:
        assert (folder / "src/app.py").read_text() == "a = 9\n"
        assert source.edits(folder).tree == edits.tree
        (folder / "src/app.py").write_text("a = 1\nb = 3\n")
        assert source.edits(folder).tree == source.change().tree


def test_line_ends_missing_last_ones_and_modes_survive(repo: Repo, source: GitSource) -> None:
    def edit(folder: Path) -> None:
        (folder / "crlf.txt").write_bytes(b"one\r\nTWO\r\n")
        (folder / "end.txt").write_bytes(b"still none")
        (folder / "run.sh").write_text("#!/bin/sh\nexit 0\n")

    edits = edited(source, edit)
    assert "+TWO\r\n" in edits.patch
    assert "\\ No newline at end of file" in edits.patch
    assert [(file.old_mode, file.new_mode) for file in edits.touched if file.path == "run.sh"] == [("100755", "100755")]
    assert applied(repo, edits) == edits.tree


@pytest.mark.every_case
def test_deletions_and_renames_are_told_as_they_are(source: GitSource) -> None:
    gone = edited(source, lambda folder: (folder / "src/app.py").unlink())
    assert [(file.path, file.status) for file in gone.touched] == [("src/app.py", Status.DELETED)]
    moved = edited(source, lambda folder: (folder / "src/app.py").rename(folder / "src/b.py"))
    assert [(file.old_path, file.path, file.status) for file in moved.touched] == [
        ("src/app.py", "src/b.py", Status.RENAMED)
    ]
    deleted = edited(source, lambda folder: (folder / "latin.txt").unlink())
    assert [file.status for file in deleted.touched] == [Status.DELETED]


def test_the_staged_index_can_be_repaired_too(repo: Repo, tmp_path: Path) -> None:
    repo.write("src/app.py", "a = 5\n")
    repo.git("add", ".")
    source = open_staged(repo.path)
    edits = edited(source, lambda folder: (folder / "src/app.py").write_text("a = 6\n"))
    staged = repo.git("write-tree").decode().strip()
    assert source.change().tree == staged
    assert "-a = 5\n+a = 6\n" in edits.patch
    source.close()


def test_attributes_filters_and_hooks_of_the_tree_do_nothing(repo: Repo, source: GitSource, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    repo.git("config", "filter.evil.clean", f"touch {marker}; cat")
    repo.git("config", "core.hooksPath", str(tmp_path))

    def edit(folder: Path) -> None:
        (folder / ".gitattributes").write_text("*.py filter=evil -diff eol=crlf text\n")
        (folder / "src/app.py").write_text("a = 7\n")

    edits = edited(source, edit)
    assert "+a = 7\n" in edits.patch
    assert not marker.exists()


HEAVY = "x = 1\n" * 200_000


def link_for_a_file(at: Path) -> None:
    (at / "src/app.py").unlink()
    (at / "src/app.py").symlink_to("/etc/hostname")


def file_for_a_submodule(at: Path) -> None:
    (at / "libs/sub").rmdir()
    (at / "libs/sub").write_text("x\n")


UNFIT: dict[str, tuple[Callable[[Path], object], list[tuple[str, str]]]] = {
    "a new link": (lambda at: (at / "new").symlink_to("/etc/passwd"), [("new", "a symbolic link")]),
    "a link in a file's place": (
        link_for_a_file,
        [("src/app.py", "a symbolic link")],
    ),
    "a link to a folder": (lambda at: (at / "up").symlink_to(".."), [("up", "a symbolic link")]),
    "a link's target": (lambda at: (at / "link").write_text("/etc/shadow"), [("link", "a symbolic link")]),
    "a hard link": (
        lambda at: (at / "src/twin.py").hardlink_to(at / "src/app.py"),
        [("src/app.py", "a hard link"), ("src/twin.py", "a hard link")],
    ),
    "a pipe": (lambda at: os.mkfifo(at / "pipe"), [("pipe", "not a regular file")]),
    "a .git file": (
        lambda at: (at / ".git").write_text("gitdir: /tmp\n"),
        [(".git", "a name that git keeps for itself")],
    ),
    "a .git folder below": (
        lambda at: (at / "src/.GIT/hooks").mkdir(parents=True),
        [("src/.GIT", "a name that git keeps for itself")],
    ),
    "a submodule's inside": (
        lambda at: (at / "libs/sub/x.py").write_text("x\n"),
        [("libs/sub/x.py", "inside a submodule")],
    ),
    "a submodule gone": (lambda at: (at / "libs/sub").rmdir(), [("libs/sub", "a submodule was removed")]),
    "a file for a submodule": (
        file_for_a_submodule,
        [("libs/sub", "inside a submodule")],
    ),
    "an executable bit": (lambda at: (at / "src/app.py").chmod(0o700), [("src/app.py", "made executable")]),
    "binary": (lambda at: (at / "src/app.py").write_bytes(b"a\0b"), [("src/app.py", "binary")]),
    "a picture": (lambda at: (at / "logo.png").write_bytes(PNG + b"x"), [("logo.png", "binary")]),
    "huge": (lambda at: (at / "src/app.py").write_text(HEAVY), [("src/app.py", "larger than 1000000 bytes")]),
    "empty": (lambda at: (at / "src/app.py").write_text("\n"), [("src/app.py", "left without content")]),
    "not UTF-8 now": (lambda at: (at / "src/app.py").write_bytes(b"\xff\n"), [("src/app.py", "not UTF-8 text")]),
    "not UTF-8 before": (
        lambda at: (at / "latin.txt").write_text("caf\u00e9\n"),
        [("latin.txt", "not UTF-8 text before")],
    ),
    "a name in Latin-1": (
        lambda at: Path(os.fsdecode(os.fsencode(at) + b"/\xe9.py")).write_text("x\n"),
        [("\\xe9.py", "a name that is not UTF-8")],
    ),
    "a name's twin": (
        lambda at: (at / "src/APP.py").write_text("x\n"),
        [("src/APP.py", "a name that differs from another only in case")],
    ),
    "a flood": (
        lambda at: [(at / f"f{n}.py").write_text("x\n") for n in range(250)],
        [("*", "more than 200 files")],
    ),
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", UNFIT)
def test_what_can_be_no_part_of_a_patch_is_refused_by_name(source: GitSource, name: str) -> None:
    edit, expected = UNFIT[name]
    edits = edited(source, edit)
    assert unfit(edits) == expected
    assert edits.tree == source.change().tree


def test_one_unfit_path_leaves_nothing_of_the_rest(source: GitSource) -> None:
    def edit(folder: Path) -> None:
        (folder / "src/app.py").write_text("a = 4\n")
        (folder / "new").symlink_to("/etc/passwd")

    assert unfit(edited(source, edit)) == [("new", "a symbolic link")]


def test_the_users_repository_is_never_written_to(repo: Repo, source: GitSource) -> None:
    def objects() -> bytes:
        return subprocess.run(["git", "count-objects", "-v"], cwd=repo.path, capture_output=True, check=True).stdout

    before = objects(), repo.git("status", "--porcelain")
    edited(source, lambda folder: (folder / "src/app.py").write_text("a = 8\n"))
    assert (objects(), repo.git("status", "--porcelain")) == before
    assert (repo.path / "src/app.py").read_text() == "a = 1\nb = 3\n"


def test_a_head_with_a_link_where_git_would_follow_is_left_alone(tmp_path: Path) -> None:
    """A folder that the executor replaces by a link leads nowhere: what lay in it counts as deleted."""
    repo = Repo(tmp_path / "other")
    repo.write("src/app.py", "a = 1\n")
    repo.commit()
    repo.write("b.py", "b = 1\n")
    repo.commit()
    source = open_range(repo.path, "HEAD~1..HEAD")

    def edit(folder: Path) -> None:
        (folder / "src/app.py").unlink()
        (folder / "src").rmdir()
        (folder / "src").symlink_to(tmp_path)

    assert unfit(edited(source, edit)) == [("src", "a symbolic link")]
    source.close()
