"""Rate limits and overloaded servers slow all calls of a review down; they lose no part of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pytest
from benchmarks._side_by_side import SharedClock

from review_advisor.agents.calls import AgentCall, Answered, Consults, Lost, LostReason
from review_advisor.mockworld.agents import FakeAdvisorRunner, approve, confirm, finding, guidance, lost, reject
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.budgets import JOBS
from review_advisor.policy.outage_rules import OutageRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded, Consulted
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.stop import ReviewInterrupted

BUSY = (LostReason.RATE_LIMITED, LostReason.SERVER_ERROR)


@dataclass
class Limited(FakeAdvisorRunner):
    """Agents behind an API that refuses every call beyond ``capacity`` at a time, and all before ``opens``."""

    capacity: int = 99
    opens: float = 0.0
    reason: LostReason = LostReason.RATE_LIMITED
    running: int = 0
    most: int = 0
    refused: int = 0
    told_at: float = 1e12

    def check_interrupt(self) -> None:
        if self.clock.monotonic() >= self.told_at:
            raise ReviewInterrupted("told to end")

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        over = call.role is not Role.PRE_FLIGHT and (
            self.running >= self.capacity or self.clock.monotonic() < self.opens
        )
        if over:
            self.refused += 1
            self.struck[len(self.asked) + 1] = lost(self.reason)
        elif call.role is Role.EXECUTOR:
            self.struck[len(self.asked) + 1] = approve().taking(60)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return super().run(call, consults)
        finally:
            self.running -= 1


def limited(parts: int = 8, **api: object) -> MockWorld:
    clock = SharedClock()
    world = MockWorld(clock, Limited(clock, **api))  # type: ignore[arg-type]
    world.rules = replace(world.rules, shard_tokens=180, outage=OutageRules(busy_tries=5))
    world.change(*(edited(f"src/m{number}.py") for number in range(parts)))
    world.threads, world.jobs = clock.threads, JOBS
    return world


@pytest.mark.parametrize("reason", BUSY)
def test_an_api_that_takes_two_calls_at_a_time_loses_no_part_of_a_review(reason: LostReason) -> None:
    world = limited(capacity=2, reason=reason)
    document = world.review()
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, False)
    assert {file.read for file in document.coverage} == {"read"}
    assert isinstance(world.agents, Limited)
    assert 0 < world.agents.refused < 12, "calls adapt to the limit instead of trying it again and again"
    assert unsound(document.events) is None


def test_a_burst_of_refusals_is_one_pause_and_no_call_starts_in_it() -> None:
    world = limited(opens=5.0)
    document = world.review()
    starts = [played.at for played in world.agents.played if played.call.role is Role.EXECUTOR]
    assert starts[:4] == [1.0] * 4
    assert min(starts[4:]) == 17.0, "the first refusal came at second 2, and the pause takes 15"
    assert starts.count(17.0) == 2, "half as many begin together"
    assert document.outcome is Outcome.APPROVED


def test_a_limit_that_lasts_loses_the_part_which_is_named_and_never_approved() -> None:
    world = limited(parts=2, opens=1e9)
    document = world.review()
    tries = [call for call in world.agents.asked if call.role is Role.EXECUTOR]
    assert len(tries) == 2 * 6
    assert document.outcome is Outcome.STOPPED
    assert {file.read for file in document.coverage} == {"not"}
    assert unsound(document.events) is None


def test_a_review_that_waits_for_the_limit_keeps_to_its_time() -> None:
    world = limited(parts=2, opens=1e9)
    world.rules = replace(world.rules, review_seconds=60)
    document = world.review()
    assert world.clock.seconds <= 212
    assert document.outcome is Outcome.ESCALATED
    assert any("all 210 seconds are used" in words for words in document.because)


def test_a_judge_behind_a_rate_limit_is_waited_for_before_its_approval_is_degraded() -> None:
    world = limited(parts=1, opens=130.0)
    document = world.review()
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, False)


@pytest.mark.parametrize("reason", sorted(set(LostReason) - {*BUSY, LostReason.TOLERATED_RATE_LIMIT}))
def test_no_other_loss_slows_anything_down_or_is_tried_so_often(reason: LostReason) -> None:
    """What the change may have caused is asked once more at most: nobody is asked until the answer pleases."""
    world = limited(parts=1)
    world.agents.struck.clear()
    world.agents.script(Role.POST_VERIFY, lost(reason), lost(reason))
    world.review()
    assert len(world.calls(Role.POST_VERIFY)) <= 2
    assert world.clock.seconds < 70


LIMITED = lost(LostReason.RATE_LIMITED)


def tries(world: MockWorld, rate_limits: Literal["escalate", "soft"] = "escalate") -> None:
    outage = OutageRules(60.0, ("haiku",), busy_tries=1, rate_limits=rate_limits)
    world.rules = replace(world.rules, outage=outage)


def test_a_rate_limit_that_outlasts_its_tries_leaves_no_approval_and_asks_no_other_judge() -> None:
    """The author chooses the size and the number of pull requests, so no limit buys an approval."""
    world = MockWorld()
    tries(world)
    world.agents.script(Role.POST_VERIFY, LIMITED, LIMITED)
    document = world.review()
    assert (document.outcome, document.exit_code, document.flags.degraded) == (Outcome.ESCALATED, 11, True)
    assert document.because == ("post-verify was lost (rate_limited), and the change itself may be the cause",)
    assert [call.model for call in world.calls(Role.POST_VERIFY)] == ["opus", "opus"]


def test_a_rejection_stands_where_a_rate_limit_took_its_judgement() -> None:
    world = MockWorld()
    tries(world)
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 1, "value = 1")))
    world.agents.script(Role.POST_VERIFY, LIMITED, LIMITED)
    document = world.review()
    assert (document.outcome, document.flags.degraded) == (Outcome.CHANGES_REQUESTED, True)


def test_a_team_may_count_rate_limits_as_outages() -> None:
    world = MockWorld()
    tries(world, "soft")
    world.agents.script(Role.POST_VERIFY, LIMITED, LIMITED, confirm())
    document = world.review()
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, False)
    assert unsound(document.events) is None
    world.agents.script(Role.POST_VERIFY, *[LIMITED] * 3, confirm())
    document = world.review()
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, True)
    assert "the fallback model haiku confirms" in document.because[0]
    assert unsound(document.events) is None


def test_nobody_tolerates_a_rate_limit_against_the_policy() -> None:
    world = MockWorld()
    world.agents.script(Role.POST_VERIFY, lost(LostReason.TOLERATED_RATE_LIMIT))
    assert unsound(world.review().events) == "a rate limit is tolerated against the policy"


def test_an_interrupt_ends_the_wait_for_the_limit_at_once() -> None:
    world = limited(opens=1e9)
    assert isinstance(world.agents, Limited)
    world.agents.told_at = 20.0
    document = world.review()
    assert document.outcome is Outcome.STOPPED
    assert world.clock.seconds <= 22
    assert sum(isinstance(event, CallEnded) for event in document.events) <= 1 + 4 + 2


@pytest.mark.parametrize("reason", BUSY)
@pytest.mark.parametrize("tries", [1, 2, 5])
def test_a_stop_signal_heard_before_a_rate_limit_still_counts(tries: int, reason: LostReason) -> None:
    """Each try may consult, and the guidance of every one of them counts."""
    world = MockWorld()
    world.rules = replace(world.rules, outage=OutageRules(busy_tries=5))
    busy = lost(reason)
    world.agents.script(Role.EXECUTOR, busy.after_asking("one?"), *[busy] * (tries - 1), approve())
    world.agents.script(Role.MID_FLIGHT, guidance("call a human", stop=True))
    document = world.review()
    assert len(world.calls(Role.EXECUTOR)) == tries + 1
    assert sum(isinstance(event, Consulted) for event in document.events) == 1
    assert document.outcome is Outcome.ESCALATED
    assert document.because == ("the advisor asked to stop: call a human",)
    assert unsound(document.events) is None
