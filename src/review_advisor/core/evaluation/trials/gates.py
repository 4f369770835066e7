"""Whether advised reviews may ship: the gate of advisor-pattern-v2, and the one that asks what a correct review costs.

The first compares with the advisor alone: within 2 points of its correct reviews, for less than 30% of its cost. List
prices make the second part easy or impossible whatever the advice is worth. So the other gate stands beside it: a
correct review costs less than with the cheapest single model, and as many are correct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from review_advisor.core.evaluation.trials.group_samples import (
    FEW_GROUPS,
    Estimate,
    Sampled,
    difference,
    ratio,
)
from review_advisor.core.evaluation.trials.measures import correct_share, usd_per_correct, usd_per_review
from review_advisor.core.report.wording import counted

POINTS = 0.02
"""How many correct reviews in a hundred an arm may be behind, as a share."""
COST_SHARE = 0.30
"""Of the cost of the advisor alone."""
GateKind = Literal["ship", "cost_of_correct"]
GateAnswer = Literal["pass", "fail", "undecided", "not_applicable"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a gate: what is asked, the answer, and why it is that."""

    asks: str
    answer: GateAnswer
    why: str


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """One gate over one arm. It passes where all its conditions hold, and fails where one surely does not."""

    gate: GateKind
    arm: str
    against: str
    conditions: tuple[Condition, ...]

    @property
    def answer(self) -> GateAnswer:
        """The worst of its conditions: a failure decides alone, and what does not apply leaves nothing to decide."""
        answers = {each.answer for each in self.conditions}
        order: tuple[GateAnswer, ...] = ("fail", "not_applicable", "undecided")
        return next((each for each in order if each in answers), "pass")

    @property
    def advice(self) -> str:
        """What to do about it, as a sentence; empty where it passes or does not apply."""
        match self.answer:
            case "fail":
                return f"Tune the thresholds of {self.arm}, or use {self.against} alone."
            case "undecided":
                return "Add cases, from more repositories, or repeat each review."
            case _:
                return ""


def ship_gate(arms: Mapping[str, Sampled], arm: str, advisor: str | None) -> GateVerdict:
    """Within 2 points of the correct reviews of ``advisor`` alone, for less than 30% of its cost."""
    gate: GateKind = "ship"
    missing = _missing(arms, arm, () if advisor is None else (advisor,), "no arm is the advisor alone")
    if missing is not None or advisor is None:
        return GateVerdict(gate, arm, advisor or "", (missing,) if missing else ())
    one, other = arms[arm], arms[advisor]
    cost = ratio(one, other, usd_per_review)
    asks = f"less than {COST_SHARE:.0%} of the cost of {advisor}"
    return GateVerdict(
        gate,
        arm,
        advisor,
        (
            _as_good(one, other, advisor),
            _priced(one, other, asks) or _below(asks, cost, COST_SHARE, one.groups, _percent),
        ),
    )


def cost_gate(arms: Mapping[str, Sampled], arm: str, singles: Sequence[str]) -> GateVerdict:
    """A correct review costs less than with the cheapest single model, and as many are correct.

    ``singles``: the arms that are one model alone. The cheapest is that with the least US dollars for a correct review.
    """
    gate: GateKind = "cost_of_correct"
    missing = _missing(arms, arm, singles, "no arm is a single model")
    if missing is not None:
        return GateVerdict(gate, arm, "", (missing,))
    why = _why_no_costs(arms, arm, singles)
    if why is not None:
        return GateVerdict(gate, arm, "", (Condition("a correct review costs less", "not_applicable", why),))
    cheapest = min(singles, key=lambda each: (usd_per_correct(arms[each].whole) or 0.0, each))
    one, other = arms[arm], arms[cheapest]
    asks = f"a correct review costs less than with {cheapest}"
    less = difference(one, other, usd_per_correct)
    return GateVerdict(
        gate, arm, cheapest, (_as_good(one, other, cheapest), _below(asks, less, 0, one.groups, _dollars))
    )


def as_good_condition(arms: Mapping[str, Sampled], arm: str, other: str) -> Condition:
    """At most 2 points fewer correct reviews than the ``other``, whatever they cost."""
    return _missing(arms, arm, (other,), "") or _as_good(arms[arm], arms[other], other)


def _why_no_costs(arms: Mapping[str, Sampled], arm: str, singles: Sequence[str]) -> str | None:
    """Nobody can tell which single model is the cheapest while the cost of one review of one of them is not known."""
    unpriced = [each for each in (arm, *singles) if arms[each].whole.unpriced]
    if unpriced:
        return f"what a review of {unpriced[0]} cost is not known"
    return None if any(arms[each].whole.usd for each in singles) else "no single model costs anything"


def _missing(arms: Mapping[str, Sampled], arm: str, others: Sequence[str], none: str) -> Condition | None:
    """What keeps arms from being compared at all. A lost review looks wrong and cheap, whoever was to make it."""
    asks = "the arms can be compared"
    if not others:
        return Condition(asks, "not_applicable", none)
    silent = next((each for each in (arm, *others) if arms[each].whole.lost), None)
    if silent is not None:
        lost = f"{arms[silent].whole.lost:.0f} of {arms[silent].whole.reviews:.0f} reviews by {silent}"
        return Condition(asks, "not_applicable", f"{lost} got no answer")
    reviews = {arms[each].whole.reviews for each in (arm, *others)}
    if len(reviews) > 1 or reviews == {0}:
        return Condition(asks, "not_applicable", "the arms did not review the same cases")
    return None


def _priced(one: Sampled, other: Sampled, asks: str) -> Condition | None:
    if one.whole.unpriced or other.whole.unpriced:
        return Condition(asks, "not_applicable", "what each review cost is not known")
    return None if other.whole.usd else Condition(asks, "not_applicable", "the other costs nothing")


def _as_good(one: Sampled, other: Sampled, name: str) -> Condition:
    """Turned round, so that less is better: how many points it is behind."""
    asks = f"at most {POINTS * 100:.0f} points fewer correct reviews than {name}"
    return _below(asks, difference(other, one, correct_share), POINTS, one.groups, _points_behind)


def _below(asks: str, found: Estimate, bound: float, groups: int, words: Callable[[float], str]) -> Condition:
    """Whether what was found is below the bound: with the whole of its interval."""
    if found.value is None or found.interval is None or not isfinite(found.value):
        return Condition(asks, "undecided", "it cannot be told from these reviews")
    ends = sorted([found.interval.low, found.interval.high], reverse=words is _points_behind)
    told = f"{words(found.value)}, 95% from {words(ends[0])} to {words(ends[1])}"
    if groups < FEW_GROUPS:
        return Condition(asks, "undecided", f"{told}; {_few(groups)} too few for an interval to decide")
    if found.interval.high < bound:
        return Condition(asks, "pass", told)
    if found.interval.low > bound:
        return Condition(asks, "fail", told)
    return Condition(asks, "undecided", f"{told}: the sample cannot resolve it")


def _few(groups: int) -> str:
    return f"{counted(groups, 'group')} {'is' if groups == 1 else 'are'}"


def _points_behind(share: float) -> str:
    return f"{-100 * share + 0.0:+.1f} points"


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _dollars(usd: float) -> str:
    return f"{usd:+.4f} dollars"
