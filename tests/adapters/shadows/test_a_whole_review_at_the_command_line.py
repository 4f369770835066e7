"""``review`` with the whole bot in shadow, answered by the embedded agent: two configurations, one outcome."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.adapters.command_line import CLAUDE, CREDENTIAL, LAST_COMMIT, Terminal, executable, script
from tests.adapters.shadows.test_a_shadow_at_the_command_line import kept, rows

from review_advisor.mockworld.agents import approve, confirm, finding, reject
from review_advisor.review.rulings import Outcome

FAULT = finding("app.py", 2, "y = 2", "high", "two is odd")
SHADOW = '[[shadow]]\nid = "whole"\npercent = 100\npart = "review"\nmodel = "small"\nadvisor_model = "other"\n'
PROGRAM = """#!/bin/sh
[ "$1" = --version ] && echo "{version}" && exit
for word; do [ "$before" = --model ] && echo "$word" >> '{log}'; before=$word; done
exec '{python}' -m review_advisor.agents.static --script '{script}' "$@"
"""


@pytest.fixture
def outcome(tmp_path: Path) -> Path:
    return tmp_path / "outcome.json"


def reviewed(terminal: Terminal, outcome: Path, table: str = SHADOW, *words: str) -> tuple[int, list[str], str]:
    """The exit code, the models that were asked and what was said: the shadow rejects what the review approves."""
    said = {"ReviewReport": [approve(), reject(FAULT)], "PostVerifyResult": [confirm(), confirm()]}
    place = outcome.parent / "agent"
    place.mkdir()
    replies = script(place, **{question: [{"answer": each.answer} for each in told] for question, told in said.items()})
    program = PROGRAM.format(version=CLAUDE, log=place / "models", python=sys.executable, script=replies)
    (terminal.folder / "shadow.toml").write_text(table)
    fixed = ("review", "--claude-bin", executable(place / "claude", program), "--output", outcome)
    done = terminal.run(*fixed, "--config", terminal.folder / "shadow.toml", *words, *LAST_COMMIT, env=CREDENTIAL)
    asked = place / "models"
    return done.code, asked.read_text().split() if asked.exists() else [], done.err


@pytest.mark.every_case
def test_another_configuration_reviews_again_and_the_first_outcome_stands(terminal: Terminal, outcome: Path) -> None:
    code, models, said = reviewed(terminal, outcome)
    assert (code, models) == (0, ["sonnet", "opus", "small", "other"]), said
    document = kept(outcome)
    assert (document.outcome, document.findings) == (Outcome.APPROVED, ())
    assert [(each.shadow, each.status, each.calls) for each in document.shadows] == [("whole", "finished", 2)]
    assert rows(terminal) == [("whole", "finished", "would_veto", 2)]
    text = terminal.run("rollup", "--shadow").out
    assert "whole (review; model small; advisor model other)" in text
    assert "would have stopped   1 of 1" in text
    assert "0 approved, 1 changes requested, 0 escalated" in text
    assert "found besides        1 critical or high finding" in text
    (told,) = json.loads(terminal.run("rollup", "--shadow", "--json").out)["parts"]
    assert (told["part"], told["changes_requested"], told["found"]) == ("review", 1, 1)


@pytest.mark.every_case
def test_no_file_of_the_review_holds_a_word_or_an_outcome_of_it(terminal: Terminal, outcome: Path) -> None:
    reviewed(terminal, outcome)
    folder = terminal.folder / "review_logs"
    files = [file for file in folder.rglob("*") if file.is_file() and "ledger" not in file.parts]
    assert len(files) > 5
    held = [file for file in (*files, outcome) if FAULT["title"] in file.read_text(errors="replace")]
    assert held == []
    documents = list(folder.rglob("outcome*.json"))
    assert [file.name for file in documents] == ["outcome.json"]


@pytest.mark.every_case
def test_its_calls_are_bounded_by_its_own_cap(terminal: Terminal, outcome: Path) -> None:
    code, models, _ = reviewed(terminal, outcome, f"{SHADOW}max_calls = 1\n")
    assert (code, models) == (0, ["sonnet", "opus", "small"])
    assert rows(terminal) == [("whole", "capped", "lost", 1)]
    assert "lost                 1; at its own cap 1" in terminal.run("rollup", "--shadow").out


def test_a_mistake_in_its_keys_is_told_before_the_first_call(terminal: Terminal, outcome: Path) -> None:
    code, models, said = reviewed(terminal, outcome, f'{SHADOW}surfaces = ["pr_review"]\n')
    assert (code, models) == (2, [])
    assert "leave `surfaces` out" in said
