"""How far a measure can be from the true one: groups of cases are drawn again and again, whole and for all arms alike.

Cases of one group (a repository) are alike, so a group is never split: not by a sample, and not by a held-out part.
What happened never, or always, in few groups is not certain: what groups that nobody saw could be like counts, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, sqrt
from statistics import NormalDist

from review_advisor.core.evaluation.judged_change import Draw
from review_advisor.core.evaluation.resampling import TAIL, Middle, middle, resamples
from review_advisor.core.evaluation.trials.measures import SUMMED, Measure, Of, ReviewSums, total
from review_advisor.core.metrics.intervals import Z

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
    told = [measure.of(each) for each in arm.samples]
    value, best, worst = (measure.of(each) for each in (arm.whole, arm.best, arm.worst))
    return _estimated(value, told, (best, worst), arm.groups)


def difference(arm: Sampled, other: Sampled, of: Of) -> Estimate:
    """How much more ``arm`` has than ``other``, group by group."""
    return _held(arm, other, of, _less)


def ratio(arm: Sampled, other: Sampled, of: Of) -> Estimate:
    """How many times what ``other`` has."""
    return _held(arm, other, of, _by)


def _held(arm: Sampled, other: Sampled, of: Of, held: _Held) -> Estimate:
    """One arm held against another. Unseen groups may all speak for the one, or all for the other."""
    told = [held(of(one), of(two)) for one, two in zip(arm.samples, other.samples, strict=True)]
    unseen = held(of(arm.best), of(other.worst)), held(of(arm.worst), of(other.best))
    return _estimated(held(of(arm.whole), of(other.whole)), told, unseen, arm.groups)


def _less(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two


def _by(one: float | None, two: float | None) -> float | None:
    return None if one is None or not two else one / two


def _estimated(
    value: float | None, samples: Sequence[float | None], unseen: Sequence[float | None], groups: int
) -> Estimate:
    told = _numbers(samples)
    if value is None or not told or len(told) < (1 - _MOST_UNTOLD) * len(samples):
        return Estimate(value, None)
    found = middle(told, tail(groups))
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
