"""The dashboard tells how alike the members of councils vote, as ``rollup --advice`` does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledgers import record, told

from review_advisor.mockworld.agents import Line, credit_gone, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument

LEDGER = Path("review_logs/ledger/ledger.sqlite3")


def judged(number: int, one: Line, *others: Advisor) -> OutcomeDocument:
    """A review with a council of the ADR's advisor, one more member, and others who approve."""

    def story(world: MockWorld) -> None:
        world.rules = replace(
            world.rules, roster=Roster((ADR_ADVISOR, Advisor("one", "You doubt.", on="finish"), *others))
        )
        world.agents.script(Role.POST_VERIFY, one, advisor="one")

    return told(story, number)


def overview(terminal: Terminal, *words: str) -> Any:
    terminal.run("ui", "--out", "site", *words)
    return WrittenDashboard(terminal.folder / "site").overview


@pytest.fixture
def kept(terminal: Terminal) -> Terminal:
    """Twenty votes of two, half of them apart; the account has no credit in a further one."""
    votes = [judged(number, vote(90) if number % 2 else vote(0, 90)) for number in range(1, 21)]
    stopped = judged(21, credit_gone())
    record(terminal.folder / LEDGER, *votes, stopped)
    return terminal


@pytest.mark.every_case
def test_it_tells_what_rollup_tells_of_the_same_reviews(kept: Terminal) -> None:
    (row,) = overview(kept)["pairs"]
    assert row == ["hydraflow-review-advisor, one", "20", "50%", "0.00"]
    printed = kept.run("rollup", "--advice", "--since", "2026-01-01").out
    assert row == [
        cell.strip()
        for cell in next(each for each in printed.splitlines() if each.startswith(row[0])).split("  ")
        if cell
    ]
    (pair,) = json.loads(kept.run("rollup", "--advice", "--since", "2026-01-01", "--json").out)["advice"]["councils"][
        "pairs"
    ]
    assert (pair["votes"], pair["agreement"], pair["kappa"]) == (20, 0.5, 0.0)


@pytest.mark.every_case
def test_a_run_that_is_shown_apart_from_its_time_counts_in_no_pair(kept: Terminal) -> None:
    told_of = overview(kept, "--since", "2026-01-05T12:00", "--run", "run-1")["pairs"]
    assert told_of == overview(kept, "--since", "2026-01-05T12:00")["pairs"]


def test_without_a_council_there_is_none(terminal: Terminal) -> None:
    record(terminal.folder / LEDGER, told())
    assert (overview(terminal)["pairs"], overview(terminal)["further_pairs"]) == ([], 0)


def test_of_many_members_the_most_alike_pairs_are_told_and_the_rest_is_counted(terminal: Terminal) -> None:
    members = [Advisor(f"m{number}", "You read.", on="finish") for number in range(6)]
    record(terminal.folder / LEDGER, judged(1, vote(90), *members))
    about = overview(terminal)
    assert (len(about["pairs"]), about["further_pairs"]) == (20, 8)
