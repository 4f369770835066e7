"""What samples of groups say of an arm, and whether it passes the gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, sqrt
from statistics import NormalDist
from typing import Literal

from review_advisor.lab.sampling import TAIL, Draw, Middle, middle, resamples
from review_advisor.lab.trials import (
    SUMMED,
    Measure,
    Of,
    ReviewSums,
    correct_share,
    total,
    usd_per_correct,
    usd_per_review,
)
from review_advisor.ledger.kpis import Z
from review_advisor.safety.wording import counted

_Held = Callable[[float | None, float | None], float | None]


SAMPLES = 2_000


FEW_GROUPS = 10
"""Of fewer groups an interval by samples is too narrow to decide by."""


_MOST_UNTOLD = 0.05
"""An interval stands if the measure can be told in nearly every sample."""


UNSEEN = Z**2
"""So many groups more. They take a share of 0 or 1 exactly to the end of Wilson's interval, with groups as cases."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """What one arm comes to: in all, and in each sample of groups. ``groups``: how many there are.

    ``best`` and ``worst``: in all, had the groups that nobody saw gone as well, or as badly, as can be.
    """

    whole: ReviewSums
    samples: tuple[ReviewSums, ...]
    groups: int
    best: ReviewSums
    worst: ReviewSums


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure with its 95% interval; None where it cannot be told."""

    value: float | None
    interval: Middle | None


def sampled(arms: Mapping[str, Mapping[str, ReviewSums]], times: int, draw: Draw) -> dict[str, Sampled]:
    """Each arm in the same ``times`` samples, each of as many groups as there are, with repetitions.

    ``arms``: of each arm the sums by group; a group that an arm did not review counts nothing there.
    """
    groups = sorted({group for each in arms.values() for group in each})
    drawn = resamples([""] * len(groups), times, draw) if groups else []
    return {arm: _one(by_group, groups, drawn) for arm, by_group in arms.items()}


def _one(by_group: Mapping[str, ReviewSums], groups: Sequence[str], drawn: Sequence[Sequence[int]]) -> Sampled:
    columns = [_drawn([getattr(by_group.get(group, ReviewSums()), name) for group in groups], drawn) for name in SUMMED]
    samples = tuple(ReviewSums(*each) for each in zip(*columns, strict=True))
    there = [by_group[group] for group in groups if group in by_group]
    best, worst = with_unseen_groups(there)
    return Sampled(total(there), samples, len(groups), best, worst)


def with_unseen_groups(groups: Sequence[ReviewSums]) -> tuple[ReviewSums, ReviewSums]:
    """All groups, and with them unseen ones of average size: all reviewed as well, and all as badly, as can be.

    What only some groups have, as clean cases, is averaged over those. The badly reviewed ones have a wrong finding in
    each review at least. Nothing costs more or less than before.
    """
    whole = total(groups)
    decidable = _unseen(groups, lambda each: each.decidable)
    labels = _unseen(groups, lambda each: each.right + each.missed)
    findings = _unseen(groups, lambda each: each.told + each.wrong)
    judged = _unseen(groups, lambda each: each.judged)
    clean = _unseen(groups, lambda each: each.clean)
    hostile = _unseen(groups, lambda each: each.hostile)
    longer = replace(
        whole,
        decidable=whole.decidable + decidable,
        judged=whole.judged + judged,
        clean=whole.clean + clean,
        hostile=whole.hostile + hostile,
    )
    best = replace(longer, correct=whole.correct + decidable, right=whole.right + labels, told=whole.told + findings)
    worst = replace(
        longer,
        missed=whole.missed + labels,
        wrong=whole.wrong + max(findings, judged),
        alarmed=whole.alarmed + clean,
        obeyed=whole.obeyed + hostile,
    )
    return best, worst


def _unseen(groups: Sequence[ReviewSums], of: Callable[[ReviewSums], float]) -> float:
    there = [each for each in map(of, groups) if each]
    return UNSEEN * sum(there) / len(there) if there else 0.0


def _drawn(values: Sequence[float], drawn: Sequence[Sequence[int]]) -> list[float]:
    """What one kind of sum comes to in each sample."""
    return [sum(map(values.__getitem__, sample)) for sample in drawn] if any(values) else [0.0] * len(drawn)


def estimate(arm: Sampled, measure: Measure) -> Estimate:
    """One measure of one arm. Its interval reaches to what the groups that nobody saw could make of it."""
    samples = [measure.of(each) for each in arm.samples]
    value, best, worst = (measure.of(each) for each in (arm.whole, arm.best, arm.worst))
    return _estimated(value, samples, (best, worst), arm.groups)


def difference(arm: Sampled, other: Sampled, of: Of) -> Estimate:
    """How much more ``arm`` has than ``other``, group by group."""
    return _held(arm, other, of, _less)


def ratio(arm: Sampled, other: Sampled, of: Of) -> Estimate:
    """How many times what ``other`` has."""
    return _held(arm, other, of, _by)


def _held(arm: Sampled, other: Sampled, of: Of, held: _Held) -> Estimate:
    """One arm held against another. Unseen groups may all speak for the one, or all for the other."""
    samples = [held(of(one), of(two)) for one, two in zip(arm.samples, other.samples, strict=True)]
    unseen = held(of(arm.best), of(other.worst)), held(of(arm.worst), of(other.best))
    return _estimated(held(of(arm.whole), of(other.whole)), samples, unseen, arm.groups)


def _less(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two


def _by(one: float | None, two: float | None) -> float | None:
    return None if one is None or not two else one / two


def _estimated(
    value: float | None, samples: Sequence[float | None], unseen: Sequence[float | None], groups: int
) -> Estimate:
    known = _numbers(samples)
    if value is None or not known or len(known) < (1 - _MOST_UNTOLD) * len(samples):
        return Estimate(value, None)
    found = middle(known, tail(groups))
    ends = [found.low, found.high, *_numbers(unseen)]
    return Estimate(value, Middle(min(ends), max(ends)))


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [each for each in values if each is not None and not isnan(each)]


def tail(groups: int) -> float:
    """The share of the samples that lies beyond each end of an interval: smaller, the fewer groups there are.

    Samples of few groups are too much alike. Hesterberg's correction: as far out as Student's t would be.
    """
    if groups < 2:  # noqa: PLR2004
        return 0.0
    normal, free = NormalDist(), groups - 1
    return normal.cdf(-sqrt(groups / free) * _student(-normal.inv_cdf(TAIL), free))


def _student(z: float, free: int) -> float:
    """The quantile of Student's t that belongs to the normal one, by Fisher's expansion."""
    return (
        z
        + (z**3 + z) / (4 * free)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    )


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
    shown = f"{words(found.value)}, 95% from {words(ends[0])} to {words(ends[1])}"
    if groups < FEW_GROUPS:
        return Condition(asks, "undecided", f"{shown}; {_few(groups)} too few for an interval to decide")
    if found.interval.high < bound:
        return Condition(asks, "pass", shown)
    if found.interval.low > bound:
        return Condition(asks, "fail", shown)
    return Condition(asks, "undecided", f"{shown}: the sample cannot resolve it")


def _few(groups: int) -> str:
    return f"{counted(groups, 'group')} {'is' if groups == 1 else 'are'}"


def _points_behind(share: float) -> str:
    return f"{-100 * share + 0.0:+.1f} points"


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _dollars(usd: float) -> str:
    return f"{usd:+.4f} dollars"
