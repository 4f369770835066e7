from tests.scenarios.reading import is_shown, moves

from review_advisor.agents.calls import LostReason
from review_advisor.mockworld.agents import finding, garbage, lost, reject
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

FAIL_AS_VETO = "HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO"


def test_where_trust_is_high_a_lost_judgement_goes_to_a_human_at_once_d11(world: MockWorld) -> None:
    """An outage burns no retries: one call, then a human."""
    world.switch(FAIL_AS_VETO, "true")
    world.change(edited("src/app.py", 250))
    world.agents.script(Role.POST_VERIFY, lost(LostReason.SERVER_ERROR))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert moves(document) == ["escalate"]
    assert document.because == ("post-verify was lost (server_error) and counts as a veto",)


def test_a_lost_judgement_is_not_a_reasoned_veto(world: MockWorld) -> None:
    world.switch(FAIL_AS_VETO, "1")
    world.agents.script(Role.POST_VERIFY, lost())
    document = world.review()
    assert document.flags.degraded
    assert not document.flags.exhausted
    (ruling,) = document.surfaces[0].parts[0].rulings
    assert ruling.verdict is None
    assert not any(is_shown(call, "TRANSCRIPT") for call in world.agents.asked)


def test_a_reply_that_stays_unusable_counts_as_lost(world: MockWorld) -> None:
    world.switch(FAIL_AS_VETO, "YES")
    world.agents.script(Role.POST_VERIFY, garbage(), garbage())
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert len(world.calls(Role.POST_VERIFY)) == 2


def test_a_rejection_that_nobody_judged_goes_to_a_human_too(world: MockWorld) -> None:
    world.switch(FAIL_AS_VETO, "on")
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 1, "value = 1")))
    world.agents.script(Role.POST_VERIFY, lost())
    assert world.review().outcome is Outcome.ESCALATED


def test_the_switch_changes_nothing_while_the_judge_answers(world: MockWorld) -> None:
    world.switch(FAIL_AS_VETO, "true")
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert not document.flags.degraded


def test_the_switch_says_nothing_about_the_plan(world: MockWorld) -> None:
    world.switch(FAIL_AS_VETO, "true")
    world.agents.script(Role.PRE_FLIGHT, lost())
    assert world.review().outcome is Outcome.APPROVED
    assert world.artifacts.files == {}
