"""What a review leaves for others can be read by whom the user's umask says; what is private stays private."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.answers.restarts import killed_at
from tests.adapters.command_line import APPROVE, Terminal, project, script, scripted_review

from review_advisor.change.sources import open_range
from review_advisor.change.work_folder import WorkFolder
from review_advisor.ledger.artifacts import write_as_it_comes, write_refusal
from review_advisor.ledger.chain import LEDGER_FILE
from review_advisor.mockworld.world import MockWorld
from review_advisor.review.events import CallStarted, Event


@pytest.fixture(params=[0o022, 0o077, 0o002], ids=["022", "077", "002"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """The mode of every file and folder below this one, but for the kept answers, which are private."""
    found = {path.relative_to(folder): path for path in folder.rglob("*")}
    return {str(name): stat.S_IMODE(path.stat().st_mode) for name, path in found.items() if "answers" not in name.parts}


@pytest.mark.one_in(3)
def test_what_a_review_leaves_has_the_modes_that_the_umask_says(umask: int, tmp_path: Path) -> None:
    repo = project(tmp_path / "project", "x = 1\n", "x = 2\n")
    left = tmp_path / "left"
    left.mkdir()
    while_it_ran: dict[str, int] = {}

    def look(event: Event) -> None:
        if isinstance(event, CallStarted):
            while_it_ran.update(modes(left))

    scripted_review(repo.path, script(tmp_path, ReviewReport=[APPROVE]), look, artifacts=left, output=left / "out.json")
    write_refusal(left / "other.json", "It was refused.")
    write_as_it_comes(left / "ledger.jsonl", ["a line\n"])
    assert WorkFolder(left, "docs/wiki").store("page.md", "A fact.") is None
    assert str(LEDGER_FILE) in while_it_ran
    assert f"{LEDGER_FILE}-wal" in while_it_ran
    for found in (while_it_ran, modes(left)):
        folders = {name for name in found if (left / name).is_dir()}
        assert found == {name: (0o777 if name in folders else 0o666) & ~umask for name in found}


@pytest.mark.one_in(3)
def test_the_verbs_that_write_files_keep_to_it_as_well(umask: int, tmp_path: Path, terminal: Terminal) -> None:
    repo = project(terminal.folder / "project", "x = 1\n", "x = 2\n")
    output = terminal.folder / "outcome.json"
    scripted_review(repo.path, script(tmp_path), artifacts=terminal.folder / "review_logs", output=output)
    run = next((terminal.folder / "review_logs").glob("range-*/.advisor/*.json")).stem
    for words in (
        ("ui", "--out", "dashboard"),
        ("ledger", "export", "lines.jsonl"),
        ("runs", "export", run, "run"),
    ):
        done = terminal.run(*words)
        assert done.code == 0, done.err
    written = {name: mode for name, mode in modes(terminal.folder).items() if not name.startswith(("project", "."))}
    assert {"dashboard/index.html", "lines.jsonl", "outcome.json", "run"} <= written.keys()
    folders = {name for name in written if (terminal.folder / name).is_dir()}
    assert written == {name: (0o777 if name in folders else 0o666) & ~umask for name in written}


def test_what_is_private_is_for_its_owner_only_whatever_the_umask_says(umask: int, tmp_path: Path) -> None:
    killed_at(MockWorld(), tmp_path / "answers", 9)
    kept = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "answers").glob("*/*.reply")}
    assert set(kept.values()) == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "answers").iterdir()} == {0o700}
    repo = project(tmp_path / "project", "x = 1\n", "x = 2\n")
    source = open_range(repo.path, "HEAD~1..HEAD")
    with source.head_tree() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert set(modes(folder).values()) <= {0o600, 0o700}
    source.close()
