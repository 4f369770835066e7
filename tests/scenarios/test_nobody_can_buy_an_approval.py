"""Our own caps end calls as refusals, never as answers that were merely lost."""

from dataclasses import replace

import pytest

from review_advisor.agents.calls import LostReason
from review_advisor.agents.prompts import LONGEST_BODY
from review_advisor.mockworld.agents import approve, lost
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.policy import Rules
from review_advisor.policy.surfaces import Role
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome


def test_a_post_verify_that_reaches_its_money_cap_in_flight_escalates(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, lost(LostReason.CALL_BUDGET).costing(1.0))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.exit_code == 11
    assert "post-verify was refused" in document.because[0]
    assert world.asked[-1] == "post_verify"
    assert document.flags.lost == ("pr_review/post_verify",)


def test_a_post_verify_that_the_reviews_end_cuts_short_escalates(world: MockWorld) -> None:
    world.rules = Rules(call_seconds=600, review_seconds=700)
    world.agents.script(Role.EXECUTOR, approve().taking(300))
    world.agents.script(Role.POST_VERIFY, lost(LostReason.TIMEOUT).taking(400))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert "the time was over" in document.because[0]


@pytest.mark.parametrize(
    "reason,outcome", [(LostReason.SILENT, Outcome.APPROVED), (LostReason.TIMEOUT, Outcome.ESCALATED)]
)
def test_a_post_verify_that_is_silent_is_an_outage_and_one_that_works_too_long_calls_a_human(
    world: MockWorld, reason: LostReason, outcome: Outcome
) -> None:
    world.agents.script(Role.POST_VERIFY, lost(reason).taking(600))
    document = world.review()
    assert (document.outcome, document.flags.degraded) == (outcome, True)


def test_what_a_call_cost_before_its_cap_is_counted(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, lost(LostReason.CALL_BUDGET).costing(0.75))
    document = world.review()
    (row,) = [row for row in document.cost if row.role is Role.POST_VERIFY]
    assert row.usage.cost_usd == pytest.approx(0.75)


def test_an_executor_that_reaches_its_cap_goes_to_a_human_unread(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, lost(LostReason.CALL_BUDGET))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert [file.read for file in document.coverage] == ["not"]
    assert Role.POST_VERIFY.value not in world.asked


def test_what_the_prompts_shorten_is_said_in_the_report(world: MockWorld) -> None:

    world.source.stated = replace(world.source.stated, body="x" * (LONGEST_BODY + 5))
    document = world.review()
    assert document.cut == (f"the description after its first {LONGEST_BODY} characters",)
    assert "shortened in the prompts: the description" in report_text(document)
    assert "[cut here: 5 more characters were not sent]" in world.calls(Role.EXECUTOR)[0].prompt
