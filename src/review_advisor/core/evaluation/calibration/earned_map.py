"""Whether a map of confidence earns its place: on pull requests that it was not fitted on, beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review_advisor.core.evaluation.calibration.cells import FEWEST_GROUPS
from review_advisor.core.evaluation.calibration.confidence_maps import MAPS, ConfidenceMap, MapName
from review_advisor.core.evaluation.calibration.confidence_pair import ConfidencePair
from review_advisor.core.evaluation.calibration.reliability import JudgedConfidence, by_group
from review_advisor.core.evaluation.judged_change import Draw, shuffled
from review_advisor.core.evaluation.resampling import Middle, middle, resamples

FEWEST_OF_MAP = 200
FOLDS = 5
_INNER_FOLDS = 3


@dataclass(frozen=True, slots=True)
class EarnedMap:
    """``map`` is None where it is refused; ``because`` says why in words.

    ``gain`` is how much smaller the Brier score of a finding gets on pull requests that were held out, with its 95%
    interval over whole pull requests; None where too little is known to try.
    """

    map: ConfidenceMap | None
    because: str
    gain: float | None = None
    interval: Middle | None = None


def earned_map(pairs: Sequence[ConfidencePair], times: int, draw: Draw) -> EarnedMap:
    """The map of labelled pairs, if there are 200 and its gain on held-out pull requests excludes 0.

    Which of the three maps is fitted is chosen without the held-out ones too, so the choice earns nothing by chance.
    """
    groups = by_group(pairs)
    if len(pairs) < FEWEST_OF_MAP:
        return EarnedMap(None, f"{len(pairs)} labels are fewer than {FEWEST_OF_MAP}")
    if len(groups) < FEWEST_GROUPS:
        return EarnedMap(None, f"{len(groups)} pull requests are fewer than {FEWEST_GROUPS}")
    groups = shuffled(groups, draw)
    gains: list[float] = [0.0] * len(groups)
    for fold in range(FOLDS):
        rest = [its for place, its in enumerate(groups) if place % FOLDS != fold]
        fitted = MAPS[_best(rest)](_flat(rest))
        for place in range(fold, len(groups), FOLDS):
            gains[place] = _gain(fitted, groups[place])
    sizes = [len(each) for each in groups]
    gain, interval = sum(gains) / sum(sizes), _interval(gains, sizes, times, draw)
    if interval.low <= 0:
        return EarnedMap(None, "its gain on held-out pull requests does not exclude 0", gain, interval)
    return EarnedMap(
        MAPS[_best(groups)](_flat(groups)), "its gain on held-out pull requests excludes 0", gain, interval
    )


def _interval(gains: Sequence[float], sizes: Sequence[int], times: int, draw: Draw) -> Middle:
    samples = resamples([""] * len(gains), times, draw)
    return middle([sum(gains[each] for each in sample) / sum(sizes[each] for each in sample) for sample in samples])


def _best(groups: Sequence[Sequence[JudgedConfidence]]) -> MapName:
    """The map with the greatest gain on parts that it was not fitted on."""
    gains = dict.fromkeys(MAPS, 0.0)
    for fold in range(_INNER_FOLDS):
        rest = _flat([its for place, its in enumerate(groups) if place % _INNER_FOLDS != fold])
        for name, fit in MAPS.items():
            fitted = fit(rest)
            gains[name] += sum(_gain(fitted, groups[place]) for place in range(fold, len(groups), _INNER_FOLDS))
    return max(gains, key=lambda name: gains[name])


def _gain(fitted: ConfidenceMap, said: Sequence[JudgedConfidence]) -> float:
    return sum((confidence - came) ** 2 - (fitted.of(confidence) - came) ** 2 for confidence, came in said)


def _flat(groups: Sequence[Sequence[JudgedConfidence]]) -> list[JudgedConfidence]:
    return [each for its in groups for each in its]
