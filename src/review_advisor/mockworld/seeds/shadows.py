"""Random shadows: what runs beside the reviews of a world without authority, and worlds whose whole bot is in shadow.

They have dice of their own. So the other worlds are what they were before shadows came, seed by seed.
"""

from __future__ import annotations

from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.policy.switches import surface_switch
from review_advisor.core.shadow.shadow_rule import ShadowPart
from review_advisor.mockworld.promises.on_shadows import SHADOW_CANARY
from review_advisor.mockworld.seeds.councils import LOSSES, steps_with
from review_advisor.mockworld.seeds.dice import Dice
from review_advisor.mockworld.stories.story import ReviewBlock, ShadowBlock, Story
from review_advisor.mockworld.stories.story_lines import Fault, JudgementLine

SHADOWS = 0.06
"""The share of worlds in which something runs in shadow."""
IN_SHADOW_MODE = 0.03
"""The share of worlds whose reviews enforce nothing."""
MOST_SHADOWS = 3
PARTS: tuple[tuple[ShadowPart, float], ...] = (
    ("judge", 6),
    ("executor", 3),
    ("surface", 2),
    ("review", 3),
    ("consulted", 2),
)
FAULTS: tuple[Fault, ...] = (*LOSSES, "misshapen", "two_answers", "slow", "credit_gone", "interrupted")
"""How a judge in shadow can fail. A process that is killed is killed for the review, too."""


def with_shadows(story: Story, seed: int) -> Story:
    """The story of ``seed``, in a share of the worlds with shadows or in shadow mode; in all others as it is."""
    dice = Dice((seed << 32) + 2)
    if dice.chance(IN_SHADOW_MODE):
        story = story.model_copy(update={"config": story.config.model_copy(update={"mode": "shadow"})})
    if not dice.chance(SHADOWS):
        return story
    shadows = tuple(_shadow(dice, number) for number in range(dice.whole(1, MOST_SHADOWS)))
    faults = dice.pick((0.0, 0.1, 0.4))
    steps = steps_with(story, lambda review: _judged(dice, review, faults))
    left_out = {surface_switch(Surface(each)): "off" for shadow in shadows for each in shadow.surfaces}
    config = story.config.model_copy(update={"shadow": shadows})
    return story.model_copy(update={"config": config, "steps": steps, "switches": {**story.switches, **left_out}})


def _shadow(dice: Dice, number: int) -> ShadowBlock:
    part = dice.weighted(PARTS)
    return ShadowBlock(
        id=f"shadow{number}",
        part=part,
        surfaces=("adr_review",) if part == "surface" else (),
        model="another" if part != "surface" and dice.chance(0.5) else "",
        max_calls=dice.pick((1, 2, 6, 50)),
        max_usd=dice.pick((0.02, 0.3, 1.0)),
    )


def _judged(dice: Dice, review: ReviewBlock, faults: float) -> ReviewBlock:
    said = tuple(
        JudgementLine(
            says="veto" if dice.chance(0.4) else "confirm",
            reasoning=f"{SHADOW_CANARY} says so",
            points=(f"{SHADOW_CANARY} objects",),
            fault=dice.pick(FAULTS) if dice.chance(faults) else None,
            seconds=float(dice.whole(1, 20)),
            cost_usd=dice.weighted(((0.01, 8), (0.1, 6), (0.4, 2))),
        )
        for _ in range(dice.whole(0, 4))
    )
    return review.model_copy(update={"in_shadow": said})
