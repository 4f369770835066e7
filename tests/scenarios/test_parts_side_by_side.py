"""The parts of a large change, four at a time: what a reader gets does not depend on which part was quicker."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from benchmarks._side_by_side import SharedClock
from tests.scenarios.reading import shown

from review_advisor.agents.calls import AgentCall, Answered, Consults, Lost
from review_advisor.mockworld.agents import (
    FakeAdvisorRunner,
    Line,
    approve,
    confirm,
    credit_gone,
    finding,
    garbage,
    plan,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.budgets import JOBS
from review_advisor.policy.policy import Rules
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, counted_money, outcome_document, outcome_json
from review_advisor.review.events import CallEnded, CallStarted, Event, OfCall
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

PARTS = 9


WORKFLOW = Path("src/review_advisor/templates/review-advisor.yml")
SECONDS = {Role.PRE_FLIGHT: 90.0, Role.EXECUTOR: 240.0, Role.POST_VERIFY: 75.0}
"""How long a call about a full part takes in the simulation of a very large change: longer than measured ones."""
COSTS = {Role.PRE_FLIGHT: 0.1, Role.EXECUTOR: 0.75, Role.POST_VERIFY: 0.36}
"""What it costs, in US dollars: together the README's price of 4,000 lines, which are about one part."""
OF_A_RETRY = 0.3
"""A retry reads the change from the cache."""


class ByPart(FakeAdvisorRunner):
    """Agents whose lines are given for each part, and for which each call takes as long as its story says."""

    lines: dict[tuple[Role, int, int], Line]
    seconds: dict[int, float]

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        usual = {Role.EXECUTOR: approve(), Role.POST_VERIFY: confirm()}
        asks = sum((each.role, each.shard) == (call.role, call.shard) for each in self.asked)
        line = self.lines.get((call.role, call.shard, asks)) or usual.get(call.role)
        if line is not None:
            self.struck[len(self.asked) + 1] = line.taking(self.seconds.get(call.shard, 1.0))
        return super().run(call, consults)


def side_by_side(lines: dict[tuple[Role, int, int], Line], seconds: dict[int, float], parts: int = PARTS) -> MockWorld:
    """A world with a change of so many parts, and agents who take ``seconds`` over each call of a part."""
    clock = SharedClock()
    agents = ByPart(clock)
    agents.lines, agents.seconds = lines, seconds
    world = MockWorld(clock, agents)
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(f"src/m{number}.py") for number in range(parts)))
    world.threads, world.jobs = clock.threads, JOBS
    return world


def timeless(event: Event) -> Event:
    """The event without its moment, and without how long its call took."""
    now = replace(event, at=MockWorld().clock.moment)
    return replace(now, duration_seconds=0.0) if isinstance(now, CallEnded) else now


EVENTFUL = {
    (Role.EXECUTOR, 1, 0): reject(finding("src/m1.py", 3, "value = 3")),
    (Role.EXECUTOR, 2, 0): garbage(),
    (Role.POST_VERIFY, 4, 0): veto("one is missing"),
    (Role.EXECUTOR, 4, 1): approve(finding("src/m4.py", 1, "value = 1", "low")),
    (Role.EXECUTOR, 7, 0): reject(finding("src/m7.py", 5, "value = 5"), finding("src/m7.py", 6, "value = 6")),
}
"""A rejection, a reply that is asked for again, a veto that is answered, and a rejection with two findings."""


def played(seed: int) -> tuple[OutcomeDocument, MockWorld]:
    dice = random.Random(seed)
    world = side_by_side(EVENTFUL, {part: dice.choice((1.0, 7.0, 60.0, 400.0)) for part in range(PARTS)})
    return world.review(), world


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(12))
def test_what_comes_of_a_review_does_not_depend_on_which_part_ends_first(seed: int) -> None:
    (document, world), (other, elsewhere) = played(1_000), played(seed)
    assert [call.shard for call in world.agents.asked] != [call.shard for call in elsewhere.agents.asked]
    assert world.journal.events == list(document.events), "the ledger and the document are one stream"
    one, two = (outcome_document([*map(timeless, each.events)]) for each in (document, other))
    assert outcome_json(one) == outcome_json(two)
    assert report_text(one) == report_text(two)


