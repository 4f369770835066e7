"""``review-advisor demo``: it has something to show wherever it is run, and leaves nothing but its artefacts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal, lines
from tests.adapters.git_repository import Repo

SAMPLE = "Reviewing a sample repository made for this demonstration, with the embedded agent: static checks, no model."


@pytest.mark.every_case
def test_a_history_is_shown_by_the_last_commits_that_deserve_a_plan(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write("values.py", lines(40))
    repo.commit("Forty values")
    repo.write("small.py", "x = 1\n")
    repo.commit("A detail")
    done = terminal.run("demo")
    assert done.code == 0, done.err
    assert done.err.startswith(f"Reviewing the last 2 commits of {terminal.folder}, with the embedded agent")
    assert "pre-flight" in done.out
    assert "Static checks, no model" in done.out
    assert done.err.splitlines()[-1].endswith("review-advisor review --range HEAD~2..HEAD")


@pytest.mark.parametrize("kind", ["one-commit clone", "unborn", "no repository", "small commits"])
def test_elsewhere_a_sample_is_made(terminal: Terminal, tmp_path: Path, kind: str) -> None:
    here = terminal.folder
    if kind == "one-commit clone":
        here = tmp_path / "clone"
        source = f"file://{terminal.folder}"
        subprocess.run(["git", "clone", "--quiet", "--depth=1", source, str(here)], check=True, capture_output=True)
    elif kind == "unborn":
        here = Repo(tmp_path / "unborn").path
    elif kind == "no repository":
        here = tmp_path / "nothing"
        here.mkdir()
    done = terminal.run("demo", cwd=here)
    assert done.code == 0, done.err
    assert done.err.splitlines()[0] == SAMPLE
    assert done.out.splitlines()[0] == "CHANGES REQUESTED"
    told = ("  pre-flight ", "  consult ", "  post-verify  VETO", "  ruling       retry", "  post-verify  APPROVE")
    assert [words for words in told if words not in done.out] == []
    assert "delivery.py:8" in done.out
    assert f"Artefacts: {here}/review_logs/" in done.err
    assert "exit with 10 here" in done.err.splitlines()[-1]


@pytest.mark.every_case
def test_a_second_run_gives_the_same_and_breaks_nothing(terminal: Terminal, tmp_path: Path) -> None:
    here = tmp_path / "nothing"
    here.mkdir()
    first, second = (terminal.run("demo", cwd=here) for _ in range(2))
    assert (first.code, second.code) == (0, 0)
    assert first.out == second.out
    assert [path.name for path in here.iterdir()] == ["review_logs"]
    assert len(list((here / "review_logs").glob("*/outcome.json"))) == 1
    listed = json.loads(terminal.run("runs", "list", "--json", cwd=here).out)
    assert [run["status"] for run in listed] == ["changes_requested", "changes_requested"]


def test_a_folder_that_is_not_there_is_not_replaced_by_a_sample(terminal: Terminal) -> None:
    done = terminal.run("demo", "--repo", "missing")
    assert (done.code, done.sentence) == (2, "missing is not a folder: give the path of a git repository.")
