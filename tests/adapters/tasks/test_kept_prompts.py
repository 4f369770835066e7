"""Prompts that ``run --recording full`` keeps are deleted when they are as old as recordings may be."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.git_repository import Repo
from tests.adapters.tasks.test_run_task import FAKE, printed

from review_advisor.tasks.run_files import forget_prompts

NOW = datetime.now(UTC)
OLD = (NOW - timedelta(days=15)).timestamp()


def ran(terminal: Terminal, mode: str) -> Path:
    return terminal.folder / printed(terminal.run("run", "fake smoke task", *FAKE, "--recording", mode))["run_dir"]


def aged(folder: Path) -> Path:
    for path in folder.iterdir():
        os.utime(path, (OLD, OLD))
    return folder


def prompts(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.prompt.md"))


def test_old_prompts_are_deleted_and_all_else_stays(terminal: Terminal) -> None:
    Repo(terminal.folder)
    full, digests, fresh = aged(ran(terminal, "full")), aged(ran(terminal, "none")), ran(terminal, "full")
    others = {path.name for path in full.iterdir()} - set(prompts(full))
    kept = {folder: prompts(folder) for folder in (digests, fresh)}
    assert forget_prompts(full.parent, NOW, 14) == 1
    assert {path.name for path in full.iterdir()} == others
    assert {folder: prompts(folder) for folder in (digests, fresh)} == kept
    assert forget_prompts(full.parent, NOW, 14) == 0


def test_no_link_leads_out_and_no_foreign_folder_is_touched(tmp_path: Path) -> None:
    runs, outside = tmp_path / "runs", tmp_path / "outside"
    for folder in (outside, runs / "mine"):
        folder.mkdir(parents=True)
        (folder / "a.prompt.md").write_text("Mine.")
        os.utime(folder / "a.prompt.md", (OLD, OLD))
    (runs / "run_20260101T000000Z_00000000").symlink_to(outside)
    (tmp_path / "linked").symlink_to(runs)
    assert (forget_prompts(runs, NOW, 14), forget_prompts(tmp_path / "linked", NOW, 14)) == (0, 0)
    assert forget_prompts(tmp_path / "missing", NOW, 14) == 0
    assert prompts(outside) == prompts(runs / "mine") == ["a.prompt.md"]


@pytest.mark.every_case
def test_the_next_run_deletes_what_is_too_old_and_says_so(terminal: Terminal) -> None:
    Repo(terminal.folder)
    (terminal.folder / "backends.toml").write_text('[one]\ncommand = ["false"]\n')
    old = aged(ran(terminal, "full"))
    done = terminal.run("run", "Do it", "--adapter", "backends.toml", "--executor", "one", "--advisor", "fake")
    assert prompts(old) == []
    assert "Prompts of 1 run older than 14 days deleted from runs." in done.err


def test_prompts_about_reviews_that_have_ended_are_deleted_from_the_artefacts_too(terminal: Terminal) -> None:
    Repo(terminal.folder)
    (terminal.folder / "backends.toml").write_text('[one]\ncommand = ["false"]\n')
    kept = terminal.folder / "review_logs" / "retro" / "run_20260101T000000Z_00000000"
    kept.mkdir(parents=True)
    (kept / "post_run_review.prompt.md").write_text("All of it.\n")
    (kept / "post_run_review.md").write_text("Mine.\n")
    aged(kept)
    done = terminal.run("run", "Do it", "--adapter", "backends.toml", "--executor", "one", "--advisor", "fake")
    assert [path.name for path in kept.iterdir()] == ["post_run_review.md"]
    assert f"Prompts of 1 run older than 14 days deleted from {kept.parent}." in done.err
