"""What was paid is counted once, wherever a run was killed and whichever ledgers are there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.adapters.answers.restarts import run, store_of
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledgers import Heard, refuse

from review_advisor.app.ui import write_dashboard
from review_advisor.ledger.queries import Period
from review_advisor.ledger.recorder import Recorder
from review_advisor.ledger.sums import Added, add_up
from review_advisor.ledger.transfer import merge
from review_advisor.mockworld.agents import Killed, approve, confirm, garbage, plan
from review_advisor.mockworld.world import MemoryArtifacts, MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded


def with_prices(world: MockWorld) -> None:
    """Half a dollar for the executor, and some cents for the others; the plan is given at the second attempt only."""
    world.agents.script(Role.PRE_FLIGHT, replace(garbage(), output_tokens=30).costing(0.02))
    world.agents.script(Role.PRE_FLIGHT, replace(plan(), output_tokens=30).costing(0.02))
    world.agents.script(Role.EXECUTOR, replace(approve(), output_tokens=700).costing(0.5))
    world.agents.script(Role.POST_VERIFY, replace(confirm(), output_tokens=10).costing(0.03))


def without_prices(world: MockWorld) -> None:
    """Nobody says what anything cost."""
    world.agents.script(Role.PRE_FLIGHT, replace(plan(), output_tokens=30).costing(None))
    world.agents.script(Role.EXECUTOR, replace(approve(), output_tokens=700).costing(None))
    world.agents.script(Role.POST_VERIFY, replace(confirm(), output_tokens=10).costing(None))


STORIES = (with_prices, without_prices)


def world_of(story: Callable[[MockWorld], None]) -> MockWorld:
    world = MockWorld()
    story(world)
    return world


def recorded(world: MockWorld, root: Path, ledger: Path, *, dies_before: int | None = None) -> OutcomeDocument | None:
    """One run that records itself; None for one that is killed before its ``dies_before``-th event is in the ledger."""
    with closing(Recorder(ledger, refuse)) as recorder:
        world.journal, world.artifacts = Heard(killed_at=dies_before, listeners=[recorder]), MemoryArtifacts()
        try:
            document = run(world, store_of(world, root))
        except Killed:
            return None
        recorder.finish(document)
        return document


def counted(ledger: Path) -> tuple[object, ...]:
    """Money and tokens of a ledger, whichever runs they are of."""
    added: Added = add_up(ledger, Period())
    unpriced = sum(each.calls for each in added.unpriced), sum(each.tokens for each in added.unpriced)
    sums = added.sums
    return pytest.approx(added.reported_usd), sums.executor_tokens, sums.advisor_tokens, *unpriced


def on_the_first_page(ledger: Path, site: Path) -> tuple[object, ...]:
    """The same by the dashboard's table of roles and models, which knows no calls' tokens apart."""
    write_dashboard(ledger, site, datetime(2026, 2, 1, tzinfo=UTC))
    costs = WrittenDashboard(site).overview["costs"]
    executor = sum(cost["tokens"] for cost in costs if cost["role"] == "executor")
    advisors = sum(cost["tokens"] for cost in costs if cost["role"] != "executor")
    reported = sum(cost["cost_usd"] or 0.0 for cost in costs)
    return pytest.approx(reported), executor, advisors, sum(cost["unpriced"] for cost in costs)


@pytest.fixture(params=STORIES, ids=lambda story: story.__name__)
def story(request: pytest.FixtureRequest) -> Callable[[MockWorld], None]:
    chosen: Callable[[MockWorld], None] = request.param
    return chosen


def undisturbed(story: Callable[[MockWorld], None], root: Path) -> tuple[OutcomeDocument, tuple[object, ...]]:
    document = recorded(world_of(story), root / "calm", root / "calm.sqlite3")
    assert document is not None
    return document, counted(root / "calm.sqlite3")


@pytest.mark.every_case
def test_what_a_killed_run_paid_is_counted_once_wherever_it_was_killed(
    story: Callable[[MockWorld], None], tmp_path: Path
) -> None:
    """Also between a reply that is on disk and the event that tells of it: then the next run carries its cost."""
    whole, once = undisturbed(story, tmp_path)
    for number in range(2, len(whole.events) + 1):
        world, root, ledger = world_of(story), tmp_path / f"kept-{number}", tmp_path / f"{number}.sqlite3"
        recorded(world, root, ledger, dies_before=number)
        document = recorded(world, root, ledger)
        assert document is not None
        assert counted(ledger) == once, f"killed before event {number}, {whole.events[number - 1].kind}"


def test_a_reply_whose_payer_is_not_known_is_counted_once_however_often_it_is_given(
    story: Callable[[MockWorld], None], tmp_path: Path
) -> None:
    whole, once = undisturbed(story, tmp_path)
    gap = next(n for n, e in enumerate(whole.events, 1) if isinstance(e, CallEnded) and e.role is Role.EXECUTOR)
    world, ledger = world_of(story), tmp_path / "ledger.sqlite3"
    recorded(world, tmp_path / "kept", ledger, dies_before=gap)
    for later in (gap + 1, gap + 2):
        assert recorded(world, tmp_path / "kept", ledger, dies_before=later) is None
    assert recorded(world, tmp_path / "kept", ledger) is not None
    assert counted(ledger) == once


def test_ledgers_of_two_places_count_it_once_when_they_are_merged(
    story: Callable[[MockWorld], None], tmp_path: Path
) -> None:
    whole, once = undisturbed(story, tmp_path)
    world, here, there = world_of(story), tmp_path / "here.sqlite3", tmp_path / "there.sqlite3"
    recorded(world, tmp_path / "kept", there, dies_before=len(whole.events) - 1)
    recorded(world, tmp_path / "kept", here)
    assert counted(here) == once, "the run that paid is not in this ledger"
    merge(here, there)
    assert counted(here) == once


@pytest.mark.one_in(2)
def test_the_dashboard_counts_what_a_rollup_counts_whichever_ledgers_are_merged(
    story: Callable[[MockWorld], None], tmp_path: Path
) -> None:
    whole, once = undisturbed(story, tmp_path)
    world, ledger, theirs = world_of(story), tmp_path / "ledger.sqlite3", tmp_path / "theirs.sqlite3"
    recorded(world, tmp_path / "kept", theirs, dies_before=len(whole.events) - 1)
    assert recorded(world, tmp_path / "kept", ledger, dies_before=len(whole.events) - 1) is None
    recorded(world, tmp_path / "kept", ledger)
    assert on_the_first_page(ledger, tmp_path / "site") == once[:4], "the run that paid is not in this ledger"
    merge(ledger, theirs)
    assert on_the_first_page(ledger, tmp_path / "site") == once[:4] == counted(ledger)[:4]


def test_an_event_says_who_paid_for_a_kept_reply(tmp_path: Path) -> None:
    world, ledger = world_of(with_prices), tmp_path / "ledger.sqlite3"
    whole, _ = undisturbed(with_prices, tmp_path)
    recorded(world, tmp_path / "kept", ledger, dies_before=len(whole.events))
    document = recorded(world, tmp_path / "kept", ledger)
    assert document is not None
    first = [event for event in whole.events if isinstance(event, CallEnded)]
    again = [event for event in document.events if isinstance(event, CallEnded)]
    assert {event.paid_by for event in first} == {""}
    assert {event.paid_by for event in again} == {"run_20260105T090000Z_00000001"}
    assert [event.reply for event in again] == [event.reply for event in first]
    assert len({event.reply for event in first}) == len(first)
