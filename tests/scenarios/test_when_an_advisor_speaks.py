"""Each declared advisor speaks at its moment: before the executor, after each attempt, both, or when it is asked."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from review_advisor.mockworld.agents import approve, finding, guidance, opinion, plan, reject, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Moment, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, CallStarted, Consulted, Opined, Ruled, Voted
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

MOMENTS: dict[str, Moment | None] = {"early": "start", "late": "finish", "both": "request", "silent": None}


@pytest.fixture
def world() -> MockWorld:
    """A review whose first attempt is vetoed, with an advisor for each moment."""
    found = MockWorld()
    members = [Advisor(name, f"You are {name}.", on=on) for name, on in MOMENTS.items()]
    found.rules = replace(found.rules, roster=Roster((ADR_ADVISOR, *members)))
    found.agents.script(Role.PRE_FLIGHT, plan(), opinion("early word"), opinion("a word of both"))
    found.agents.script(Role.EXECUTOR, approve(), reject(finding("src/app.py", 4, "value = 4")))
    for name in (ADR_ADVISOR.id, "late", "both"):
        found.agents.script(Role.POST_VERIFY, vote(0, 90), vote(0, 90, on="reject"), advisor=name)
    return found


def roles(document: OutcomeDocument, advisor: str) -> Counter[str]:
    """How often the advisor is called in each role."""
    calls = (event for event in document.events if isinstance(event, CallEnded) and event.advisor == advisor)
    return Counter(event.role.value for event in calls)


def test_start_finish_request_and_none_are_four_different_moments(world: MockWorld) -> None:
    document = world.review()
    world.finish()
    assert roles(document, "early") == {"pre_flight": 1}, "not again on a retry"
    assert roles(document, "late") == {"post_verify": 3}, "its findings once, and a vote after each attempt"
    assert roles(document, "both") == {"pre_flight": 1, "post_verify": 3}
    assert roles(document, "silent") == {}


def test_who_watches_votes_on_the_report_that_stands_and_not_on_the_one_that_a_consult_mends() -> None:
    world = MockWorld()
    watcher = Advisor("watcher", "You watch.", on="request", veto=True)
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, watcher)), escalation=EscalationRules("attrition"))
    world.agents.script(Role.PRE_FLIGHT, plan(), opinion("a word"))
    doubted, sure = approve(summary="in doubt").sure(0.5), reject(finding("src/app.py", 4, "value = 4"))
    world.agents.script(Role.EXECUTOR, doubted, sure.applying("r1"))
    world.agents.script(Role.MID_FLIGHT, guidance("look at line 4"))
    for name in (ADR_ADVISOR.id, "watcher"):
        world.agents.script(Role.POST_VERIFY, vote(0, 90, on="reject"), advisor=name)
    document = world.review()
    world.finish()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.CHANGES_REQUESTED
    (_, voted) = (call for call in world.calls(Role.POST_VERIFY) if call.advisor == "watcher")
    assert ("value = 4" in voted.prompt, "in doubt" in voted.prompt) == (True, False)


def test_whoever_advises_speaks_before_what_it_advises_on_and_executes_nothing(world: MockWorld) -> None:
    events = world.review().events
    places = {kind: [at for at, each in enumerate(events) if isinstance(each, kind)] for kind in (Opined, Voted, Ruled)}
    executor = next(
        at for at, each in enumerate(events) if isinstance(each, CallStarted) and each.role is Role.EXECUTOR
    )
    assert max(places[Opined]) < executor
    assert all(sum(vote < ruling for vote in places[Voted]) == 3 * n for n, ruling in enumerate(places[Ruled], 1))
    advising = [call for call in world.agents.asked if call.role is not Role.EXECUTOR]
    assert {(call.edits, call.consults) for call in advising} == {(None, None)}
    assert {call.tree is None for call in advising if call.role is Role.PRE_FLIGHT} == {True}


def test_a_question_lists_its_answers_and_the_advisor_chooses_one_with_a_comment(world: MockWorld) -> None:
    world = MockWorld()
    answers = [{"answer": "keep", "description": "as it is"}, {"answer": "drop", "description": "and warn"}]
    world.agents.script(
        Role.EXECUTOR, approve().after_asking(json.dumps({"question": "Keep the old name?", "answers": answers}))
    )
    said = guidance("keep it")
    world.agents.script(Role.MID_FLIGHT, replace(said, answer={**(said.answer or {}), "answer": "keep"}))
    (asked,) = (event for event in world.review().events if isinstance(event, Consulted))
    assert [each.model_dump() for each in asked.note.consult.answers] == answers
    assert asked.note.guidance is not None
    assert (asked.note.guidance.answer, asked.note.guidance.rationale) == ("keep", "because")
