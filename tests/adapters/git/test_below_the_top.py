"""What a command that runs below the top of a repository takes for it, whatever git says or does not say."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.adapters.command_line import Done, Terminal
from tests.adapters.git_repository import Repo

from review_advisor.agents.prompts import MEMORY_FILE

NOWHERE = {"PATH": "/nonexistent"}
UNKNOWN_KEY = ".review-advisor.toml: unknown key 'no_such_setting'"
VERBS = {
    "config check": ("config", "check"),
    "memory list": ("memory", "list"),
    "init": ("init",),
    "runs list": ("runs", "list"),
    "run": ("run", "Deploy?", "--executor", "fake", "--advisor", "fake", "--actions", "deploy,delay"),
    "doctor": ("doctor",),
}


@pytest.fixture
def below(terminal: Terminal) -> Path:
    """A folder below the top of a repository whose configuration cannot be used."""
    (terminal.folder / ".review-advisor.toml").write_text("no_such_setting = 1\n")
    folder = terminal.folder / "below"
    folder.mkdir()
    return folder


@pytest.fixture
def refusing(tmp_path: Path) -> dict[str, str]:
    """A real git that takes every folder for another user's, as in a container with a mounted checkout."""
    git = tmp_path / "refusing" / "git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    return {"PATH": str(git.parent)}


def patch_of(terminal: Terminal, place: Path) -> Path:
    patch = place / "fix.diff"
    patch.write_bytes(Repo(terminal.folder).git("diff", "HEAD~1..HEAD"))
    return patch


def test_without_git_the_folder_above_counts_if_it_is_the_users_own(terminal: Terminal, below: Path) -> None:
    assert terminal.run("config", "check", cwd=below, env=NOWHERE).sentence.startswith(UNKNOWN_KEY)
    memory = terminal.folder / MEMORY_FILE
    memory.parent.mkdir(parents=True)
    memory.write_text("no record\n")
    assert terminal.run("memory", "list", cwd=below, env=NOWHERE).out == "not read: line 1 is no JSON\n"
    assert terminal.run("init", "--agent", "claude-code", cwd=below, env=NOWHERE).code == 0
    assert (terminal.folder / "AGENTS.md").is_file()
    assert list(below.iterdir()) == []


def test_a_patch_is_reviewed_only_with_git_which_reads_it_too_and_its_files_lie_at_the_top(
    terminal: Terminal, tmp_path: Path
) -> None:
    below, patch = terminal.folder / "below", patch_of(terminal, tmp_path)
    below.mkdir()
    refused = terminal.review("-q", of=("--patch", patch), cwd=below, env=NOWHERE)
    assert (refused.code, refused.sentence.startswith("git was not found on PATH")) == (2, True)
    assert not (terminal.folder / "review_logs").exists()
    terminal.review("-q", of=("--patch", patch), cwd=below)
    assert (terminal.folder / "review_logs" / "ledger").is_dir()
    assert list(below.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("given_away", [".", ".git"])
def test_without_git_a_folder_of_somebody_else_is_no_silent_default(
    terminal: Terminal, below: Path, given_away: str
) -> None:
    os.chown(terminal.folder / given_away, 12345, 12345)
    assert terminal.run("config", "check", cwd=below, env=NOWHERE).sentence.startswith("git was not found on PATH")


@pytest.mark.parametrize("words", VERBS.values(), ids=list(VERBS))
def test_what_git_refuses_for_its_owner_is_told_with_what_would_allow_it(
    terminal: Terminal, below: Path, refusing: dict[str, str], words: tuple[str, ...]
) -> None:
    told(terminal.run(*words, cwd=below, env=refusing), terminal)
    assert list(below.iterdir()) == []


def test_a_patch_is_not_reviewed_below_what_git_refuses(
    terminal: Terminal, below: Path, refusing: dict[str, str], tmp_path: Path
) -> None:
    told(terminal.review("-q", of=("--patch", patch_of(terminal, tmp_path)), cwd=below, env=refusing), terminal)
    assert list(below.iterdir()) == []


def told(done: Done, terminal: Terminal) -> None:
    allowing = f"git config --global --add safe.directory {terminal.folder}"
    assert (done.code, done.sentence) == (
        2,
        f"git refuses {terminal.folder} because another user owns it: run as its owner, or allow it with `{allowing}`.",
    )


def test_an_empty_folder_of_gits_name_hides_no_configuration(terminal: Terminal, below: Path) -> None:
    (below / ".git").mkdir()
    (below / "deep").mkdir()
    assert terminal.run("config", "check", cwd=below / "deep").sentence.startswith(UNKNOWN_KEY)


def test_below_an_empty_folder_of_gits_name_alone_there_is_no_repository(terminal: Terminal, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / ".git").mkdir(parents=True)
    (shared / ".review-advisor.toml").write_text("no_such_setting = 1\n")
    work, patch = shared / "work", patch_of(terminal, tmp_path)
    work.mkdir()
    assert terminal.run("config", "check", cwd=work).out == "no configuration file: defaults: ok\n"
    assert terminal.run("memory", "list", cwd=work).code == 0
    assert terminal.run("init", cwd=work).sentence == ". is not in a git repository."
    assert terminal.review("-q", of=("--patch", patch), cwd=work).code == 0
    assert (work / "review_logs").is_dir()


def test_beside_a_bare_repository_the_folder_that_holds_it_counts(terminal: Terminal, below: Path) -> None:
    Repo(terminal.folder).git("config", "core.bare", "true")
    assert terminal.run("config", "check", cwd=below).sentence.startswith(UNKNOWN_KEY)
