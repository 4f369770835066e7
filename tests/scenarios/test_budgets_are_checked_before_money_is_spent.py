from dataclasses import replace
from datetime import date

import pytest
from tests.scenarios.reading import calls_by_end, moves

from review_advisor.agents.calls import LostReason
from review_advisor.mockworld.agents import approve, confirm, lost, plan, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.prices import Price
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome

ONE_DOLLAR = replace(MockWorld().rules, max_usd=1.0)
TOO_LITTLE = "what is left of $1.00 is too little for another call"


def test_a_judgement_nobody_can_pay_calls_a_human_d44(world: MockWorld) -> None:
    world.rules = ONE_DOLLAR
    world.agents.script(Role.EXECUTOR, approve().costing(1.0))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert world.asked == ["pre_flight", "executor"]
    assert calls_by_end(document)["refused"] == ["post_verify"]
    assert document.because == (f"post-verify was refused ({TOO_LITTLE})",)
    assert document.flags.lost == ("pr_review/post_verify",)
    assert moves(document) == ["escalate"]


def test_a_report_nobody_can_pay_calls_a_human_and_the_files_are_named(world: MockWorld) -> None:
    world.rules = ONE_DOLLAR
    world.agents.script(Role.PRE_FLIGHT, plan().costing(1.5))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.because == (f"not reviewed: {TOO_LITTLE}",)
    assert [(file.path, file.read) for file in document.coverage] == [("src/app.py", "not")]
    assert world.asked == ["pre_flight"]


def test_a_refused_call_is_an_event_with_its_reason(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().costing(2.0))
    document = world.review()
    (refused,) = [event for event in document.events if isinstance(event, CallEnded) and event.ended == "refused"]
    assert (refused.role, refused.reason, refused.usage.cost_usd) == (Role.POST_VERIFY, "money", None)
    assert [cost.role for cost in document.cost] == [Role.EXECUTOR, Role.PRE_FLIGHT]


def test_each_call_may_spend_what_is_left(world: MockWorld) -> None:
    world.rules = ONE_DOLLAR
    world.agents.script(Role.PRE_FLIGHT, plan().costing(0.25))
    world.agents.script(Role.EXECUTOR, approve().costing(0.5))
    world.review()
    assert [call.max_usd for call in world.agents.asked] == [1.0, 0.75, 0.25]


DEAR = tuple(Price(model, date(2026, 1, 1), 100.0, 100.0, 10.0, 125.0) for model in ("sonnet", "opus"))
"""A call of this world costs about half a dollar."""


def test_a_judgement_that_the_remaining_money_cannot_pay_is_not_made_and_calls_a_human(world: MockWorld) -> None:
    """Who makes a change so expensive that its judge cannot be paid buys no approval."""
    world.rules = ONE_DOLLAR
    world.prices = DEAR
    world.agents.script(Role.EXECUTOR, approve().costing(0.9))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert world.asked == ["pre_flight", "executor"]
    (why,) = document.because
    assert "post-verify was refused (it costs at least $" in why
    assert "of $1.00 are $" in why


def test_a_report_that_the_money_cannot_pay_is_not_asked_for_and_the_files_are_named(world: MockWorld) -> None:
    world.prices = DEAR
    world.rules = replace(world.rules, max_usd=0.2)
    document = world.review()
    assert world.asked == ["pre_flight"]
    assert document.outcome is Outcome.ESCALATED
    assert [(file.path, file.read) for file in document.coverage] == [("src/app.py", "not")]
    assert "it costs at least $" in document.because[0]


def test_with_enough_money_the_same_calls_are_made(world: MockWorld) -> None:
    plain = world.review().outcome, [(call.role, call.max_usd) for call in world.agents.asked]
    priced = MockWorld()
    priced.rules, priced.prices = world.rules, DEAR
    assert (priced.review().outcome, [(call.role, call.max_usd) for call in priced.agents.asked]) == plain


@pytest.mark.parametrize("path, lines, usd", [("a.py", 1, 1.0), ("a.py", 201, 1.5), ("auth/a.py", 1, 2.0)])
def test_a_wider_blast_may_cost_more(world: MockWorld, path: str, lines: int, usd: float) -> None:
    world.change(edited(path, lines))
    assert world.review().policy.budgets.max_usd == pytest.approx(usd, abs=0.1)


