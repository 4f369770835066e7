"""A part of a review runs in shadow: asked after the outcome, by calls of its own, and without effect on the review."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.shadow.test_shadow_rule import rule, shadow

from review_advisor.agents.calls import LostReason
from review_advisor.ledger.shadow_rollup import shadow_decision
from review_advisor.mockworld.agents import (
    Line,
    approve,
    bug,
    confirm,
    credit_gone,
    finding,
    interrupted,
    lost,
    reject,
    veto,
    vote,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.roster_layers import shipped_advisors
from review_advisor.policy.shadow_rules import Shadow
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome
from review_advisor.review.shadow import Left, ShadowBegan, ShadowCalled, ShadowDecided, ShadowEnded

SECURITY = next(each for each in shipped_advisors() if each.id == "securityArchitect")


@pytest.fixture
def world() -> MockWorld:
    return MockWorld()


def decided(world: MockWorld) -> list[ShadowDecided]:
    return [each for each in world.shadow_events if isinstance(each, ShadowDecided)]


def decision(world: MockWorld) -> str:
    ended = [each for each in world.shadow_events if isinstance(each, ShadowEnded)]
    return shadow_decision(decided(world), finished=[each.status for each in ended] == ["finished"])


def run(world: MockWorld, which: Shadow, *judged: Line) -> OutcomeDocument:
    world.in_shadow.script(Role.POST_VERIFY, *judged)
    document = world.review()
    world.shadow(document, which)
    world.finish()
    return document


def test_a_shadow_judge_that_agrees_is_asked_once_about_the_same_report(world: MockWorld) -> None:
    document = run(world, shadow(model="another-opus", effort="high"), confirm())
    (real,) = world.calls(Role.POST_VERIFY)
    (call,) = world.in_shadow.asked
    assert (call.role, call.shadow, call.model, call.effort) == (Role.POST_VERIFY, "try", "another-opus", "high")
    assert (call.prompt, call.system_prompt) == (real.prompt, real.system_prompt)
    assert (real.shadow, document.outcome) == ("", Outcome.APPROVED)
    assert decision(world) == "agreed"


def test_a_veto_in_shadow_changes_nothing_and_is_recorded(world: MockWorld) -> None:
    alone = MockWorld().review()
    document = run(world, shadow(), veto("it loses data"))
    assert outcome_json(document) == outcome_json(alone)
    assert world.journal.events == list(document.events)
    (told,) = decided(world)
    assert (told.verdict, told.real_objects, told.shadow_objects) == ("approve", False, True)
    assert decision(world) == "would_veto"


def test_a_shadow_that_approves_what_was_vetoed_would_have_passed_it(world: MockWorld) -> None:
    world.change(edited("src/app.py", 3))
    world.agents.script(Role.EXECUTOR, approve(), approve(summary="looked again"))
    world.agents.script(Role.POST_VERIFY, veto("it loses data"))
    document = run(world, shadow(), confirm())
    assert document.outcome is not Outcome.APPROVED
    assert decision(world) == "would_pass"


def test_the_shadow_sees_the_first_report_and_no_word_of_the_real_judge(world: MockWorld) -> None:
    world.agents.script(
        Role.EXECUTOR, approve(summary="first"), reject(finding("src/app.py", 1, "value = 1"), summary="second")
    )
    world.agents.script(Role.POST_VERIFY, veto("the words of the real judge"))
    run(world, shadow(), confirm())
    (call,) = world.in_shadow.asked
    assert "first" in call.prompt
    assert "second" not in call.prompt
    assert "the words of the real judge" not in call.prompt


def test_no_prompt_of_the_review_holds_a_word_of_the_shadow(world: MockWorld) -> None:
    run(world, shadow(), veto("the words of the shadow", reasoning="the reasons of the shadow"))
    world.review()
    assert not any("of the shadow" in call.prompt for call in world.agents.asked)


def test_one_shipped_advisor_alone_judges_as_a_member_of_a_council_does(world: MockWorld) -> None:
    world.in_shadow.script(Role.POST_VERIFY, vote(0, 10, 90), advisor="securityArchitect")
    document = run(world, shadow(advisors=("securityArchitect",), known=(SECURITY,)))
    assert [call.advisor for call in world.in_shadow.asked] == ["securityArchitect"] * 2
    assert document.outcome is Outcome.APPROVED
    assert decision(world) == "would_veto"


def test_an_advisor_without_a_vote_in_reviews_has_one_in_shadow(world: MockWorld) -> None:
    advises = replace(SECURITY, inline=True)
    world.in_shadow.script(Role.POST_VERIFY, vote(0, 10, 90), advisor="securityArchitect")
    run(world, shadow(advisors=("securityArchitect",), known=(advises,)))
    assert decision(world) == "would_veto"


def test_a_council_in_shadow_asks_each_member_and_rules_by_its_votes(world: MockWorld) -> None:
    run(world, shadow(advisors=("hydraflow-review-advisor", "securityArchitect"), known=(SECURITY,)))
    assert len(world.in_shadow.asked) == 4
    assert decision(world) == "agreed"


def test_an_executor_in_shadow_reviews_the_change_itself_and_consults_nobody(world: MockWorld) -> None:
    grave = finding("src/app.py", 3, "value = 3", severity="high")
    world.agents.script(Role.EXECUTOR, reject(grave))
    world.in_shadow.script(Role.EXECUTOR, approve())
    document = run(world, shadow(part="executor", model="small"))
    (call,) = world.in_shadow.asked
    assert (call.role, call.model, call.consults) == (Role.EXECUTOR, "small", None)
    (told,) = decided(world)
    assert (told.real_objects, told.shadow_objects) == (True, False)
    assert told.missed == tuple(each.id for each in document.findings)
    assert decision(world) == "differs"


def test_an_executor_in_shadow_that_finds_the_same_misses_nothing(world: MockWorld) -> None:
    grave = finding("src/app.py", 3, "value = 3", severity="high")
    world.agents.script(Role.EXECUTOR, reject(grave))
    world.in_shadow.script(Role.EXECUTOR, reject(grave))
    run(world, shadow(part="executor"))
    (told,) = decided(world)
    assert told.missed == ()
    assert decision(world) == "agreed"


def test_a_lost_answer_of_the_shadow_is_lost_and_no_agreement(world: MockWorld) -> None:
    run(world, shadow(), lost(LostReason.TIMEOUT))
    assert [each.shadow_objects for each in decided(world)] == [None]
    assert decision(world) == "lost"


def test_its_own_cap_of_calls_ends_it_and_no_vote_that_the_cap_took_counts(world: MockWorld) -> None:
    document = run(
        world, shadow(advisors=("hydraflow-review-advisor", "securityArchitect"), known=(SECURITY,), calls=3)
    )
    assert len(world.in_shadow.asked) == 3
    assert world.shadow_events[-1].at >= document.ended_at
    assert [each.status for each in world.shadow_events if isinstance(each, ShadowEnded)] == ["capped"]
    assert decision(world) == "lost"


@pytest.mark.parametrize("left", [Left(0.0, 3_600.0), Left(100.0, 0.0), Left(-1.0, -1.0)])
def test_without_money_or_time_left_nobody_is_asked_and_the_record_says_why(world: MockWorld, left: Left) -> None:
    document = world.review()
    world.shadow(document, shadow(), left)
    assert world.in_shadow.asked == []
    assert [each.status for each in world.shadow_events if isinstance(each, ShadowEnded)] == ["capped"]
    assert [each.call.ended for each in world.shadow_events if isinstance(each, ShadowCalled)] == ["refused"]


def test_a_shadow_may_not_spend_more_than_its_own_cap(world: MockWorld) -> None:
    run(world, shadow(usd=0.25), confirm())
    (call,) = world.in_shadow.asked
    assert call.max_usd == pytest.approx(0.25)


@pytest.mark.parametrize("line", [credit_gone(), interrupted()])
def test_a_stop_ends_the_shadow_and_not_the_review(world: MockWorld, line: Line) -> None:
    document = run(world, shadow(), line)
    assert document.outcome is Outcome.APPROVED
    assert [each.status for each in world.shadow_events if isinstance(each, ShadowEnded)] == ["stopped"]
    assert decision(world) == "lost"


def test_a_bug_in_a_shadow_is_not_swallowed(world: MockWorld) -> None:
    with pytest.raises(type(bug().bug or Exception())):
        run(world, shadow(), bug())
    assert isinstance(world.shadow_events[0], ShadowBegan)
    assert decision(world) == "lost"


def test_a_stopped_review_has_nothing_to_stand_beside(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), credit_gone())
    world.agents.script(Role.POST_VERIFY, veto("it loses data"))
    document = world.review()
    assert document.outcome is Outcome.STOPPED
    assert world.shadow(document, shadow()) is None
    assert world.shadow_events == []


def test_static_checks_have_no_shadow(world: MockWorld) -> None:
    world.static = True
    assert world.shadow(world.review(), shadow()) is None
    assert world.in_shadow.asked == []


def test_a_judge_that_is_switched_off_can_be_tried_in_shadow(world: MockWorld) -> None:
    world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED", "false")
    document = run(world, shadow(), veto("it loses data"))
    assert (document.outcome, world.calls(Role.POST_VERIFY)) == (Outcome.APPROVED, [])
    assert decision(world) == "would_veto"


@pytest.mark.parametrize("part, name", [("judge", "post_verify"), ("executor", "executor")])
def test_a_version_of_the_prompts_is_tried_on_the_same_question_and_named_by_every_event(
    world: MockWorld, part: str, name: str
) -> None:
    world.source.guidelines = {f".review-advisor/instructions/terse/{name}.md": "In one breath."}
    document = run(world, shadow(part=part, instructions="terse"))
    (real,) = world.calls(Role(name))
    (call,) = world.in_shadow.asked
    assert (call.blocks[0], call.model, call.effort) == (real.blocks[0], real.model, real.effort)
    assert call.system_prompt == real.system_prompt.replace(f"[{name}]", "In one breath.") != real.system_prompt
    (called,) = (each.call.prompts for each in world.shadow_events if isinstance(each, ShadowCalled))
    began = world.shadow_events[0]
    assert isinstance(began, ShadowBegan)
    assert f"instructions terse ({called})" in began.setup
    assert called not in {each.prompts for each in document.events if isinstance(each, CallEnded)}


def test_a_shadow_runs_on_the_surfaces_that_it_names(world: MockWorld) -> None:
    world.change(edited("src/app.py"), spec="It must be fast.")
    run(world, shadow(surfaces=(Surface.PRE_MERGE_SPEC_CHECK,)), confirm())
    assert [call.surface for call in world.in_shadow.asked] == [Surface.PRE_MERGE_SPEC_CHECK]


def test_every_part_of_a_large_change_is_judged(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=2_000)
    world.change(*(edited(f"src/part{n}.py", 400) for n in range(3)))
    document = run(world, shadow(calls=50), confirm())
    parts = {part.shard for part in document.surfaces[0].parts}
    assert len(parts) > 1
    assert {each.shard for each in decided(world)} == parts


def test_the_first_event_names_the_review_and_the_caps(world: MockWorld) -> None:
    document = run(world, shadow(usd=0.5), confirm())
    began = world.shadow_events[0]
    assert isinstance(began, ShadowBegan)
    assert (began.of_run, began.shadow, began.max_usd) == (document.run_id, "try", 0.5)
    assert began.max_calls == rule().max_calls
