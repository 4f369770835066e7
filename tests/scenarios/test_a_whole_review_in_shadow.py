"""The whole bot runs once more in shadow, under another configuration: would it have approved, blocked or escalated?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.scenarios.test_repair_is_suggested import APP, BASE, HEAD, MENDED, NOTED
from tests.unit.shadow.test_shadow_rule import shadow

from review_advisor.agents.calls import LostReason
from review_advisor.ledger.shadow_rollup import shadow_decision
from review_advisor.mockworld.agents import (
    Line,
    approve,
    confirm,
    credit_gone,
    finding,
    guidance,
    interrupted,
    learned,
    lost,
    model_unknown,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.outage_rules import OutageRules
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.roster_layers import shipped_advisors
from review_advisor.policy.shadow_rules import Shadow
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.rulings import EXIT_CODES, Outcome
from review_advisor.review.shadow import Left, ShadowBegan, ShadowCalled, ShadowEnded, ShadowReviewed

SECURITY = next(each for each in shipped_advisors() if each.id == "securityArchitect")
GRAVE = finding("src/app.py", 3, "value = 3", severity="high")
EVERY_ROLE = ["pre_flight", "executor", "post_verify"]


def whole(**more: Any) -> Shadow:
    return shadow(part="review", calls=more.pop("calls", 20), **more)


@pytest.fixture
def world() -> MockWorld:
    """A change that is large enough to be planned."""
    world = MockWorld()
    world.change(edited("src/app.py", 60))
    return world


def tried(world: MockWorld, which: Shadow | None = None) -> OutcomeDocument:
    document = world.review()
    world.shadow(document, which or whole())
    world.finish()
    return document


def reviewed(world: MockWorld) -> ShadowReviewed:
    (told,) = (each for each in world.shadow_events if isinstance(each, ShadowReviewed))
    return told


def decision(world: MockWorld) -> str:
    told = [each for each in world.shadow_events if isinstance(each, ShadowReviewed)]
    ended = [each.status for each in world.shadow_events if isinstance(each, ShadowEnded)]
    return shadow_decision(told, finished=ended == ["finished"])


def test_every_role_is_asked_the_same_again_by_models_of_its_own(world: MockWorld) -> None:
    document = tried(world, whole(model="small", advisor_model="other", effort="low"))
    assert [call.role.value for call in world.in_shadow.asked] == EVERY_ROLE == world.asked
    assert [call.prompt for call in world.in_shadow.asked] == [call.prompt for call in world.agents.asked]
    assert [call.model for call in world.in_shadow.asked] == ["other", "small", "other"]
    assert {call.effort for call in world.in_shadow.asked} == {"low"}
    assert {call.shadow for call in world.in_shadow.asked} == {"try"}
    assert (document.outcome, decision(world)) == (Outcome.APPROVED, "agreed")


def test_what_it_rejects_was_approved_and_nothing_of_the_review_knows(world: MockWorld) -> None:
    alone = MockWorld()
    alone.change(edited("src/app.py", 60))
    world.in_shadow.script(Role.EXECUTOR, reject(GRAVE))
    document = tried(world)
    assert outcome_json(document) == outcome_json(alone.review())
    assert world.journal.events == list(document.events)
    assert (world.artifacts.files, world.wiki.files) == (alone.artifacts.files, {})
    told = reviewed(world)
    assert (told.real, told.outcome) == (Outcome.APPROVED, Outcome.CHANGES_REQUESTED)
    assert [each.startswith("high src/app.py:3 ") for each in told.besides] == [True]
    assert decision(world) == "would_veto"


def test_what_it_approves_was_rejected_and_it_missed_the_grave_finding(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(GRAVE))
    document = tried(world)
    told = reviewed(world)
    assert (told.real, told.outcome) == (Outcome.CHANGES_REQUESTED, Outcome.APPROVED)
    assert told.missed == tuple(each.id for each in document.findings)
    assert told.besides == ()
    assert decision(world) == "would_pass"


def test_one_that_calls_a_person_where_the_other_requests_changes_differs(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(GRAVE))
    world.in_shadow.script(Role.EXECUTOR, approve(), approve(summary="the same again"))
    world.in_shadow.script(Role.POST_VERIFY, veto("it loses data"))
    tried(world)
    assert (reviewed(world).outcome, decision(world)) == (Outcome.ESCALATED, "differs")


def test_an_unverified_approval_that_calls_a_person_is_none(world: MockWorld) -> None:
    world.rules = replace(world.rules, fail_on_degraded=True)
    world.agents.script(Role.POST_VERIFY, lost(LostReason.CRASH))
    document = tried(world)
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, EXIT_CODES[Outcome.ESCALATED])
    assert (reviewed(world).real, decision(world)) == (Outcome.ESCALATED, "would_pass")


@pytest.mark.parametrize("role", [Role.EXECUTOR, Role.POST_VERIFY])
def test_an_answer_that_it_lost_is_no_outcome(world: MockWorld, role: Role) -> None:
    world.in_shadow.script(role, lost(LostReason.TIMEOUT))
    tried(world)
    assert (reviewed(world).outcome, decision(world)) == (None, "lost")


def test_it_outlasts_an_outage_as_the_review_does(world: MockWorld) -> None:
    """Otherwise the two would differ in more than what is tried."""
    world.rules = replace(world.rules, outage=OutageRules(60.0, busy_tries=1))
    world.in_shadow.script(Role.EXECUTOR, lost(LostReason.RATE_LIMITED), approve())
    world.in_shadow.script(Role.POST_VERIFY, lost(LostReason.CRASH), confirm())
    tried(world)
    assert decision(world) == "agreed"


def test_a_consult_that_it_lost_leaves_its_outcome_comparable(world: MockWorld) -> None:
    """A review goes on without the answer, too."""
    doubting = approve().sure(0.5)
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    world.agents.script(Role.EXECUTOR, doubting, approve(summary="now I am sure").applying("r1"))
    world.agents.script(Role.MID_FLIGHT, guidance("look at the last row"))
    world.in_shadow.script(Role.EXECUTOR, doubting)
    world.in_shadow.script(Role.MID_FLIGHT, lost(LostReason.TIMEOUT))
    tried(world)
    assert reviewed(world).outcome is not None
    assert decision(world) != "lost"


@pytest.mark.parametrize(
    "line, last",
    [(credit_gone(), True), (interrupted(), True), (model_unknown(), False)],
    ids=["credit", "sig", "model"],
)
@pytest.mark.parametrize("which", [whole(), shadow()], ids=["review", "judge"])
def test_only_what_stops_every_other_one_is_the_last(world: MockWorld, line: Line, last: bool, which: Shadow) -> None:
    world.in_shadow.script(Role.EXECUTOR if which.rule.part == "review" else Role.POST_VERIFY, line)
    tried(world, which)
    (ended,) = (each for each in world.shadow_events if isinstance(each, ShadowEnded))
    assert (ended.status, ended.last) == ("stopped", last)


def test_its_own_cap_ends_it_without_an_outcome(world: MockWorld) -> None:
    tried(world, whole(calls=2))
    assert len(world.in_shadow.asked) == 2
    assert [each.status for each in world.shadow_events if isinstance(each, ShadowEnded)] == ["capped"]
    assert (reviewed(world).outcome, decision(world)) == (None, "lost")


@pytest.mark.parametrize("left", [Left(0.0, 3_600.0), Left(100.0, 0.0)])
def test_without_money_or_time_left_nobody_is_asked(world: MockWorld, left: Left) -> None:
    world.shadow(world.review(), whole(), left)
    assert world.in_shadow.asked == []
    assert decision(world) == "lost"


def test_no_call_may_spend_more_than_its_own_cap(world: MockWorld) -> None:
    tried(world, whole(usd=0.25))
    assert all(call.max_usd <= 0.25 for call in world.in_shadow.asked)


@pytest.mark.parametrize("line", [credit_gone(), interrupted()])
def test_a_stop_ends_it_and_not_the_review(world: MockWorld, line: Line) -> None:
    world.in_shadow.script(Role.EXECUTOR, line)
    assert tried(world).outcome is Outcome.APPROVED
    (ended,) = (each for each in world.shadow_events if isinstance(each, ShadowEnded))
    assert ended.status == "stopped"
    assert ended.because
    assert decision(world) == "lost"


def test_another_version_of_all_prompts_is_tried(world: MockWorld) -> None:
    folder = ".review-advisor/instructions/terse"
    names = ("executor", "post_verify", "pre_flight")
    world.source.guidelines = {f"{folder}/{name}.md": f"In one breath: {name}." for name in names}
    tried(world, whole(instructions="terse"))
    for call, real in zip(world.in_shadow.asked, world.agents.asked, strict=True):
        assert f"In one breath: {call.role.value}." in call.system_prompt
        assert "In one breath" not in real.system_prompt
    assert len({each.call.prompts for each in world.shadow_events if isinstance(each, ShadowCalled)}) == 1


def test_advisors_join_the_adrs_own_and_vote(world: MockWorld) -> None:
    tried(world, whole(advisors=("securityArchitect",), known=(replace(SECURITY, on="finish"),)))
    judges = {call.advisor for call in world.in_shadow.asked if call.role is Role.POST_VERIFY}
    assert judges == {"post_verify", "securityArchitect"}
    assert len(world.calls(Role.POST_VERIFY)) == 1


def test_without_advisors_of_its_own_the_reviews_council_judges(world: MockWorld) -> None:
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, Advisor("poet", "You read names.", on="finish"))))
    tried(world)
    judges = {call.advisor for call in world.in_shadow.asked if call.role is Role.POST_VERIFY}
    assert judges == {"post_verify", "poet"}


def test_a_profile_of_escalation_consults_in_shadow_alone(world: MockWorld) -> None:
    doubting = approve().sure(0.5)
    world.agents.script(Role.EXECUTOR, doubting)
    world.in_shadow.script(Role.EXECUTOR, doubting, approve(summary="now I am sure").applying("r1"))
    world.in_shadow.script(Role.MID_FLIGHT, guidance("look at the last row"))
    tried(world, whole(escalation="attrition"))
    assert world.asked == EVERY_ROLE
    asked = [call.role.value for call in world.in_shadow.asked]
    assert asked == ["pre_flight", "executor", "mid_flight", "executor", "post_verify"]
    assert decision(world) == "agreed"


def test_the_reviews_own_profile_holds_unless_another_is_named(world: MockWorld) -> None:
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    tried(world, whole(escalation="adr"))
    assert [call.role.value for call in world.in_shadow.asked] == EVERY_ROLE


def test_what_it_learns_is_no_knowledge(world: MockWorld) -> None:
    world.rules = replace(world.rules, wiki_folder="docs/wiki")
    fact = learned("Values are numbered", "src/app.py", "value = 7")
    world.in_shadow.script(Role.EXECUTOR, approve().teaching(fact), surface=Surface.PR_REVIEW)
    document = world.review()
    before = dict(world.artifacts.files)
    world.shadow(document, whole())
    assert Surface.WIKI_INGEST in {call.surface for call in world.in_shadow.asked}
    assert (world.artifacts.files, world.wiki.files) == (before, {})


def test_it_repairs_as_a_review_does_and_nobody_gets_the_repair() -> None:
    world = MockWorld()
    world.checkout(HEAD, BASE)
    world.in_shadow.script(Role.EXECUTOR, approve(NOTED), approve(summary="mended").repairing(APP, MENDED))
    world.in_shadow.script(Role.POST_VERIFY, veto("an empty list divides by zero"))
    document = tried(world)
    assert document.repair is None
    assert world.source.texts == HEAD
    assert (reviewed(world).outcome, decision(world)) == (Outcome.CHANGES_REQUESTED, "would_veto")


def test_a_change_in_parts_is_reviewed_in_parts(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=2_000)
    world.change(*(edited(f"src/part{n}.py", 400) for n in range(3)))
    tried(world, whole(calls=50, usd=50))
    assert len(world.in_shadow.asked) == len(world.agents.asked) > 5
    assert decision(world) == "agreed"


def test_static_checks_and_stopped_reviews_have_none(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, credit_gone())
    assert world.shadow(world.review(), whole()) is None
    world.static = True
    assert world.shadow(world.review(), whole()) is None
    assert (world.in_shadow.asked, world.shadow_events) == ([], [])


def test_the_first_event_says_who_runs(world: MockWorld) -> None:
    known = (SECURITY,)
    which = whole(model="small", advisor_model="other", escalation="harness", advisors=(SECURITY.id,), known=known)
    tried(world, which)
    began = world.shadow_events[0]
    assert isinstance(began, ShadowBegan)
    assert began.setup == "review; model small; advisor model other; with securityArchitect; escalation harness"
