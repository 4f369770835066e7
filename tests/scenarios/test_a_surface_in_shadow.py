"""A surface that reviews leave out is tried in shadow: what would it have stopped?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.scenarios.test_adr_review import ADR, RECORD, SWITCH, a_record
from tests.unit.shadow.test_shadow_rule import shadow

from review_advisor.agents.calls import LostReason
from review_advisor.change.change import Status
from review_advisor.ledger.shadow_rollup import shadow_decision
from review_advisor.mockworld.agents import finding, lost, plan, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.roster import ADR_ADVISOR, VOICES, Advisor, Roster
from review_advisor.policy.shadow_rules import Shadow
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.rulings import Outcome
from review_advisor.review.shadow import ShadowBegan, ShadowDecided, ShadowEnded

RECORDS = shadow(part="surface", surfaces=(ADR,))


@pytest.fixture
def world() -> MockWorld:
    """A change with a record, in a repository that has switched the review of records off."""
    world = MockWorld()
    a_record(world)
    world.switch(SWITCH, "false")
    return world


def tried(world: MockWorld, which: Shadow = RECORDS) -> OutcomeDocument:
    document = world.review()
    world.shadow(document, which)
    world.finish()
    return document


def decision(world: MockWorld) -> str:
    told = [each for each in world.shadow_events if isinstance(each, ShadowDecided)]
    ended = [each.status for each in world.shadow_events if isinstance(each, ShadowEnded)]
    return shadow_decision(told, finished=ended == ["finished"])


def test_a_surface_that_is_switched_off_runs_in_shadow_as_it_would_in_a_review(world: MockWorld) -> None:
    real = MockWorld()
    a_record(real)
    real.review()
    document = tried(world)
    assert [call.role.value for call in world.in_shadow.asked] == ["pre_flight", "executor", "post_verify"]
    assert {(call.surface, call.shadow) for call in world.in_shadow.asked} == {(ADR, "try")}
    would = [call.prompt for call in real.agents.asked if call.surface is ADR]
    assert [call.prompt for call in world.in_shadow.asked] == would
    assert (document.outcome, decision(world)) == (Outcome.APPROVED, "agreed")


def test_what_it_rejects_would_have_stopped_an_approval_and_stops_nothing(world: MockWorld) -> None:
    alone = MockWorld()
    a_record(alone)
    alone.switch(SWITCH, "false")
    world.in_shadow.script(Role.EXECUTOR, reject(finding(RECORD, 1, "value = 1")), surface=ADR)
    document = tried(world)
    assert outcome_json(document) == outcome_json(alone.review())
    assert world.journal.events == list(document.events)
    assert decision(world) == "would_veto"
    (told,) = (each for each in world.shadow_events if isinstance(each, ShadowDecided))
    assert (told.surface, told.verdict, told.real_objects, told.shadow_objects) == (ADR, "approve", False, True)


def test_a_veto_of_its_judge_would_have_stopped_an_approval(world: MockWorld) -> None:
    world.in_shadow.script(Role.POST_VERIFY, veto("it decides nothing"), surface=ADR)
    assert tried(world).outcome is Outcome.APPROVED
    assert decision(world) == "would_veto"


def test_a_change_that_was_stopped_anyway_is_no_case_for_it(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 1, "value = 1")))
    world.in_shadow.script(Role.EXECUTOR, reject(finding(RECORD, 1, "value = 1")), surface=ADR)
    assert tried(world).outcome is not Outcome.APPROVED
    assert decision(world) == "agreed"


def test_what_it_writes_in_a_review_is_written_nowhere(world: MockWorld) -> None:
    world.in_shadow.script(Role.PRE_FLIGHT, plan("the words of the shadow"), surface=ADR)
    document = world.review()
    before = dict(world.artifacts.files)
    world.shadow(document, RECORDS)
    assert world.artifacts.files == before
    assert world.wiki.files == {}


@pytest.mark.parametrize("role", [Role.EXECUTOR, Role.POST_VERIFY])
def test_an_answer_that_it_lost_is_no_objection_and_no_agreement(world: MockWorld, role: Role) -> None:
    world.in_shadow.script(role, lost(LostReason.TIMEOUT), surface=ADR)
    tried(world)
    assert decision(world) == "lost"


def test_its_own_cap_is_no_objection(world: MockWorld) -> None:
    tried(world, shadow(part="surface", surfaces=(ADR,), calls=2))
    assert len(world.in_shadow.asked) == 2
    assert decision(world) == "lost"


def test_inline_members_whose_advice_nobody_reads_there_are_not_asked(world: MockWorld) -> None:
    poet = Advisor("poet", "You read names aloud.", on="finish", inline=True)
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, poet)))
    tried(world, shadow(part="surface", surfaces=(ADR,), calls=3))
    assert VOICES in {call.advisor for call in world.agents.asked}
    assert VOICES not in {call.advisor for call in world.in_shadow.asked}
    assert decision(world) == "agreed"


def test_a_lost_plan_is_no_lost_answer(world: MockWorld) -> None:
    world.in_shadow.script(Role.PRE_FLIGHT, lost(LostReason.TIMEOUT), surface=ADR)
    tried(world)
    assert decision(world) == "agreed"


def test_a_surface_that_the_review_ran_is_not_run_twice(world: MockWorld) -> None:
    world.switch(SWITCH, "true")
    tried(world)
    assert (world.in_shadow.asked, world.shadow_events) == ([], [])


def test_a_change_that_is_no_matter_for_the_surface_has_no_shadow(world: MockWorld) -> None:
    world.change(edited("src/app.py"))
    tried(world)
    assert (world.in_shadow.asked, world.shadow_events) == ([], [])


def test_a_surface_that_is_not_configured_is_tried_where_the_shadow_looks(world: MockWorld) -> None:
    world.change(edited("rfcs/0007-keep-values.md", 12, status=Status.ADDED))
    tried(world, shadow(part="surface", surfaces=(ADR,), paths=("rfcs",)))
    assert {call.surface for call in world.in_shadow.asked} == {ADR}
    (began,) = (each for each in world.shadow_events if isinstance(each, ShadowBegan))
    assert began.setup == "surface; on adr_review; in rfcs"


def test_a_source_that_fails_now_stops_the_shadow_alone(world: MockWorld) -> None:
    document = world.review()
    world.source.breaks = "git is gone"
    ended = world.shadow(document, RECORDS)
    assert ended is not None
    assert (ended.status, ended.because) == ("stopped", "git is gone")
    assert Surface.ADR_REVIEW not in {each.surface for each in document.surfaces if each.parts and each.outcome}
