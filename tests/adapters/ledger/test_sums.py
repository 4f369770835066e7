"""What a period adds up to, where the boundaries lie: of time, of what counts at all, of what counts once."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.adapters.ledgers import Story, record, told

from review_advisor.ledger.kpis import Sums, kpis
from review_advisor.ledger.queries import Period, RunFilter
from review_advisor.ledger.run_queries import list_runs, show_run
from review_advisor.ledger.sums import add_up
from review_advisor.mockworld.agents import approve, confirm, credit_gone, evidence, guidance, lost, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def sums(ledger: Path, period: Period | None = None) -> Sums:
    return add_up(ledger, period or Period()).sums


# --- what counts at all -----------------------------------------------------------------------------------------------


def degraded(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), surface=Surface.PR_REVIEW)
    world.agents.script(Role.POST_VERIFY, lost(), surface=Surface.PR_REVIEW)


def recovered(world: MockWorld) -> None:
    second = approve(answers=(evidence("d0.1", "src/app.py", "value = 7"),))
    world.agents.script(Role.EXECUTOR, approve(), second, surface=Surface.PR_REVIEW)
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"), confirm(), surface=Surface.PR_REVIEW)


def exhausted(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, *[veto("seven is taken")] * 4, surface=Surface.PR_REVIEW)
    answers = [approve(answers=(evidence(f"d{n}.1", "src/app.py", "value = 7"),)) for n in range(4)]
    world.agents.script(Role.EXECUTOR, approve(), *answers, surface=Surface.PR_REVIEW)


def consulting(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking("May seven repeat?"), surface=Surface.PR_REVIEW)
    world.agents.script(Role.MID_FLIGHT, guidance("it may"))


def disabled(world: MockWorld) -> None:
    world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED", "no")


STORIES: dict[Story, str] = {
    degraded: "degraded",
    recovered: "recovered",
    exhausted: "exhausted",
    consulting: "consults",
    disabled: "disabled",
}
"""Each with the column of its run that tells of it."""


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_what_stopped_on_its_second_surface_has_no_say_in_any_rate(ledger: Path, story: Story) -> None:
    """Whatever its first one came to. Its tokens and turns were paid for, and count."""

    def stops_then(world: MockWorld) -> None:
        world.change(edited("src/app.py"), spec="every value shall be prime")
        story(world)
        world.agents.script(Role.EXECUTOR, credit_gone(), surface=Surface.PRE_MERGE_SPEC_CHECK)

    record(ledger, told(stops_then))
    (run,) = list_runs(ledger, RunFilter())
    assert (run.status, bool(getattr(run, STORIES[story]))) == ("stopped", True)
    found = sums(ledger)
    assert (found.runs, found.stopped, found.judged, found.advised) == (1, 1, 0, 0)
    assert (found.degraded, found.recovered, found.exhausted, found.vetoed, found.consulting) == (0, 0, 0, 0, 0)
    paid = ("consult_share", "assurance_share", "executor_turns", "cached_share")
    values = {kpi.name: kpi.value for kpi in kpis(found) if kpi.name not in paid}
    assert set(values.values()) == {None}

    def ends_then(world: MockWorld) -> None:
        world.change(edited("src/app.py"), spec="every value shall be prime")
        story(world)

    record(ledger, told(ends_then, 2))
    found = sums(ledger)
    assert (found.judged, found.advised) == (1, story is not disabled)
    assert story is disabled or getattr(found, story.__name__) == 1


def test_a_consult_of_a_review_whose_advisor_was_switched_off_is_in_no_rate(ledger: Path) -> None:
    def story(world: MockWorld) -> None:
        world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED", "no")
        world.agents.script(Role.EXECUTOR, approve().after_asking("May seven repeat?"))
        world.agents.script(Role.MID_FLIGHT, guidance("it may"))

    record(ledger, told(story))
    (run,) = list_runs(ledger, RunFilter())
    assert (run.disabled, run.consults) == (True, 1)
    found = sums(ledger)
    assert (found.judged, found.advised, found.consulting) == (1, 0, 0)


# --- what counts once -------------------------------------------------------------------------------------------------


def test_an_objection_that_is_contested_at_each_attempt_is_one(ledger: Path) -> None:
    def story(world: MockWorld) -> None:
        world.change(edited("src/app.py", 201))  # so much has two retries
        first, second = (evidence(f"d{n}.1", "src/app.py", "value = 7") for n in (0, 1))
        world.agents.script(Role.EXECUTOR, approve(), approve(answers=(first,)), approve(answers=(first, second)))
        world.agents.script(Role.POST_VERIFY, veto("seven is taken"), veto("nor is it prime"), confirm())

    record(ledger, told(story))
    rows = show_run(ledger, "run-1").tables["dispositions"]
    assert [row["disagreement"] for row in rows] == ["d0.1", "d0.1", "d1.1"]
    assert sums(ledger).contested == 2


# --- where a period begins and ends -----------------------------------------------------------------------------------


def test_a_period_holds_its_first_moment_and_not_its_last(ledger: Path) -> None:
    record(ledger, told(), told(number=2))
    first, second = sorted(datetime.fromisoformat(run.started_at) for run in list_runs(ledger, RunFilter()))
    assert sums(ledger, Period(since=first)).runs == 2
    assert sums(ledger, Period(since=first + timedelta(microseconds=1))).runs == 1
    assert sums(ledger, Period(until=second)).runs == 1
    assert sums(ledger, Period(until=second + timedelta(microseconds=1))).runs == 2
    assert sums(ledger, Period(first, second)).runs == 1
