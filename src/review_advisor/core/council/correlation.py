"""How alike the members of councils vote: two who always agree are one voice, paid for twice.

Pure sums over recorded votes. Agreement alone says little, because most changes are fine and most votes approve. So
Cohen's kappa stands beside it: 1 is full agreement, 0 what chance would bring, below 0 less than that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from review_advisor.core.council.ballots import Tally

LEAST_VOTES = 20
"""The fewest common votes of two members from which agreement is told."""


@dataclass(frozen=True, slots=True)
class MemberPair:
    """Two members, by their ids in order, and the ``votes`` in which both chose an action.

    ``agreement`` is the share in which both chose the same. It is None for too few votes, and ``kappa`` also where
    both always chose one and the same action: then chance would bring the same.
    """

    one: str
    other: str
    votes: int
    agreement: float | None = None
    kappa: float | None = None


@dataclass(slots=True)
class Correlation:
    """Collects votes. Neither their order nor that of the members matters."""

    _chosen: dict[tuple[str, str], Counter[tuple[str, str]]] = field(default_factory=dict)

    def add(self, chosen: Mapping[str, str]) -> None:
        """Take in one vote: the action of each member that voted."""
        for one, other in combinations(sorted(chosen), 2):
            self._chosen.setdefault((one, other), Counter())[chosen[one], chosen[other]] += 1

    @property
    def pairs(self) -> tuple[MemberPair, ...]:
        """Every two members that ever voted together: the most alike first, those with too few votes last."""
        found = (_pair(one, other, both) for (one, other), both in self._chosen.items())
        return tuple(sorted(found, key=_alike))


def chosen_actions(counted: Tally) -> dict[str, str]:
    """The action to which each member gave most, of equals the severest. Members without a vote are left out."""
    return {
        each.member: max(zip(each.votes, range(len(each.votes)), counted.actions, strict=True))[-1]
        for each in counted.ballots
        if isinstance(each.votes, tuple)
    }


def _pair(one: str, other: str, both: Counter[tuple[str, str]]) -> MemberPair:
    votes = both.total()
    if votes < LEAST_VOTES:
        return MemberPair(one, other, votes)
    agreed = Fraction(sum(many for (mine, its), many in both.items() if mine == its), votes)
    mine, its = _marginal(both, 0), _marginal(both, 1)
    by_chance = sum((Fraction(mine[action], votes) * Fraction(its[action], votes) for action in mine), Fraction(0))
    kappa = None if by_chance == 1 else float((agreed - by_chance) / (1 - by_chance))
    return MemberPair(one, other, votes, float(agreed), kappa)


def _marginal(both: Mapping[tuple[str, str], int], place: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for actions, many in both.items():
        found[actions[place]] += many
    return found


def _alike(pair: MemberPair) -> tuple[float, float, str, str]:
    unknown = -2.0
    kappa = unknown if pair.kappa is None else pair.kappa
    return -kappa, -(unknown if pair.agreement is None else pair.agreement), pair.one, pair.other


def pair_rows(pairs: Iterable[MemberPair]) -> list[tuple[str, str, str, str]]:
    """Each pair in words: its members, votes, agreement and kappa."""
    return [
        (
            f"{each.one}, {each.other}",
            str(each.votes),
            "too few" if each.agreement is None else f"{each.agreement:.0%}",
            "not known" if each.kappa is None else f"{each.kappa:.2f}",
        )
        for each in pairs
    ]