def test_calls_are_numbered_part_by_part() -> None:
    document, _ = played(3)
    calls = [event for event in document.events if isinstance(event, CallStarted)]
    assert [call.number for call in calls] == list(range(1, len(calls) + 1))
    assert [call.shard for call in calls[1:]] == sorted(call.shard for call in calls[1:])
    assert [(call.shard, call.asks_again) for call in calls if call.asks_again] == [(2, 6)]
    assert unsound(document.events) is None
    assert {event.number for event in document.events if isinstance(event, OfCall)} - {0} == {*range(1, 23)}


def test_four_calls_at_a_time_take_a_quarter_of_the_time() -> None:
    world = side_by_side({}, dict.fromkeys(range(8), 50.0), parts=8)
    assert world.review().outcome is Outcome.APPROVED
    assert world.clock.seconds == 1 + 8 * 2 * 50 / 4, "the plan, and then two rounds of two calls each"


def test_a_stop_with_four_at_once_starts_no_further_call() -> None:
    stop = {(Role.EXECUTOR, 2, 0): credit_gone()}
    world = side_by_side(stop, {0: 90.0, 1: 90.0, 2: 30.0, 3: 90.0})
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.STOPPED, 12)
    assert [(call.role, call.shard) for call in world.agents.asked[1:]] == [(Role.EXECUTOR, n) for n in range(4)]
    assert world.agents.ended_running == 1
    assert unsound(document.events) is None


def test_the_surfaces_of_a_large_change_follow_one_another() -> None:
    world = side_by_side({}, {})
    world.change(*(edited(f"src/m{number}.py") for number in range(3)), spec="a spec")
    document = world.review()
    surfaces = [event.surface for event in document.events if isinstance(event, CallStarted)]
    assert surfaces == [Surface.PR_REVIEW] * 7 + [Surface.PRE_MERGE_SPEC_CHECK] * 6


class Slow(FakeAdvisorRunner):
    """Agents who take long, and cost ``dear`` times what the README says. Every eighth part is vetoed once."""

    dear: float = 1.0

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        answers = {Role.PRE_FLIGHT: plan(), Role.EXECUTOR: approve(), Role.POST_VERIFY: confirm()}
        line = answers[call.role]
        if call.role is Role.EXECUTOR and call.attempt:
            path = re.findall(r"src/package_\d+/m\d+\.py", shown(call, "DIFF"))[0]
            line = approve(finding(path, 1, "value_1 = compute(left, right)", "low"))
        if call.role is Role.POST_VERIFY and not call.attempt and call.shard % 8 == 0:
            line = veto("one is missing")
        usd = self.dear * COSTS[call.role] * (OF_A_RETRY if call.attempt else 1.0)
        self.struck[len(self.asked) + 1] = line.taking(SECONDS[call.role]).costing(usd)
        return super().run(call, consults)


def of_100_000_lines(dear: float = 1.0) -> MockWorld:
    clock = SharedClock()
    agents = Slow(clock)
    agents.dear = dear
    world = MockWorld(clock, agents)
    text = "value_{n} = compute(left, right)  # forty-odd"
    world.change(*(edited(f"src/package_{number % 40}/m{number}.py", 100, text) for number in range(1_000)))
    world.threads = clock.threads
    return world


@pytest.mark.every_case
def test_a_review_of_100_000_lines_finishes_inside_the_shipped_job() -> None:
    """Simulated seconds of the world's clock, with the settings and the job that ship."""
    world = of_100_000_lines()
    world.jobs = JOBS
    document = world.review()
    minutes = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["review"]["timeout-minutes"]
    assert {file.read for file in document.coverage} == {"read"}
    assert len(document.surfaces[0].parts) > 20
    assert world.clock.seconds < minutes * 60 - 600, "ten minutes of the job are for all else"
    assert (document.outcome, document.flags.recovered) == (Outcome.APPROVED, True)
    assert 26.0 < counted_money(document.events).usd < 27.0, "the configuration says about 27"


@pytest.mark.every_case
def test_dearer_100_000_lines_end_at_the_money_of_one_review_and_call_a_person() -> None:
    """Whoever sends so large a change may be a stranger: the owner pays more only by configuration."""
    world = of_100_000_lines(dear=1.5)
    world.jobs = JOBS
    document = world.review()
    most = document.policy.budgets.max_usd
    assert most == Rules().max_usd
    assert counted_money(document.events).usd < most + JOBS * 1.5 * COSTS[Role.EXECUTOR]
    assert document.outcome is Outcome.ESCALATED
    assert "not" in {file.read for file in document.coverage}
