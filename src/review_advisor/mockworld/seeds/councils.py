"""Random councils: who judges beside the ADR's advisor, how each member votes, and which of them are lost.

They have dice of their own. So the other worlds are what they were before councils came, seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable

from review_advisor.core.roster.advisor import ADR_ADVISOR
from review_advisor.mockworld.seeds.dice import Dice
from review_advisor.mockworld.stories.story import AdvisorBlock, ReviewBlock, StepBlock, Story
from review_advisor.mockworld.stories.story_lines import Fault, VoteLine

COUNCILS = 0.08
"""The share of worlds in which a council may judge; in a fifth of these it has one member, the ADR's advisor."""
MOST_MEMBERS = 5
VOTES: tuple[tuple[tuple[int, int, int], float], ...] = (
    ((95, 10, 0), 200), ((75, 40, 0), 10), ((60, 55, 10), 8), ((45, 40, 5), 6), ((30, 80, 20), 8), ((10, 95, 70), 6),
    ((0, 60, 79), 4), ((0, 30, 80), 4), ((0, 0, 100), 4),
)  # fmt: skip
"""Weights of approve, request_changes and block."""
LOSSES: tuple[Fault, ...] = (
    "crash", "silent", "server_error", "rate_limited", "timeout", "model_refused", "output_limit", "call_budget",
    "too_long", "garbage", "prose",
)  # fmt: skip
"""How a member can fail: by an outage, by what the change says, or by a cap of ours."""


def with_council(story: Story, seed: int) -> Story:
    """The story of ``seed``, in a share of the worlds with a council that judges; in all others as it is."""
    dice = Dice((seed << 32) + 1)
    if not dice.chance(COUNCILS):
        return story
    members = tuple(_member(dice, number) for number in range(dice.whole(1, MOST_MEMBERS) - 1))
    names = (ADR_ADVISOR.id, *(each.id for each in members))
    losses = dice.pick((0.0, 0.05, 0.3))
    steps = steps_with(story, lambda review: _voted(dice, review, names, losses))
    config = story.config.model_copy(update={"advisors": members})
    return story.model_copy(update={"config": config, "steps": steps if members else story.steps})


def steps_with(story: Story, change: Callable[[ReviewBlock], ReviewBlock]) -> tuple[StepBlock, ...]:
    """The steps of a story, each of its reviews changed."""
    return tuple(
        step if step.review is None else step.model_copy(update={"review": change(step.review)}) for step in story.steps
    )


def _member(dice: Dice, number: int) -> AdvisorBlock:
    return AdvisorBlock(
        id=f"member{number}",
        weight=float(dice.weighted(((1, 70), (3, 20), (0, 10)))),
        veto=dice.chance(0.3),
    )


def _voted(dice: Dice, review: ReviewBlock, names: tuple[str, ...], losses: float) -> ReviewBlock:
    votes = tuple(_vote(dice, name, losses) for name in names for _ in range(dice.whole(1, 3)))
    return review.model_copy(update={"votes": votes, "jobs": dice.whole(1, 4)})


def _vote(dice: Dice, name: str, losses: float) -> VoteLine:
    approve, request_changes, block = dice.weighted(VOTES)
    fault = dice.pick(LOSSES) if dice.chance(losses) else None
    objects = dice.chance(0.03)
    return VoteLine(
        advisor=name,
        on="reject" if dice.chance(0.2) else "approve",
        approve=approve,
        request_changes=request_changes,
        block=block,
        points=("it objects",) if objects else (),
        fault=fault,
        seconds=float(dice.whole(1, 20)),
        cost_usd=dice.weighted(((0.01, 8), (0.1, 6), (0.4, 2))),
    )
