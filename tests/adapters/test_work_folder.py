import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from review_advisor.change.work_folder import NoFolder, WorkFolder


def test_a_page_is_stored_in_a_folder_made_for_it(tmp_path: Path) -> None:
    assert WorkFolder(tmp_path, "docs/wiki").store("a.md", "text é\n") is None
    assert (tmp_path / "docs/wiki/a.md").read_text(encoding="utf-8") == "text é\n"


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    folder = WorkFolder(tmp_path, "wiki")
    folder.store("a.md", "first")
    assert folder.store("a.md", "second") == "a file of that name is there already"
    (tmp_path / "wiki/b.md").symlink_to(tmp_path / "elsewhere")
    assert folder.store("b.md", "text") == "a file of that name is there already"
    assert (tmp_path / "wiki/a.md").read_text() == "first"
    assert not (tmp_path / "elsewhere").exists()


KILLED_WHILE_WRITING = """
import resource, signal, sys
from pathlib import Path
from review_advisor.change.work_folder import WorkFolder

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
WorkFolder(Path(sys.argv[1]), "wiki").store("a.md", "x" * 1_000_000)
"""


@pytest.mark.every_case
def test_a_process_that_is_killed_while_it_stores_leaves_no_half_page(tmp_path: Path) -> None:
    """The kernel kills it in the middle: its file may not grow beyond 4 KiB."""
    died = subprocess.run([sys.executable, "-B", "-c", KILLED_WHILE_WRITING, tmp_path], check=False, timeout=60)
    assert died.returncode == -signal.SIGXFSZ
    assert not (tmp_path / "wiki/a.md").exists()
    assert WorkFolder(tmp_path, "wiki").store("a.md", "whole") is None
    assert (tmp_path / "wiki/a.md").read_text() == "whole"


def test_nothing_but_the_page_is_left_behind(tmp_path: Path) -> None:
    folder = WorkFolder(tmp_path, "wiki")
    for text in ("first", "second"):
        folder.store("a.md", text)
    assert [path.name for path in (tmp_path / "wiki").iterdir()] == ["a.md"]


@pytest.mark.parametrize("step", ["docs", "docs/wiki"])
def test_no_link_is_followed_on_the_way(step: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    (root / step).parent.mkdir(parents=True)
    (root / step).symlink_to(outside)
    assert "cannot be written to" in str(WorkFolder(root, "docs/wiki").store("a.md", "text"))
    assert list(outside.iterdir()) == []


def test_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "wiki").write_text("a file")
    assert "cannot be written to" in str(WorkFolder(tmp_path, "wiki").store("a.md", "text"))


def test_without_a_working_folder_nothing_is_stored() -> None:
    assert NoFolder().store("a.md", "text") == "the change comes without a working folder"


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    side = tmp_path / "before"
    side.mkdir()
    os.mkfifo(side / "pipe.png")
    (side / "link.png").symlink_to("/etc/passwd")
    (side / "deep").mkdir()
    (side / "deep/a.png").write_bytes(b"12345")
    folder = WorkFolder(tmp_path, ".")
    assert folder.read("before/pipe.png", 9) == "it is no regular file"
    assert "symbolic link" in str(folder.read("before/link.png", 9))
    assert "cannot be opened" in str(folder.read("before/none.png", 9))
    assert folder.read("before/deep/a.png", 3) == b"123"
