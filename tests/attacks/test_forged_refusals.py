"""Whoever forges the record of a review so that the cap seems to refuse a consult that was due."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from review_advisor.mockworld.agents import approve, confirm, finding, guidance
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules, Handoff
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import (
    CallEnded,
    CallStarted,
    Consulted,
    Disposed,
    Escalated,
    Event,
    OfCall,
    PartEnded,
    Recommended,
    Reported,
)
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.stop import ConsultRecord

ALONE = EscalationRules("attrition", "advisor_only")
CAP = "HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS"


@pytest.fixture
def world() -> Iterator[MockWorld]:
    world = MockWorld()
    yield world
    world.finish()


def under(world: MockWorld, rules: EscalationRules) -> MockWorld:
    world.rules = replace(world.rules, escalation=rules)
    return world


def refused_at_once(events: Sequence[Event]) -> list[Event]:
    """The record as if the first consult that was due had been refused: nobody was asked and nothing was advised."""
    calls = [each for each in events if isinstance(each, CallEnded)]
    (asked,) = [each.number for each in calls if each.role is Role.MID_FLIGHT]
    (_, again) = [each.number for each in calls if each.role is Role.EXECUTOR]
    (first,) = [each for each in events if isinstance(each, Escalated)]
    kept: list[Event] = []
    for each in events:
        number = each.number if isinstance(each, OfCall) else 0
        if number in (asked, again) and isinstance(each, CallStarted | CallEnded | Consulted | Recommended | Disposed):
            continue
        match each:
            case Escalated():
                words = "All 4 consults of this review are used."
                kept.append(replace(each, refused=words, advisor_alone=True))
            case Reported():
                kept.append(replace(each, number=first.number, report=first.report, put_back=()))
            case _:
                kept.append(each)
    numbers = sorted({0, *(each.number for each in kept if isinstance(each, OfCall))})
    moved = {number: place for place, number in enumerate(numbers)}
    return [replace(each, number=moved[each.number]) if isinstance(each, OfCall) else each for each in kept]


def test_a_consult_that_was_due_is_not_refused_before_the_cap_is_reached(world: MockWorld) -> None:
    under(world, ALONE)
    world.agents.script(Role.EXECUTOR, approve().failing(2), approve().applying("r1"))
    world.agents.script(Role.POST_VERIFY, confirm())
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert unsound(document.events) is None
    assert unsound(refused_at_once(document.events)) == "a consult was refused although the cap was not reached"


def test_a_refund_is_no_use_of_the_cap(world: MockWorld) -> None:
    """A consult that failed is given back, so the cap of one is not reached by it."""
    under(world, ALONE)
    world.switch(CAP, "1")
    doubted = finding("src/app.py", 1, "value = 1", "low", confidence=0.1)
    world.agents.script(Role.EXECUTOR, approve().sure(0.5), approve(doubted).applying("r1"))
    document = world.review()
    assert unsound(document.events) is None
    failed = [
        replace(each, note=replace(each.note, status="failed", guidance=None)) if isinstance(each, Consulted) else each
        for each in document.events
    ]
    assert unsound(failed) == "a consult was refused although the cap was not reached"


def test_the_last_turn_of_an_executor_calls_a_person_whoever_else_decides_at_the_cap(world: MockWorld) -> None:
    under(world, EscalationRules("harness", "advisor_only"))
    doubts = [finding("src/app.py", n, f"value = {n}", "medium", confidence=0.2) for n in range(1, 4)]
    turns = (approve(each).applying(f"r{turn}") for turn, each in enumerate(doubts))
    world.agents.script(Role.EXECUTOR, *turns)
    world.agents.script(Role.MID_FLIGHT, guidance("consider row 1"), guidance("consider row 2"))
    document = world.review()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.ESCALATED
    assert "3 turns" in document.because[0]


@pytest.mark.parametrize("handoff", ["human", "advisor_only"])
def test_consults_of_a_killed_run_leave_the_decision_to_a_person(world: MockWorld, handoff: Handoff) -> None:
    """They count, and the record of this run does not tell them: nobody could check that the cap was reached."""
    under(world, replace(ALONE, handoff=handoff))
    world.earlier_consults = tuple(ConsultRecord(f"toolu_{n}", "Is it right?", "answered") for n in range(4))
    world.agents.script(Role.EXECUTOR, approve().failing(2))
    document = world.review()
    assert unsound(document.events) is None
    assert [each.outcome for each in document.events if isinstance(each, PartEnded)] == [Outcome.ESCALATED]
