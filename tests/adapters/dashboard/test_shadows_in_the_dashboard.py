"""The dashboard says what ran in shadow: of the period in the words of ``rollup --shadow``, and of each run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledger.test_shadows import keep_shadow, shadow
from tests.adapters.ledgers import five, record
from tests.unit.shadow.test_shadow_decision import AGREED, BEGAN, WOULD_VETO

from review_advisor.review.rulings import Outcome
from review_advisor.review.shadow import ShadowReviewed

SUMMARY = "In shadow, without effect"


@pytest.fixture
def ledger(terminal: Terminal) -> Path:
    """The five stories; nothing ran in shadow."""
    path = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(path, *five())
    return path


def written(terminal: Terminal, *words: str) -> WrittenDashboard:
    done = terminal.run("ui", "--out", "site", *words)
    assert done.code == 0, done.err
    return WrittenDashboard(terminal.folder / "site")


def in_shadow(site: WrittenDashboard, run_id: str) -> list[str]:
    return [value for label, value in site.page(run_id)["summary"] if label == SUMMARY]


def test_the_first_page_says_what_the_rollup_says(terminal: Terminal, ledger: Path) -> None:
    keep_shadow(ledger, shadow(1, WOULD_VETO, of_run="run-2"))
    told = written(terminal).overview["shadows"]
    assert told == terminal.run("rollup", "--shadow", "--since", "2026-01-01").out.splitlines()
    assert any("would have vetoed  1 of 1" in line for line in told)


def test_the_page_of_a_run_says_what_each_of_its_shadows_would_have_done(terminal: Terminal, ledger: Path) -> None:
    keep_shadow(ledger, shadow(1, WOULD_VETO, of_run="run-2"))
    executor = shadow(2, WOULD_VETO)
    first = replace(BEGAN, run_id="run_2-shadow", at=executor[0].at, part="executor", of_run="run-2", shadow="other")
    keep_shadow(ledger, [first, *executor[1:]])
    keep_shadow(ledger, shadow(3, AGREED, of_run="run-3")[:-1])
    site = written(terminal)
    assert in_shadow(site, "run-2") == [
        "opusJudge (judge): would have vetoed, 0.50 USD",
        "other (judge): would have rejected, 0.50 USD",
    ]
    assert in_shadow(site, "run-3") == ["opusJudge (judge): lost, unfinished, 0.50 USD"]
    assert in_shadow(site, "run-4") == []


def test_the_page_of_a_run_says_what_the_whole_bot_in_shadow_came_to(terminal: Terminal, ledger: Path) -> None:
    said = ShadowReviewed(
        at=BEGAN.at,
        real=Outcome.APPROVED,
        outcome=Outcome.ESCALATED,
        because="",
        besides=("high src/app.py:3 It loses data",),
    )
    first, *rest = shadow(1, said)
    whole = replace(BEGAN, run_id="run_1-shadow", at=first.at, part="review", setup="review; model x", of_run="run-2")
    keep_shadow(ledger, [whole, *rest])
    site = written(terminal)
    assert in_shadow(site, "run-2") == ["opusJudge (review; model x): would have stopped (escalated), 0.50 USD"]
    assert ["Found in shadow alone", "high src/app.py:3 It loses data"] in [
        list(each) for each in site.page("run-2")["summary"]
    ]


@pytest.mark.usefixtures("ledger")
def test_without_a_shadow_nothing_is_said_of_shadows(terminal: Terminal) -> None:
    site = written(terminal)
    assert site.overview["shadows"] == []
    assert all(in_shadow(site, run_id) == [] for run_id in site.columns["run_id"])
