"""The workflow of an evaluation: which gate decides, and that what was paid for is not paid for again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.project.workflow_files import PINNED, Parsed, Runner, parsed

from review_advisor.app.init import evaluation_text

pytestmark = pytest.mark.every_case

BOT = [sys.executable, "-I", "-m", "review_advisor"]
WORKFLOW = parsed(evaluation_text(PINNED))


def step_of(job: str, name: str) -> Parsed:
    steps: list[Parsed] = WORKFLOW["jobs"][job]["steps"]
    return next(step for step in steps if str(step.get("name") or step["uses"]).startswith(name))


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner that has the shards of an evaluation with fewer groups than a gate needs."""
    made = Runner(tmp_path)
    made.prepare()
    python = made.temporary / "review-advisor/venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    for number in (1, 2):
        folder = made.temporary / f"shards/evaluation-shard-{number}"
        words = ["eval", "run", "--groups", "4", "--shard", f"{number}/2", "--out", str(folder)]
        subprocess.run([*BOT, *words], check=True, capture_output=True)
    return made


def decided(runner: Runner, answers: str) -> tuple[int, str]:
    done = runner.run(step_of("gate", "Join the shards"), {"answers": answers, "gate": "cost_of_correct"})
    return done.returncode, (runner.folder / "summary").read_text(encoding="utf-8")


def test_a_gate_decides_over_models_only(runner: Runner) -> None:
    assert decided(runner, "embedded")[0] == 0
    assert (runner.temporary / "dashboard").is_dir()
    assert decided(runner, "live")[0] == 10


def test_a_shard_that_is_not_whole_is_told_with_what_to_do(runner: Runner) -> None:
    (results,) = (runner.temporary / "shards/evaluation-shard-2").rglob("results.jsonl")
    results.rename(results.with_name("results.partial.jsonl"))

    code, summary = decided(runner, "live")

    assert code == 2
    assert "is not over: run it again, and it goes on." in summary
    assert "Nothing is decided: not every shard is whole. Re-run the failed jobs" in summary
    assert "earlier-run 4711" in summary
    shutil.rmtree(runner.temporary / "shards")
    assert decided(runner, "live")[0] == 2


@pytest.mark.one_of_its_kind
def test_the_gate_speaks_also_when_a_shard_failed() -> None:
    assert WORKFLOW["jobs"]["gate"]["if"] == "always()"


@pytest.mark.one_of_its_kind
def test_a_shard_goes_on_with_what_it_kept() -> None:
    taken, kept = step_of("shard", "Take what this shard"), step_of("shard", "actions/upload-artifact@")
    review = step_of("shard", "Review this shard")
    order = WORKFLOW["jobs"]["shard"]["steps"]

    assert order.index(taken) < order.index(review) < order.index(kept)
    assert (taken["with"]["name"], taken["with"]["path"]) == (kept["with"]["name"], kept["with"]["path"])
    assert '--out "$RUNNER_TEMP/evaluation"' in review["run"]
    assert kept["if"] == "always()"
    assert kept["with"]["overwrite"] is True
    first = "${{ github.run_attempt == '1' && inputs.earlier-run == '' }}"
    assert taken["continue-on-error"] == first, "else it would pay again, and overwrite what it has"


def test_reviews_end_before_their_job_does_so_that_they_are_kept() -> None:
    minutes = int(step_of("shard", "Review this shard")["run"].partition("timeout ")[2].partition("m")[0])

    assert minutes < WORKFLOW["jobs"]["shard"]["timeout-minutes"]
