"""``review-advisor rollup --by-repository``: a line for each repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.adapters.command_line import Done, Terminal
from tests.adapters.ledgers import five, record, told

from review_advisor.ledger.queries import Period
from review_advisor.ledger.sums import add_up, add_up_by_repository

REVIEWED = (*("acme/shop", "Acme/Shop", "acme/store"), *("acme/lab",) * 4)
SINCE = ("--since", "2026-01-01")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Reviews of three repositories, one of which is spelled in two ways."""
    file = tmp_path / "ledger.sqlite3"
    for number, repository in enumerate(REVIEWED, start=1):
        record(file, told(number=number, repository=repository, pull_request=number))
    return file


def rolled(terminal: Terminal, ledger: Path, *words: str) -> Done:
    return terminal.run("rollup", "--by-repository", *SINCE, "--ledger", ledger, *words)


def test_each_repository_has_a_line_whatever_its_spelling(terminal: Terminal, ledger: Path) -> None:
    done = rolled(terminal, ledger)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == [
        *("repository", "runs", "cost"),
        *("self_repair", "validated", "degraded_share", "missed_escalations", "acted_on"),
    ]
    runs = [["acme/lab", "4"], ["acme/shop", "2"], ["acme/store", "1"]]
    assert [line.split()[:2] for line in lines[1:]] == runs
    rollups = json.loads(rolled(terminal, ledger, "--json").out)["repositories"]
    assert [[each["name"], str(each["rollup"]["sums"]["runs"])] for each in rollups] == runs


def test_the_sums_of_the_only_repository_are_those_of_the_whole(tmp_path: Path) -> None:
    file = tmp_path / "five.sqlite3"
    record(file, *five())
    assert list(add_up_by_repository(file, Period()).values()) == [add_up(file, Period())]


def test_a_period_without_runs_has_no_repository(terminal: Terminal, ledger: Path) -> None:
    until = ("--until", "2026-01-02")
    assert json.loads(rolled(terminal, ledger, *until, "--json").out) == {"repositories": []}
    assert rolled(terminal, ledger, *until).out == "No run falls in this period.\n"


@pytest.mark.parametrize("option", ["--advice", "--shadow"])
def test_nothing_but_kpis_is_told_by_repository(terminal: Terminal, ledger: Path, option: str) -> None:
    done = rolled(terminal, ledger, option)
    assert (done.code, "--by-repository tells KPIs only" in done.err) == (2, True)
