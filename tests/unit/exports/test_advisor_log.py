"""``.advisor/<run>.json`` says what the events say, also of a review that was killed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.scenarios.five_stories import (
    STORIES,
    a_veto_then_a_recovery,
    an_approval_after_consults,
    answers_that_do_not_come,
)
from tests.unit.outcome.altered import of_a_council

from review_advisor.ledger.artifacts import AdvisorLog, advisor_log
from review_advisor.mockworld.agents import approve, confirm, plan, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded


def told(story: object) -> OutcomeDocument:
    world = MockWorld()
    assert callable(story)
    story(world)
    return world.review()


def test_consults_stand_between_the_plan_and_the_judgement() -> None:
    document = told(an_approval_after_consults)
    log = advisor_log(document.events)
    assert (log.task_id, log.final_answer) == ("run-1", "approved: the verdict is confirmed")
    assert [(call.role.value, call.recommendation) for call in log.advisor_calls] == [
        ("pre_flight", "values may clash"),
        ("mid_flight", "seven may repeat"),
        ("mid_flight", None),
        ("mid_flight", "nine may not"),
        ("post_verify", "APPROVE: the verdict is right"),
    ]
    assert [call.prompt for call in log.advisor_calls] == [None, "May seven repeat?", "And eight?", "And nine?", None]
    assert log.advisor_calls[0].trigger == "30 changed lines of code, more than 20"
    (step,) = log.confidence_log
    assert (step.step, step.confidence, step.threshold, step.escalated) == (
        *("pr_review, part 1, attempt 1", 0.9, None),
        True,
    )


def test_each_attempt_has_its_judgement() -> None:
    log = advisor_log(told(a_veto_then_a_recovery).events)
    said = [call.recommendation for call in log.advisor_calls if call.role is Role.POST_VERIFY]
    assert said == ["VETO: the verdict is wrong", "APPROVE: the verdict is right"]
    assert [step.escalated for step in log.confidence_log] == [False, True]


def test_a_question_that_the_cap_denied_is_no_call_of_the_advisor() -> None:
    def story(world: MockWorld) -> None:
        world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "1")
        world.agents.script(
            Role.EXECUTOR, approve().after_asking("one?"), approve(summary="again").after_asking("two?")
        )
        world.agents.script(Role.POST_VERIFY, veto("look again"))

    log = advisor_log(told(story).events)
    assert [call.prompt for call in log.advisor_calls if call.role is Role.MID_FLIGHT] == ["one?"]
    assert [step.escalated for step in log.confidence_log] == [True, False]


def test_an_answer_that_did_not_come_is_no_recommendation() -> None:
    log = advisor_log(told(answers_that_do_not_come).events)
    assert {call.recommendation for call in log.advisor_calls} == {None}


def test_each_member_of_a_council_is_named_and_a_lost_one_says_why() -> None:
    log = advisor_log(told(of_a_council).events)
    first, last = ([call for call in log.advisor_calls if call.role is Role.POST_VERIFY][n] for n in (0, -1))
    assert (first.advisor, first.recommendation) == ("post_verify", "by itself: approve")
    assert (last.advisor, last.recommendation, last.reason) == ("tester", None, "crash")
    assert {call.advisor for call in log.advisor_calls} == {"pre_flight", "post_verify", "security", "tester"}


def test_tokens_are_split_between_executor_and_advisor() -> None:
    def story(world: MockWorld) -> None:
        world.agents.script(Role.PRE_FLIGHT, replace(plan(), output_tokens=50))
        world.agents.script(Role.EXECUTOR, replace(approve(), output_tokens=900))
        world.agents.script(Role.POST_VERIFY, replace(confirm(), output_tokens=50))

    split = advisor_log(told(story).events).cost_split
    assert (split.executor_tokens, split.advisor_tokens, split.advisor_fraction) == (900, 100, 0.1)
    assert (split.sonnet_tokens, split.opus_tokens, split.opus_fraction) == (900, 100, 0.1)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_review_that_was_killed_has_its_log_too(story: object) -> None:
    events = told(story).events
    for number in range(1, len(events)):
        log = advisor_log(events[:number])
        assert log.final_answer is None
        advised = (Role.PRE_FLIGHT, Role.POST_VERIFY)
        ended = [each for each in events[:number] if isinstance(each, CallEnded) and each.role in advised]
        assert len([call for call in log.advisor_calls if call.role in advised]) == len(ended)
        assert AdvisorLog.model_validate(json.loads(log.model_dump_json())) == log
    assert advisor_log(events[:1]).cost_split.opus_fraction is None


def test_what_does_not_begin_with_a_policy_is_no_review() -> None:
    with pytest.raises(TypeError):
        advisor_log(told(a_veto_then_a_recovery).events[1:])
