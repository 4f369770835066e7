"""Another advisor answers the review's own consults in shadow: would it have called a person, or changed others?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.scenarios.test_escalation import FAULT, attempts_that_each_doubt
from tests.unit.shadow.test_shadow_rule import shadow

from review_advisor.agents.calls import LostReason
from review_advisor.ledger.shadow_rollup import shadow_decision
from review_advisor.mockworld.agents import Line, approve, change, finding, guidance, lost, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.shadow_rules import Shadow
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.rulings import Outcome
from review_advisor.review.shadow import ShadowAdvised, ShadowEnded

DOUBTED = finding("src/app.py", 3, "value = 3", "medium", confidence=0.5)


def advises(**more: Any) -> Shadow:
    return shadow(part="consulted", **more)


@pytest.fixture
def world() -> MockWorld:
    """A review whose executor doubts its verdict, and consults by a profile of escalation."""
    return doubting(approve(DOUBTED).sure(0.5), approve(summary="now I am sure").applying("r1"))


def doubting(*reports: Line) -> MockWorld:
    """The same with these reports of the executor."""
    world = MockWorld()
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    world.agents.script(Role.EXECUTOR, *reports)
    return world


def tried(world: MockWorld, *said: Line, which: Shadow | None = None) -> OutcomeDocument:
    world.in_shadow.script(Role.MID_FLIGHT, *said)
    document = world.review()
    world.shadow(document, which or advises())
    world.finish()
    return document


def advised(world: MockWorld) -> list[ShadowAdvised]:
    return [each for each in world.shadow_events if isinstance(each, ShadowAdvised)]


def decision(world: MockWorld) -> str:
    ended = [each.status for each in world.shadow_events if isinstance(each, ShadowEnded)]
    return shadow_decision(advised(world), finished=ended == ["finished"])


def test_it_answers_the_very_packet_of_the_real_consult_by_its_own_model(world: MockWorld) -> None:
    tried(world, guidance("in other words"), which=advises(model="small", effort="low"))
    (real,) = world.calls(Role.MID_FLIGHT)
    (call,) = world.in_shadow.asked
    assert (call.prompt, call.system_prompt, call.answer) == (real.prompt, real.system_prompt, real.answer)
    assert (call.role, call.model, call.effort, call.shadow) == (Role.MID_FLIGHT, "small", "low", "try")
    assert (call.tree, call.consults) == (None, None)
    assert decision(world) == "agreed", "words are no difference"


def test_a_stop_of_its_own_would_have_called_a_person_and_calls_nobody(world: MockWorld) -> None:
    document = tried(world, guidance("ask somebody", stop=True))
    assert document.outcome is Outcome.APPROVED
    assert decision(world) == "would_veto"


def test_no_stop_where_the_real_advice_stopped_would_have_called_nobody() -> None:
    world = doubting(approve(DOUBTED).sure(0.5))
    world.agents.script(Role.MID_FLIGHT, guidance("ask somebody", stop=True))
    document = tried(world, guidance())
    assert document.outcome is Outcome.ESCALATED
    assert decision(world) == "would_pass"


def test_another_change_of_the_report_is_another_advice(world: MockWorld) -> None:
    tried(world, guidance("raise it", change("raise", "f1", severity="high"), change("keep", "f2")))
    (told,) = advised(world)
    assert (told.real, told.changes) == ((), ("raise f1 high",))
    assert decision(world) == "differs"


def test_an_answer_that_it_lost_is_no_agreement(world: MockWorld) -> None:
    tried(world, lost(LostReason.TIMEOUT))
    assert [each.stops for each in advised(world)] == [None]
    assert decision(world) == "lost"


def test_the_review_knows_nothing_of_it(world: MockWorld) -> None:
    alone = doubting(approve(DOUBTED).sure(0.5), approve(summary="now I am sure").applying("r1"))
    document = tried(world, guidance("the words of the shadow", stop=True))
    assert outcome_json(document) == outcome_json(alone.review())
    assert world.journal.events == list(document.events)


def test_other_words_for_the_consulted_advisor_are_tried(world: MockWorld) -> None:
    world.source.guidelines = {".review-advisor/instructions/terse/mid_flight.md": "In one breath."}
    tried(world, guidance(), which=advises(instructions="terse"))
    (call,) = world.in_shadow.asked
    assert "In one breath." in call.system_prompt


def test_a_review_that_consulted_nobody_has_no_such_shadow() -> None:
    world = MockWorld()
    assert world.shadow(world.review(), advises()) is None
    assert (world.in_shadow.asked, world.shadow_events) == ([], [])


def test_every_consult_is_put_to_it_until_its_own_cap() -> None:
    world = doubting()
    attempts_that_each_doubt(world, 2)
    world.agents.script(Role.EXECUTOR, reject(FAULT).applying("r2"))
    document = world.review()
    assert len(world.calls(Role.MID_FLIGHT)) == 2
    world.shadow(document, advises())
    assert decision(world) == "agreed"
    assert [call.prompt for call in world.in_shadow.asked] == [call.prompt for call in world.calls(Role.MID_FLIGHT)]
    world.shadow_events.clear()
    world.shadow(document, advises(calls=1))
    assert [each.stops for each in advised(world)] == [False, None]
    assert decision(world) == "lost"
