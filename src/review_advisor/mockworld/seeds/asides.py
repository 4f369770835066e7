"""Random refuters and inline members: they are asked beside the judges, and some of their answers are lost.

They have dice of their own. So the other worlds are what they were before these came, seed by seed.
"""

from __future__ import annotations

from review_advisor.core.roster.advisor import REFUTER, VOICES
from review_advisor.mockworld.seeds.councils import LOSSES, steps_with
from review_advisor.mockworld.seeds.dice import Dice
from review_advisor.mockworld.stories.story import AdvisorBlock, ReviewBlock, Story
from review_advisor.mockworld.stories.story_lines import VoteLine

REFUTERS = 0.05
"""The share of worlds in which each blocking finding is put to a refuter."""
INLINE = 0.05
"""The share of worlds with inline members."""
MOST_INLINE = 3


def with_asides(story: Story, seed: int) -> Story:
    """The story of ``seed``, in a share of the worlds with a refuter or inline members; in all others as it is."""
    dice = Dice((seed << 32) + 3)
    config = story.config
    asked: list[str] = []
    if dice.chance(REFUTERS):
        config = config.model_copy(update={"refuter": True})
        asked.append(REFUTER)
    if dice.chance(INLINE):
        inline = tuple(AdvisorBlock(id=f"voice{number}", inline=True) for number in range(dice.whole(1, MOST_INLINE)))
        config = config.model_copy(update={"advisors": (*config.advisors, *inline)})
        asked.append(VOICES)
    if not asked:
        return story
    losses = dice.pick((0.0, 0.3))
    steps = steps_with(story, lambda review: _lost(dice, review, asked, losses))
    return story.model_copy(update={"config": config, "steps": steps})


def _lost(dice: Dice, review: ReviewBlock, asked: list[str], losses: float) -> ReviewBlock:
    """The review with answers that are lost; all others agree."""
    lines = tuple(VoteLine(advisor=each, fault=dice.pick(LOSSES)) for each in asked if dice.chance(losses))
    return review.model_copy(update={"votes": (*review.votes, *lines)})
