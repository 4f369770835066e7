"""What was edited in one copy of a tree is done to another."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from review_advisor.agents.kept_replies import MOST_BYTES, MOST_FILES, edit, edited, seen


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return made(tmp_path / "tree")


def made(folder: Path) -> Path:
    for path, text in {"a.py": "a = 1\n", "deep/b.py": "b = 1\n", "deep/er/c.py": "c = 1\n", "d.sh": "exit\n"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "d.sh").chmod(0o755)
    (folder / "link").symlink_to("a.py")
    return folder


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_was_edited_can_be_done_again(tree: Path, tmp_path: Path) -> None:
    before = seen(tree)
    (tree / "a.py").write_text("a = 2\n")
    (tree / "deep" / "b.py").unlink()
    (tree / "new" / "folder").mkdir(parents=True)
    (tree / "new" / "folder" / "e.bin").write_bytes(bytes(range(256)))
    (tree / "d.sh").write_text("exit 1\n")
    done = edited(tree, before)
    assert done is not None
    assert sorted(each.path for each in done) == ["a.py", "d.sh", "deep/b.py", "new/folder/e.bin"]
    other = made(tmp_path / "other")
    edit(other, done)
    assert contents(other) == contents(tree)


def test_an_edit_that_sets_the_time_back_is_seen(tree: Path) -> None:
    before, stat = seen(tree), (tree / "a.py").stat()
    (tree / "a.py").write_text("a = 9\n")
    os.utime(tree / "a.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    done = edited(tree, before)
    assert done is not None
    assert [each.path for each in done] == ["a.py"]


WHOLE: dict[str, Callable[[Path], object]] = {
    "a link": lambda tree: (tree / "new").symlink_to("/etc/passwd"),
    "a hard link": lambda tree: os.link(tree / "a.py", tree / "new"),
    "a pipe": lambda tree: os.mkfifo(tree / "new"),
    "a name that is no text": lambda tree: Path(os.fsdecode(os.fsencode(tree) + b"/\xff")).touch(),
    "too much": lambda tree: (tree / "new").write_bytes(b"x" * (MOST_BYTES + 1)),
    "too many": lambda tree: [(tree / f"new-{n}").write_text("") for n in range(MOST_FILES + 1)],
}


@pytest.mark.parametrize("do", WHOLE.values(), ids=list(WHOLE))
def test_edits_that_cannot_be_kept_whole_are_not_kept_at_all(tree: Path, do: Callable[[Path], object]) -> None:
    before = seen(tree)
    do(tree)
    assert edited(tree, before) is None
