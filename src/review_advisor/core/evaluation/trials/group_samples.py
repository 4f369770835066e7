"""How far a measure can be from the true one: groups of cases are drawn again and again, whole and for all arms alike.

Cases of one group (a repository) are alike, so a group is never split: not by a sample, and not by a held-out part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from review_advisor.core.evaluation.judged_change import Draw
from review_advisor.core.evaluation.resampling import Middle, middle, resamples
from review_advisor.core.evaluation.trials.measures import SUMMED, Measure, Of, ReviewSums, total
from review_advisor.core.metrics.intervals import wilson

_Held = Callable[[float | None, float | None], float | None]
SAMPLES = 2_000
FEW_GROUPS = 10
"""Of fewer groups an interval by samples is too narrow to decide by."""
_MOST_UNTOLD = 0.05
"""An interval stands if the measure can be told in nearly every sample."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """What one arm comes to: in all, and in each sample of groups. ``groups``: how many there are."""

    whole: ReviewSums
    samples: tuple[ReviewSums, ...]
    groups: int


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
    columns = [[getattr(by_group.get(group, ReviewSums()), name) for group in groups] for name in SUMMED]
    samples = tuple(ReviewSums(*(sum(map(column.__getitem__, sample)) for column in columns)) for sample in drawn)
    return Sampled(total(by_group[group] for group in groups if group in by_group), samples, len(groups))


def estimate(arm: Sampled, measure: Measure) -> Estimate:
    """One measure of one arm.

    A share of which every sample is 0, or 1, tells nothing about its spread: its interval is Wilson's, with groups as
    cases. That of a share of few cases is as wide as Wilson's at least: samples of a few events are too much alike.
    """
    value = measure.of(arm.whole)
    found = _interval([measure.of(each) for each in arm.samples])
    if value is None or found is None or not measure.is_share:
        return Estimate(value, found)
    if value in (0.0, 1.0):
        return Estimate(value, _hull(found, wilson(int(value) * arm.groups, arm.groups)))
    if measure.counts is not None:
        happened, cases = measure.counts(arm.whole)
        return Estimate(value, _hull(found, wilson(int(happened), int(cases))))
    return Estimate(value, found)


def _hull(found: Middle, other: tuple[float, float] | None) -> Middle:
    return found if other is None else Middle(min(found.low, other[0]), max(found.high, other[1]))


def difference(arm: Sampled, other: Sampled, of: Of) -> Estimate:
    """How much more ``arm`` has than ``other``, group by group."""
    return Estimate(_less(of(arm.whole), of(other.whole)), _interval(_pairs(arm, other, of, _less)))


def ratio(arm: Sampled, other: Sampled, of: Of) -> Estimate:
    """How many times what ``other`` has."""
    return Estimate(_by(of(arm.whole), of(other.whole)), _interval(_pairs(arm, other, of, _by)))


def _pairs(arm: Sampled, other: Sampled, of: Of, held: _Held) -> list[float | None]:
    return [held(of(one), of(two)) for one, two in zip(arm.samples, other.samples, strict=True)]


def _less(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two


def _by(one: float | None, two: float | None) -> float | None:
    return None if one is None or not two else one / two


def _interval(values: Sequence[float | None]) -> Middle | None:
    told = [each for each in values if each is not None and not isnan(each)]
    if not told or len(told) < (1 - _MOST_UNTOLD) * len(values):
        return None
    return middle(told)