def test_a_review_that_takes_too_long_calls_a_human_d44(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().taking(1800))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.because == ("post-verify was refused (all 1800 seconds are used)",)
    assert world.asked == ["pre_flight", "executor"]


def test_a_call_may_take_ten_minutes_and_never_longer_than_the_review(world: MockWorld) -> None:
    world.agents.script(Role.PRE_FLIGHT, plan().taking(500))
    world.agents.script(Role.EXECUTOR, approve().taking(1000))
    world.review()
    assert [call.timeout_seconds for call in world.agents.asked] == [600, 600, 300]


def test_a_cost_nobody_reported_stays_unknown(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().costing(None))
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert {cost.role: cost.usage.cost_usd for cost in document.cost} == {
        Role.EXECUTOR: None,
        Role.PRE_FLIGHT: 0.0,
        Role.POST_VERIFY: 0.0,
    }


def test_the_purse_is_the_teams_to_set(world: MockWorld) -> None:
    world.rules = replace(world.rules, max_usd=0.5)
    world.agents.script(Role.POST_VERIFY, confirm().costing(0.5))
    assert world.review().outcome is Outcome.APPROVED
    assert [call.max_usd for call in world.agents.asked] == [0.5] * 3


def test_a_judgement_that_reached_its_cap_in_flight_is_refused_not_lost_d44(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, lost(LostReason.CALL_BUDGET))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.because == ("post-verify was refused (the call reached its cap: scripted: call_budget)",)
    assert calls_by_end(document)["cut_short"] == ["post_verify"]
    assert document.flags.lost == ("pr_review/post_verify",)


def test_a_judgement_that_the_reviews_end_cut_off_is_refused_and_silence_is_an_outage(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().taking(1500), approve())
    world.agents.script(Role.POST_VERIFY, lost(LostReason.SILENT), lost(LostReason.SILENT))
    late, silent = world.review(), world.review()
    assert late.because == ("post-verify was refused (the time was over before the answer came)",)
    assert late.outcome is Outcome.ESCALATED
    assert silent.outcome is Outcome.APPROVED
    assert silent.flags.degraded


def test_a_report_that_was_cut_short_calls_a_human(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, lost(LostReason.CALL_BUDGET))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert [file.read for file in document.coverage] == ["not"]
    assert world.asked == ["pre_flight", "executor"]


MEASURED = {200: (0.52, 0.46), 1_000: (0.72, 0.36), 4_000: (1.70, 0.90)}
"""By changed lines: US dollars of a first attempt with its plan, and of each further one; the dearest measured."""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("path", ["src/app.py", "docs/guide.md", "auth/login.py"])
@pytest.mark.parametrize("lines", MEASURED)
def test_vetoes_do_not_drain_the_money_into_an_escalation(world: MockWorld, lines: int, path: str) -> None:
    """Whatever the blast radius, the measured cost of all retries that it gives is within the money."""
    world.change(edited(path, lines, "value_{n} = compute(left, right)  # forty-odd"))
    first, further = MEASURED[lines]
    retries = {BlastRadius.LOW: 1, BlastRadius.MEDIUM: 2, BlastRadius.HIGH: 3}
    world.agents.script(Role.EXECUTOR, approve().costing(first * 0.6))
    world.agents.script(Role.POST_VERIFY, veto("one is missing").costing(first * 0.4))
    document = world.review()
    policy = document.policy
    assert policy.budgets.max_usd > first + retries[policy.blast.radius] * further
    assert not calls_by_end(document).get("refused")


@pytest.mark.every_case
def test_a_line_that_is_not_sent_brings_no_money(world: MockWorld) -> None:
    """An author cannot raise what a review may spend by lines that nobody reads."""
    world.rules = replace(world.rules, shard_tokens=2_000)
    world.change(edited("src/app.py", 1, text="x" * 900_000))
    policy = world.review().policy
    attempts = 1 + policy.surfaces[0].retry_budget
    assert policy.budgets.max_usd <= attempts * (0.5 + 0.03 * 2)
