"""The disagreements of a run in words, as ``runs show`` and the run's page tell them."""

from __future__ import annotations

from review_advisor.ledger.queries import dispute_lines
from review_advisor.mockworld.agents import approve, confirm, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.safety.fence import as_facts


def told(world: MockWorld) -> tuple[str, ...]:
    return dispute_lines([as_facts(event) for event in world.review().events])


def test_a_veto_is_told_with_its_points_and_what_followed() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve(), approve(summary="again"))
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"), confirm())
    lines = told(world)
    assert lines[0].startswith("pr_review, attempt 1: the executor says approve, the advisor vetoes it: ")
    assert lines[1].startswith("  d0.1, blocking: ")
    assert "seven is taken" in lines[1]
    assert lines[-1].startswith("  then: ")


def test_where_nobody_disagrees_nothing_is_told() -> None:
    assert told(MockWorld()) == ()
