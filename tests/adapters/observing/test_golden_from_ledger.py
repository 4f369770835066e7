"""``golden from-ledger``: what people said of findings on pull requests becomes golden cases of that repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.git_remote import NAME
from tests.adapters.observing.observed import FAULT, observed, whole
from tests.adapters.pull_request_world import APP, AUTHOR, MAINTAINER, Actions

from review_advisor.app.golden import read_golden_set
from review_advisor.lab.golden_cases import CommitsChange
from review_advisor.mockworld.github_records import Pull


def gathered(terminal: Terminal, ledger: Path, folder: Path) -> dict[str, Any]:
    done = terminal.run("golden", "from-ledger", str(folder), "--ledger", str(ledger), "--json")
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told


def reacted(actions: Actions, pull: Pull, *, up: bool, by: str) -> Path:
    (thread,) = actions.threads(pull)
    actions.github.reacts(thread.comments[0], "THUMBS_UP" if up else "THUMBS_DOWN", by=by)
    actions.merges(pull)
    observed(actions.closed(pull))
    return whole(actions)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("up", [True, False])
def test_what_a_maintainer_says_of_a_finding_is_its_label(
    rejected: tuple[Actions, Pull], terminal: Terminal, tmp_path: Path, up: bool
) -> None:
    actions, pull = rejected
    told = gathered(terminal, reacted(actions, pull, up=up, by=MAINTAINER), tmp_path / "cases")
    assert (told["findings"], told["confirmed"], told["dismissed"], told["unlabelled"]) == (1, int(up), int(not up), 0)
    (case,) = read_golden_set(tmp_path / "cases").cases
    assert told["written"] == [case.id] == [f"{NAME}/{pull.number}"]
    assert isinstance(case.change, CommitsChange)
    assert case.change.repository == NAME
    (label,) = case.labels if up else case.refuted
    assert (label.file, label.first_line, label.text.splitlines()[0]) == (APP, 31, FAULT["title"])


def test_the_author_says_nothing_against_a_finding(
    rejected: tuple[Actions, Pull], terminal: Terminal, tmp_path: Path
) -> None:
    actions, pull = rejected
    told = gathered(terminal, reacted(actions, pull, up=False, by=AUTHOR), tmp_path / "cases")
    assert (told["cases"], told["unlabelled"], told["written"]) == (0, 1, [])


@pytest.mark.every_case
def test_a_case_that_is_there_is_not_changed(
    rejected: tuple[Actions, Pull], terminal: Terminal, tmp_path: Path
) -> None:
    actions, pull = rejected
    ledger = reacted(actions, pull, up=True, by=MAINTAINER)
    gathered(terminal, ledger, tmp_path)
    (file,) = tmp_path.rglob("*.toml")
    file.write_text(mine := file.read_text() + "# mine\n")
    done = terminal.run("golden", "from-ledger", str(tmp_path), "--ledger", str(ledger))
    assert file.read_text() == mine
    assert done.out.splitlines() == [
        "1 case from 1 finding on pull requests",
        "      1  100%  confirmed by people",
        "      0    0%  on pull requests that were reverted",
        "      0    0%  dismissed by people, or marked as wrong",
        "      0    0%  without a label",
        f"0 written to {tmp_path}, 1 were there already",
    ]


def test_without_a_ledger_it_says_so(terminal: Terminal, tmp_path: Path) -> None:
    done = terminal.run("golden", "from-ledger", str(tmp_path / "cases"), "--ledger", str(tmp_path / "none.sqlite3"))
    assert (done.code, done.out) == (2, "")
    assert "none.sqlite3" in done.err
    assert not (tmp_path / "cases").exists()
