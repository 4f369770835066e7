"""What became of each consult, read from the events of its review."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.mockworld.agents import Json, approve, change, confirm, finding, guidance, lost, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.report import advice_ends

APPROVE, REJECT = ({"does": "change_verdict", "verdict": word} for word in ("approve", "reject"))


@pytest.mark.parametrize(
    "wanted, end",
    [
        ((), "not stated"),
        ((APPROVE,), "applied"),
        ((REJECT,), "not stated"),
        ((APPROVE, REJECT), "not stated"),
        ((APPROVE, change("drop", "f-1")), "not stated"),
    ],
)
def test_without_a_profile_the_last_report_tells_the_end_or_nobody_does(wanted: tuple[Json, ...], end: str) -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve().after_asking("Seven?"))
    world.agents.script(Role.MID_FLIGHT, guidance("as you like", *wanted))
    (told,) = advice_ends(world.review().events)
    assert (told.disposition, told.due) == (end, None)


def test_each_advice_has_the_end_of_its_own_attempt() -> None:
    """Recommendations are counted anew in each attempt, and only consults with advice are counted."""
    world = MockWorld()
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    doubted = finding("src/app.py", 3, "value = 3", "low", confidence=0.1)
    world.agents.script(
        Role.EXECUTOR,
        approve().sure(0.5).after_asking("Seven?"),
        approve().applying("r1"),
        approve(doubted),
        approve(doubted).overriding("r1", "it is bounded"),
    )
    world.agents.script(Role.MID_FLIGHT, lost(), guidance("look at row 3"), guidance("look at row 4"))
    world.agents.script(Role.POST_VERIFY, veto("look again"), confirm())
    told = advice_ends(world.review().events)
    assert [(each.recommendation, each.disposition) for each in told] == [
        ("", None),
        ("r1", "applied"),
        ("r1", "overridden"),
    ]
    assert [each.consulted.attempt for each in told if each.consulted] == [0, 0, 1]


def test_advice_that_a_halt_overtakes_ends_as_open() -> None:
    world = MockWorld()
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    world.agents.script(Role.EXECUTOR, approve().sure(0.5))
    world.agents.script(Role.MID_FLIGHT, guidance("a person must look", stop=True))
    (told,) = advice_ends(world.review().events)
    assert (told.recommendation, told.disposition) == ("r1", "open")
