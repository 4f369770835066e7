"""What the votes of a council come to, over any list of actions.

1. A member with the veto right that gives the severest action 80 or more, or that objects, blocks.
2. Otherwise the highest mean wins, weighted by the members' ``weight``; of equal means that of the severest action.
3. A missing member votes 0 for the mildest action and 100 for each other one, so no loss makes a result milder.
4. The spread is the difference between the highest and the lowest vote for the winner. A member lost to an outage is
   left out of it; one that the change itself may have silenced is not.
5. A member of a review's council that is lost to a rate limit casts no vote at all. The ruling says what that means
   for an approval. Tasks and briefs have no ruling, so there it counts like one that the content silenced.

All sums are exact, so that the order of the members never matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from review_advisor.core.answers.inline_calls import MOST_OF_A_VOTE
from review_advisor.core.roles.calls import Cause

BLOCKS_FROM = 80.0
WIDEST_SPREAD = 40.0


def cause_without_ruling(cause: Cause) -> Cause:
    """The cause as which a loss counts where no ruling looks at rate limits, as in tasks and briefs.

    There one to a rate limit counts like one that the content caused, or it would make the result milder.
    """
    return Cause.CONTENT if cause is Cause.RATE_LIMIT else cause


@dataclass(frozen=True, slots=True)
class Ballot:
    """One member's vote. ``votes`` are 0 to 100 for each action, in their order, or why there are none.

    ``objects``: it has a blocking disagreement, which counts only with the veto right.
    """

    member: str
    votes: tuple[float, ...] | Cause
    weight: float = 1.0
    veto: bool = False
    objects: bool = False

    def counted(self, actions: Sequence[str]) -> tuple[float, ...]:
        """The votes as they are counted; those of a missing member are the severest possible."""
        if isinstance(self.votes, tuple):
            return self.votes
        return tuple(MOST_OF_A_VOTE if place else 0.0 for place in range(len(actions)))

    @property
    def is_cast(self) -> bool:
        """Whether it counts: that of a member that a rate limit took does not."""
        return self.votes is not Cause.RATE_LIMIT

    def blocks(self, actions: Sequence[str]) -> bool:
        """Whether it blocks by itself."""
        return self.is_cast and self.veto and (self.objects or self.counted(actions)[-1] >= BLOCKS_FROM)


@dataclass(frozen=True, slots=True)
class Tally:
    """What the votes come to. ``actions`` are mildest first, ``means`` and ``winner`` are about them.

    ``blocked_by`` are the members that block by themselves. ``spread`` is that of the winner.
    """

    actions: tuple[str, ...]
    ballots: tuple[Ballot, ...]
    means: tuple[float, ...]
    winner: str
    spread: float
    blocked_by: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The members whose vote did not come."""
        return tuple(each.member for each in self.ballots if isinstance(each.votes, Cause))

    @property
    def rate_limited(self) -> tuple[str, ...]:
        """The members that a rate limit took."""
        return tuple(each.member for each in self.ballots if not each.is_cast)

    @property
    def nobody(self) -> bool:
        """Whether no vote came at all."""
        return len(self.missing) == len(self.ballots)

    @property
    def is_split(self) -> bool:
        """Whether the members' votes for the winner are too far apart."""
        return self.spread > WIDEST_SPREAD

    @property
    def dissent(self) -> tuple[str, ...]:
        """The members that gave another action more votes than the winner."""
        place = self.actions.index(self.winner)
        return tuple(
            each.member
            for each in self.ballots
            if isinstance(each.votes, tuple) and each.votes[place] < max(each.votes)
        )

    @property
    def why(self) -> str:
        """The reason for the winner, in one sentence."""
        if self.nobody:
            return "no member of the council answered"
        if self.blocked_by:
            return f"{self.winner}: blocked by {', '.join(self.blocked_by)}"
        means = ", ".join(f"{action} {mean:.0f}" for action, mean in zip(self.actions, self.means, strict=True))
        return f"{self.winner} has the highest mean ({means}; spread {self.spread:.0f})"

    @property
    def calls(self) -> tuple[dict[str, str], ...]:
        """The chosen action in the form of act 017."""
        return ({"_tool": self.winner, "_reasoningForCall": self.why},)


def tally(actions: Sequence[str], ballots: Sequence[Ballot]) -> Tally:
    """Count ``ballots`` over ``actions``, which are mildest first. Without a vote the severest wins."""
    kinds = tuple(actions)
    cast = [each for each in ballots if each.is_cast]
    sums = _sums(kinds, cast)
    blocked_by = tuple(each.member for each in ballots if each.blocks(kinds))
    highest = max(sums)
    place = len(kinds) - 1 if blocked_by else max(at for at, each in enumerate(sums) if each == highest)
    shown = [each.counted(kinds)[place] for each in cast if each.votes is not Cause.OUTAGE]
    return Tally(
        actions=kinds,
        ballots=tuple(ballots),
        means=tuple(float(each) for each in sums),
        winner=kinds[place],
        spread=max(shown, default=0.0) - min(shown, default=0.0),
        blocked_by=blocked_by,
    )


def _sums(actions: Sequence[str], ballots: Sequence[Ballot]) -> list[Fraction]:
    """The weighted mean of each action. Where all weights are 0, they are equal."""
    weights = [Fraction(each.weight) for each in ballots]
    if not any(weights):
        weights = [Fraction(1)] * len(ballots)
    whole = sum(weights) or 1
    votes = [each.counted(actions) for each in ballots]
    return [
        sum((weight * Fraction(each[at]) for weight, each in zip(weights, votes, strict=True)), Fraction(0)) / whole
        for at in range(len(actions))
    ]
