"""How far stated confidence is from what came true: bins, ECE, Brier score, and risk by coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from review_advisor.core.evaluation.calibration.cells import FEWEST_GROUPS
from review_advisor.core.evaluation.calibration.confidence_pair import ConfidencePair
from review_advisor.core.evaluation.judged_change import Draw
from review_advisor.core.evaluation.resampling import Middle, middle, resamples
from review_advisor.core.metrics.intervals import wilson

BINS = 10
JudgedConfidence = tuple[float, bool]
"""A stated confidence, and whether it came true."""


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Findings whose confidence is from ``low`` to below ``high``; 1.0 is in the last bin.

    ``stated`` is their mean confidence. ``interval`` is Wilson's at 95%, of the share that was right.
    """

    low: float
    high: float
    cases: int
    right: int
    stated: float
    interval: tuple[float, float]

    @property
    def observed(self) -> float:
        """The share that was right."""
        return self.right / self.cases


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Of the surest findings, ``coverage`` of all, the share ``risk`` was wrong. ``confidence`` is their least."""

    confidence: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """What the pairs of one cell come to. The intervals are 95%, over whole pull requests."""

    cases: int
    groups: int
    right: int
    bins: tuple[ConfidenceBin, ...]
    ece: float
    brier: float
    ece_interval: Middle | None
    brier_interval: Middle | None
    curve: tuple[RiskPoint, ...]

    @property
    def area(self) -> float:
        """The mean risk over every coverage: 0 is best."""
        held = [(0.0, self.curve[0].risk), *((each.coverage, each.risk) for each in self.curve)]
        return sum((two[0] - one[0]) * (one[1] + two[1]) / 2 for one, two in pairwise(held))


def bins(said: Sequence[JudgedConfidence]) -> tuple[ConfidenceBin, ...]:
    """The tenths of confidence that hold a finding, in their order."""
    held: dict[int, list[JudgedConfidence]] = {}
    for each in said:
        held.setdefault(_bin_of(each[0]), []).append(each)
    made = []
    for number, its in sorted(held.items()):
        right = sum(came for _, came in its)
        interval = wilson(right, len(its)) or (0.0, 1.0)
        stated = sum(confidence for confidence, _ in its) / len(its)
        made.append(ConfidenceBin(number / BINS, (number + 1) / BINS, len(its), right, stated, interval))
    return tuple(made)


def ece(said: Sequence[JudgedConfidence]) -> float:
    """The expected calibration error: how far a bin's share is from its mean confidence, weighed by its findings."""
    sums = [[0.0, 0.0] for _ in range(BINS)]
    for confidence, came in said:
        its = sums[_bin_of(confidence)]
        its[0] += confidence
        its[1] += came
    return sum(abs(stated - right) for stated, right in sums) / len(said)


def brier(said: Sequence[JudgedConfidence]) -> float:
    """The mean square of how far each confidence is from 1 or 0: 0 is best."""
    return sum((confidence - came) ** 2 for confidence, came in said) / len(said)


def risk_curve(said: Sequence[JudgedConfidence]) -> tuple[RiskPoint, ...]:
    """One point for each confidence that was stated, the surest first: equal confidence cannot be parted."""
    points: list[RiskPoint] = []
    wrong, ordered = 0, sorted(said, key=lambda each: -each[0])
    for place, (confidence, came) in enumerate(ordered, 1):
        wrong += not came
        if place == len(ordered) or ordered[place][0] != confidence:
            points.append(RiskPoint(confidence, place / len(ordered), wrong / place))
    return tuple(points)


def by_group(pairs: Sequence[ConfidencePair]) -> list[list[JudgedConfidence]]:
    """What labelled pairs say, pull request by pull request."""
    found: dict[str, list[JudgedConfidence]] = {}
    for each in pairs:
        found.setdefault(each.group, []).append((each.confidence, bool(each.right)))
    return [found[group] for group in sorted(found)]


def reliability(pairs: Sequence[ConfidencePair], times: int, draw: Draw) -> Reliability:
    """What labelled pairs come to; at least one. The intervals come of ``times`` samples of whole pull requests.

    Of fewer than 10 pull requests there is none.
    """
    groups = by_group(pairs)
    said = [each for its in groups for each in its]
    samples = resamples([""] * len(groups), times, draw) if len(groups) >= FEWEST_GROUPS else []
    drawn = [[each for place in sample for each in groups[place]] for sample in samples]
    return Reliability(
        cases=len(said),
        groups=len(groups),
        right=sum(came for _, came in said),
        bins=bins(said),
        ece=ece(said),
        brier=brier(said),
        ece_interval=_interval(ece, drawn),
        brier_interval=_interval(brier, drawn),
        curve=risk_curve(said),
    )


def _interval(
    of: Callable[[Sequence[JudgedConfidence]], float], drawn: Sequence[Sequence[JudgedConfidence]]
) -> Middle | None:
    return middle([of(each) for each in drawn]) if drawn else None


def _bin_of(confidence: float) -> int:
    return min(int(confidence * BINS + 1e-9), BINS - 1)
