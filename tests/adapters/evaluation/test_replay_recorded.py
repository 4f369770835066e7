"""``replay --recorded``: a recorded review played again as a whole; only its recording answers."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import CREDENTIAL, LAST_COMMIT, Done, Terminal, executable
from tests.adapters.git_repository import Repo
from tests.adapters.ledgers import record
from tests.adapters.ledgers import told as ledger_told

CLAUDE = """#!{python} -IS
import json, pathlib, sys

if "--version" in sys.argv:
    print("2.1.329 (Claude Code)")
    sys.exit()
asked = pathlib.Path("{asked}")
asked.write_text(asked.read_text() + "x")
question = json.loads(sys.argv[sys.argv.index("--json-schema") + 1])["title"]
sys.stdin.buffer.read()
found = {{"path": "app.py", "line": 3, "severity": "low", "category": "style", "title": "a name",
    "body": "z says nothing", "confidence": 0.7, "evidence": "z = 3"}}
answers = {{
    "ReviewReport": {{"verdict": "approve", "summary": "fine", "confidence": 0.9, "findings": [found]}},
    "PostVerifyResult": {{"verdict": "APPROVE", "reasoning": "so it is"}},
}}
say = lambda kind, **event: print(json.dumps({{"type": kind, **event}}), flush=True)
say("system", subtype="init", session_id="s", model="stub", tools=["StructuredOutput"])
say("result", subtype="success", is_error=False, structured_output=answers[question], total_cost_usd=0.01)
"""


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """Grows with each call of ``claude``."""
    path = tmp_path / "asked"
    path.write_text("")
    return path


@pytest.fixture
def recorded(terminal: Terminal, tmp_path: Path, asked: Path) -> Terminal:
    """A shell in whose repository one review was recorded."""
    executable(tmp_path / "bin" / "claude", CLAUDE.format(python=sys.executable, asked=asked))
    terminal.environ |= {**CREDENTIAL, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    repo = Repo(terminal.folder)
    repo.write(".review-advisor.toml", 'recording = "answers"\n')
    repo.commit("Configure")
    repo.write("app.py", "x = 1\ny = 2\nz = 3\n")
    repo.commit("Change")
    assert terminal.run("review", *LAST_COMMIT).code == 0
    return terminal


def run_of(terminal: Terminal) -> str:
    (path,) = (terminal.folder / "review_logs" / ".recordings").glob("*.jsonl")
    return path.stem


def replayed(terminal: Terminal, text: str, *words: str, **environ: str) -> Done:
    file = terminal.folder / "other.toml"
    file.write_text(text)
    return terminal.run("replay", run_of(terminal), "--recorded", ".", "--config", file, *words, env=environ)


def told(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    (review,) = found["reviews"]
    return {**review, "kept": found["totals"]["answers_kept"]}


def test_a_configuration_that_asks_the_same_has_every_answer(recorded: Terminal, asked: Path) -> None:
    before = asked.read_text()
    same = told(replayed(recorded, "shard_tokens = 50_000\n[budget]\ncall_seconds = 60.0\n", "--json"))
    assert (same["before"], same["after"], same["kept"], same["unknown"]) == ("approved", "approved", len(before), [])
    assert same["usd_after"] == same["usd_before"] == 0.01 * len(before)
    quiet = told(replayed(recorded, '[github]\nvolume = "quiet"\n', "--json"))
    assert (quiet["posted_before"], quiet["posted_after"], len(quiet["missed"])) == (1, 0, 1)
    assert asked.read_text() == before, "nobody is asked"


def test_the_first_question_that_is_not_recorded_ends_it_with_what_it_costs_at_least(recorded: Terminal) -> None:
    found = told(replayed(recorded, 'critical_paths = ["app.py"]\n', "--json"))
    assert (found["after"], found["usd_after"]) == (None, None)
    assert found["unknown"] == ["pre_flight of pr_review would have been asked what is not recorded"]
    assert found["would_ask"]["questions"] == 1
    assert found["would_ask"]["least_usd"] > 0.01
    text = replayed(recorded, 'language = "German"\n').out
    assert "1 x executor of pr_review would have been asked what is not recorded" in text
    assert "would have to ask: 1 question, at least $0.0" in text


@pytest.mark.every_case
def test_a_switch_of_the_environment_leaves_a_judge_unasked(recorded: Terminal, asked: Path) -> None:
    found = told(replayed(recorded, "", "--json", HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED="false"))
    assert (found["after"], found["kept"], found["usd_after"]) == ("approved", len(asked.read_text()) - 1, 0.01)


@pytest.mark.every_case
def test_a_review_by_static_checks_is_played_again_as_one(recorded: Terminal) -> None:
    (path,) = (recorded.folder / "review_logs" / ".recordings").glob("*.jsonl")
    path.unlink()
    assert recorded.run("review", *LAST_COMMIT, "--agent", "embedded").code == 0
    found = told(replayed(recorded, "", "--json"))
    assert (found["before"], found["after"], found["kept"]) == ("approved", "approved", 1)


@pytest.mark.every_case
def test_changed_lines_and_lost_ones_answer_nothing(recorded: Terminal) -> None:
    (path,) = (recorded.folder / "review_logs" / ".recordings").glob("*.jsonl")
    first, *others = path.read_text().splitlines(keepends=True)
    path.write_text("".join((first.replace("approve", "reject!"), *others)))
    found = told(replayed(recorded, "", "--json"))
    assert found["unknown"] == ["executor of pr_review would have been asked what is not recorded"]


@pytest.mark.every_case
def test_a_pull_request_and_commits_that_are_nowhere_are_refused(recorded: Terminal) -> None:
    run, ledger = run_of(recorded), recorded.folder / "other.sqlite3"
    record(ledger, ledger_told())
    other = recorded.run("replay", "run-1", "--recorded", ".", "--ledger", ledger)
    assert other.code == 2
    assert "The run run-1 is of a pull request: what GitHub told of it is not recorded." in other.sentence
    elsewhere = recorded.folder.parent / "elsewhere"
    elsewhere.mkdir()
    assert recorded.run("replay", run, "--recorded", elsewhere).code == 2


@pytest.mark.every_case
def test_of_all_runs_those_without_a_recording_are_left_out(recorded: Terminal) -> None:
    first = run_of(recorded)
    record(recorded.folder / "review_logs" / "ledger" / "ledger.sqlite3", ledger_told())
    done = recorded.run("replay", "--all", "--recorded", ".", "--json")
    found = json.loads(done.out)
    assert [each["run_id"] for each in found["reviews"]] == [first]
    (left_out,) = found["left_out"]
    assert left_out.startswith("The run run-1 is of a pull request")
    assert f"left out: {left_out}" in done.err


def test_what_cannot_be_played_again_is_one_sentence(recorded: Terminal) -> None:
    run = run_of(recorded)
    for words in ((), (run, "--all"), (run, "--was", "other.toml")):
        assert recorded.run("replay", *words, "--recorded", ".").code == 2
    (path,) = (recorded.folder / "review_logs" / ".recordings").glob("*.jsonl")
    path.unlink()
    gone = recorded.run("replay", run, "--recorded", ".")
    assert gone.code != 0
    assert gone.sentence.startswith("No recording in ")
