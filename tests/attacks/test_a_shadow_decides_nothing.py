"""Whatever is said in shadow, and whatever becomes of it, the review is what it was without: all but its money."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from tests.adapters.ledgers import Story
from tests.scenarios.five_stories import STORIES
from tests.unit.shadow.test_shadow_rule import shadow

from review_advisor.github.memory import state_after
from review_advisor.github.sarif import sarif_json
from review_advisor.github.sections import conclusion_of, title_of
from review_advisor.ledger.shadow_rollup import shadow_cost
from review_advisor.mockworld.agents import (
    Line,
    approve,
    confirm,
    credit_gone,
    garbage,
    interrupted,
    lost,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.report import headline

SAID = {
    "confirms": confirm(),
    "vetoes": veto("it loses data"),
    "is lost": lost(),
    "says nothing readable": garbage(),
    "has no credit": credit_gone(),
    "is interrupted": interrupted(),
}
PARTS = ("judge", "executor")
AS_EXECUTOR = {"confirms": approve(), "vetoes": reject()}
MONEY = {"spent_usd", "day_usd", "counted", "day"}


def told(document: OutcomeDocument) -> tuple[object, ...]:
    """Everything that anybody acts on."""
    state = state_after(None, document, asked=False)
    return (
        document.exit_code,
        document.flags,
        document.findings,
        document.coverage,
        conclusion_of(document),
        title_of(document),
        headline(document),
        sarif_json(document, "1"),
        state.model_dump(exclude=MONEY),
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_nothing_that_anybody_acts_on_changes_with_a_shadow(story: Story) -> None:
    alone = MockWorld()
    story(alone)
    before = alone.review()
    for (name, line), part in product(SAID.items(), PARTS):
        world = MockWorld()
        story(world)
        document = world.review()
        said: Line = AS_EXECUTOR.get(name, line) if part == "executor" else line
        role = Role.EXECUTOR if part == "executor" else Role.POST_VERIFY
        world.in_shadow.script(role, said)
        world.shadow(document, shadow(part=part))
        counted = replace(document, shadows=(shadow_cost(world.shadow_events),))
        assert outcome_json(document) == outcome_json(before)
        assert told(counted) == told(before), (name, part)
        assert world.journal.events == list(before.events)
        assert not any(call.shadow for call in world.agents.asked)
        assert all(call.shadow == "try" for call in world.in_shadow.asked)
