"""Whether stated confidence comes true."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import pairwise
from math import ceil, exp, log
from typing import Any, Literal

from review_advisor.lab.recorded_reviews import Draw, Middle, middle, resamples, shuffled
from review_advisor.ledger.kind_records import (
    FEWEST_GROUPS,
    FEWEST_OF_CELL,
    KINDS_FILE,
    OBSERVED_SOURCES,
    CalibrationCell,
    ConfidencePair,
    FindingKind,
    KindRecord,
    LabelSource,
    cells,
    kind_records,
    labelled,
)
from review_advisor.ledger.kpis import wilson
from review_advisor.policy.escalation_rules import FIRST_THRESHOLD, VERDICT
from review_advisor.policy.thresholds import THRESHOLDS_FILE
from review_advisor.safety.wording import printable_line, table

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


MapName = Literal["temperature", "platt", "isotonic"]


_EDGE = 0.01
"""Stated certainty is taken for 99%: its logarithm would be infinite."""


_STEPS = 50


_STEEPEST = 20.0


_SMALL = 1e-9


@dataclass(frozen=True, slots=True)
class ConfidenceMap:
    """Points of a rising line from stated confidence to the share that came true; between them it is straight."""

    name: MapName
    points: tuple[tuple[float, float], ...]

    def of(self, confidence: float) -> float:
        """The mapped confidence, 0 to 1."""
        place = bisect_left(self.points, (confidence, -1.0))
        if place == 0:
            return self.points[0][1]
        if place == len(self.points):
            return self.points[-1][1]
        (left, low), (right, high) = self.points[place - 1], self.points[place]
        return low + (high - low) * (confidence - left) / (right - left)


@dataclass(frozen=True, slots=True)
class _Sums:
    confidence: float
    cases: int
    right: int


def temperature(said: Sequence[JudgedConfidence]) -> ConfidenceMap:
    """The logit of the confidence, divided by one number: a half stays a half."""
    return _curve("temperature", *_logistic(said, moves=False))


def platt(said: Sequence[JudgedConfidence]) -> ConfidenceMap:
    """The logit of the confidence, times one number plus another. Labels are smoothed as Platt says."""
    return _curve("platt", *_logistic(said, moves=True))


def isotonic(said: Sequence[JudgedConfidence]) -> ConfidenceMap:
    """The rising steps that are nearest to what came true, by pooling neighbours that fall."""
    pooled: list[tuple[float, float, int, float]] = []
    for each in _sums(said):
        block = (each.confidence, each.confidence, each.cases, each.right / each.cases)
        while pooled and pooled[-1][3] >= block[3]:
            first, _, cases, share = pooled.pop()
            whole = cases + block[2]
            block = (first, block[1], whole, (share * cases + block[3] * block[2]) / whole)
        pooled.append(block)
    points = [(edge, share) for first, last, _, share in pooled for edge in dict.fromkeys((first, last))]
    return ConfidenceMap("isotonic", tuple(points))


MAPS: Mapping[MapName, Callable[[Sequence[JudgedConfidence]], ConfidenceMap]] = {
    "temperature": temperature,
    "platt": platt,
    "isotonic": isotonic,
}
"""Those with fewer numbers first: the first of equals is chosen."""


def _sums(said: Sequence[JudgedConfidence]) -> list[_Sums]:
    held: dict[float, list[bool]] = {}
    for confidence, came in said:
        held.setdefault(confidence, []).append(came)
    return [_Sums(confidence, len(its), sum(its)) for confidence, its in sorted(held.items())]


def _logit(confidence: float) -> float:
    held = min(max(confidence, _EDGE), 1 - _EDGE)
    return log(held / (1 - held))


def _sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value)) if value >= 0 else exp(value) / (1 + exp(value))


def _curve(name: MapName, slope: float, shift: float) -> ConfidenceMap:
    places = [place / 100 for place in range(101)]
    return ConfidenceMap(name, tuple((place, _sigmoid(slope * _logit(place) + shift)) for place in places))


def _logistic(said: Sequence[JudgedConfidence], *, moves: bool) -> tuple[float, float]:
    """The slope and the shift of the greatest likelihood, by Newton's steps. A slope never falls below 0."""
    right = sum(came for _, came in said)
    high, low = ((right + 1) / (right + 2), 1 / (len(said) - right + 2)) if moves else (1.0, 0.0)
    points = [(_logit(e.confidence), e.cases, e.right * high + (e.cases - e.right) * low) for e in _sums(said)]
    slope, shift = 1.0, 0.0
    for _ in range(_STEPS):
        g1 = g2 = h11 = h12 = h22 = 0.0
        for at, cases, target in points:
            share = _sigmoid(slope * at + shift)
            error, weight = cases * share - target, max(cases * share * (1 - share), _SMALL)
            g1, g2 = g1 + error * at, g2 + error
            h11, h12, h22 = h11 + weight * at * at, h12 + weight * at, h22 + weight
        step1, step2 = _newton(g1, g2, h11, h12, h22, moves=moves)
        slope, shift = min(max(slope - step1, 0.0), _STEEPEST), shift - step2
        if abs(step1) + abs(step2) < _SMALL:
            break
    return slope, shift


def _newton(g1: float, g2: float, h11: float, h12: float, h22: float, *, moves: bool) -> tuple[float, float]:
    """One step for the slope and the shift, each at most 1: far steps overshoot where points are few."""
    if not moves:
        return _bounded(g1 / (h11 + _SMALL)), 0.0
    determinant = h11 * h22 - h12 * h12
    if determinant <= _SMALL * h11 * h22 + _SMALL**2:  # all state the same confidence: only a shift can be told
        return 0.0, _bounded(g2 / h22)
    return _bounded((h22 * g1 - h12 * g2) / determinant), _bounded((h11 * g2 - h12 * g1) / determinant)


def _bounded(step: float) -> float:
    return min(max(step, -1.0), 1.0)


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
    gain, interval = sum(gains) / sum(sizes), _gain_interval(gains, sizes, times, draw)
    if interval.low <= 0:
        return EarnedMap(None, "its gain on held-out pull requests does not exclude 0", gain, interval)
    return EarnedMap(
        MAPS[_best(groups)](_flat(groups)), "its gain on held-out pull requests excludes 0", gain, interval
    )


def _gain_interval(gains: Sequence[float], sizes: Sequence[int], times: int, draw: Draw) -> Middle:
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


@dataclass(frozen=True, slots=True)
class CellTold:
    """``reliability`` is None below 30 labels, its parents' included."""

    cell: CalibrationCell
    reliability: Reliability | None


@dataclass(frozen=True, slots=True)
class MapTried:
    """The map of the executor's findings of one kind: ``kind`` names a surface and a category, or any.

    ``threshold`` is the least stated confidence, in hundredths, that the map takes for 70%; 1 where none is. It is None
    without a map.
    """

    kind: FindingKind
    labels: int
    earned: EarnedMap
    threshold: float | None

    @property
    def is_of_findings_alone(self) -> bool:
        """Whether a threshold for this kind holds for findings and for no verdict."""
        return bool(self.kind.surface) and self.kind.category not in ("", VERDICT)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cells and maps are of the labels of ``source`` alone. ``by_source`` counts those of each source, and the right.

    ``findings`` are all pairs, with a label or without. A revert calls nothing wrong, so no map is fitted on reverts.
    ``kinds`` are of people's labels, and are there only where ``source`` is people.
    """

    source: LabelSource
    findings: int
    by_source: tuple[tuple[LabelSource, int, int], ...]
    cells: tuple[CellTold, ...]
    maps: tuple[MapTried, ...]
    kinds: tuple[KindRecord, ...] = ()

    @property
    def unlabelled(self) -> int:
        """How many findings nobody said anything about."""
        return self.findings - sum(many for _, many, _ in self.by_source)


def calibration(pairs: Sequence[ConfidencePair], source: LabelSource, times: int, draw: Draw) -> Calibration:
    """The calibration by the labels of one source. The same pairs and the same draw give the same."""
    known = labelled(pairs, source)
    sources = (source,) if source == "golden" else OBSERVED_SOURCES
    told = {each: labelled(pairs, each) for each in sources}
    compute = partial(reliability, times=times, draw=draw)
    kept: dict[FindingKind, Reliability] = {}
    made = []
    for cell in cells(known):
        if cell.is_enough and cell.kind not in kept:
            kept[cell.kind] = compute(cell.pairs)
        made.append(CellTold(cell, kept.get(cell.kind)))
    return Calibration(
        source,
        len(pairs),
        tuple((each, len(its), sum(bool(pair.right) for pair in its)) for each, its in told.items()),
        tuple(made),
        () if source == "revert" else _maps(known, times, draw),
        kind_records(known) if source == "people" else (),
    )


def _maps(known: Sequence[ConfidencePair], times: int, draw: Draw) -> tuple[MapTried, ...]:
    """Of everything the executor said, of each surface and of each category in it that has labels enough for a cell."""
    held: dict[FindingKind, list[ConfidencePair]] = {FindingKind(): []}
    for each in known:
        if each.kind.advisor == "executor":
            surface, category = each.kind.surface, each.kind.category
            for kind in (FindingKind(), FindingKind(surface=surface), FindingKind(surface=surface, category=category)):
                held.setdefault(kind, []).append(each)
    tried = []
    for kind, its in sorted(held.items(), key=lambda item: (-len(item[1]), len(item[0].words), item[0].words)):
        if kind == FindingKind() or len(its) >= FEWEST_OF_CELL:
            earned = earned_map(its, times, draw)
            tried.append(MapTried(kind, len(its), earned, _threshold(earned, its)))
    return tuple(tried)


def _threshold(earned: EarnedMap, its: Sequence[ConfidencePair]) -> float | None:
    """The least stated confidence that the map takes for enough. What nobody stated was not seen to be right."""
    fitted = earned.map
    if fitted is None:
        return None
    least = ceil(100 * min(each.confidence for each in its if each.right is not None))
    return next((place / 100 for place in range(least, 101) if fitted.of(place / 100) >= FIRST_THRESHOLD), 1.0)


PROPOSED_THRESHOLDS = ".review-advisor/proposed-thresholds.toml"


PROPOSED_KINDS = ".review-advisor/proposed-calibration.toml"
"""Nothing reads these two files: a person takes from them what is to hold."""


_SAYS = {
    "people": "by people",
    "revert": "by a revert: it calls every finding right",
    "golden": "by golden cases",
}


def calibration_text(told: Calibration) -> str:
    """The calibration as tables: who labelled, each cell, the bins of all findings, and each map with its reason."""
    where = "in evaluations" if told.source == "golden" else "on pull requests"
    share = [["findings", str(told.findings), where]]
    share += [[f"  {name}", str(many), f"{_SAYS[name]}, {right} right"] for name, many, right in told.by_source]
    share.append(["  no label", str(told.unlabelled), f"{told.unlabelled / max(told.findings, 1):.0%} of the findings"])
    parts = [table(share)]
    groups = "groups" if told.source == "golden" else "pull requests"
    heads = ["kind of finding", "labels", "told by", "n", groups, "right", "stated", "ECE", "Brier", "AURC"]
    parts.append(table([heads, *(_cell_row(each) for each in told.cells)]))
    whole = told.cells[0].reliability
    if whole is not None:
        bins = [
            [f"{e.low:.1f} to {e.high:.1f}", str(e.cases), f"{e.stated:.2f}", f"{e.observed:.2f} {_range(e.interval)}"]
            for e in whole.bins
        ]
        parts.append(table([["confidence", "n", "stated", f"right by {told.source}"], *bins]))
    rows = [[_words(each.kind), str(each.labels), _gain_cell(each), _map(each)] for each in told.maps]
    parts.append(table([["map for", "labels", "held-out Brier gain", "map"], *rows]))
    return "\n".join(parts)


def calibration_as_json(told: Calibration) -> dict[str, Any]:
    """Every number of it."""
    return {
        "labels_of": told.source,
        "findings": told.findings,
        "without_label": told.unlabelled,
        "sources": {name: {"labels": many, "right": right} for name, many, right in told.by_source},
        "cells": [
            {
                "kind": _kind(each.cell.asked),
                "labels": each.cell.own,
                "told_by": _kind(each.cell.kind),
                **_reliability(each.reliability),
            }
            for each in told.cells
        ],
        "maps": [
            {
                "kind": _kind(each.kind),
                "labels": each.labels,
                "because": each.earned.because,
                "gain": each.earned.gain,
                "interval": _ends(each.earned.interval),
                "name": None if each.earned.map is None else each.earned.map.name,
                "points": None if each.earned.map is None else each.earned.map.points,
                "threshold": each.threshold,
            }
            for each in told.maps
        ],
    }


def proposed_thresholds(told: Calibration, made: date) -> str:
    """Tables for ``thresholds.toml`` of the maps that earned their place, with the maps beside them; empty without one.

    The maps are of findings, so only those of a category of findings are proposed: a table without a category would
    hold for whole verdicts, too. Words of models stand in it as TOML strings alone.
    """
    earned = [each for each in told.maps if each.earned.map is not None and each.is_of_findings_alone]
    if not earned:
        return ""
    lines = [
        f"# Proposed by review-advisor calibrate on {made.isoformat()}, from labels by {told.source}.",
        f"# Nothing reads this file. Move what is to hold into {THRESHOLDS_FILE} and commit it.",
        *_origin(told, made),
    ]
    for each in earned:
        lines += ["", *_proposal(each)]
    return "\n".join(lines) + "\n"


def proposed_kinds(told: Calibration, made: date) -> str:
    """Tables for ``calibration.toml`` of the kinds of which people judged enough findings; empty without one."""
    if not told.kinds:
        return ""
    lines = [
        f"# Proposed by review-advisor calibrate on {made.isoformat()}: how often findings of a kind were right.",
        f"# Nothing reads this file. Move it to {KINDS_FILE} and commit it: findings are then shown with it.",
        *_origin(told, made),
    ]
    for each in told.kinds:
        named = {name: getattr(each.kind, name) for name in ("advisor", "model", "surface", "category")}
        lines += ["", "[[kind]]", *(f"{name} = {_toml(value)}" for name, value in named.items())]
        lines += [f"labels = {each.labels}", f"right = {each.right}"]
    return "\n".join(lines) + "\n"


def _origin(told: Calibration, made: date) -> list[str]:
    return [f"made = {made.isoformat()}", f"labels_of = {_toml(told.source)}"]


def _proposal(each: MapTried) -> list[str]:
    fitted, interval = each.earned.map, each.earned.interval
    if fitted is None or interval is None:
        return []
    gain = f"{each.earned.gain:.3f} {_range(interval, 3)}"
    tenths = ", ".join(f"{place / 10:.1f} is {fitted.of(place / 10):.2f}" for place in range(11))
    named = {"surface": each.kind.surface, "category": each.kind.category}
    return [
        f"# held-out Brier gain {gain}",
        f"# {fitted.name}: {tenths}",
        *(
            [f"# lower than {FIRST_THRESHOLD}, which holds without it"]
            if (each.threshold or 0) < FIRST_THRESHOLD
            else []
        ),
        "[[threshold]]",
        f"value = {each.threshold}",
        f"labels = {each.labels}",
        *(f"{name} = {_toml(value)}" for name, value in named.items() if value),
    ]


def _toml(text: str) -> str:
    """A TOML string: JSON's escapes are TOML's, but for half characters and DEL."""
    return json.dumps(text.encode("utf-8", "replace").decode("utf-8"), ensure_ascii=False).replace("\x7f", "\\u007F")


def _cell_row(each: CellTold) -> list[str]:
    found, cell = each.reliability, each.cell
    by = "itself" if cell.kind == cell.asked else _words(cell.kind)
    start = [_words(cell.asked), str(cell.own), by, str(len(cell.pairs))]
    if found is None:
        return [*start, "", "too few", "", "", "", ""]
    stated = sum(one.stated * one.cases for one in found.bins) / found.cases
    errors = [_estimate(found.ece, found.ece_interval), _estimate(found.brier, found.brier_interval)]
    return [
        *start,
        str(found.groups),
        f"{found.right / found.cases:.0%}",
        f"{stated:.2f}",
        *errors,
        f"{found.area:.2f}",
    ]


def _reliability(found: Reliability | None) -> dict[str, Any]:
    if found is None:
        return {"n": None}
    return {
        "n": found.cases,
        "pull_requests": found.groups,
        "right": found.right,
        "ece": found.ece,
        "ece_interval": _ends(found.ece_interval),
        "brier": found.brier,
        "brier_interval": _ends(found.brier_interval),
        "area_under_risk_coverage": found.area,
        "bins": [
            {"low": e.low, "n": e.cases, "right": e.right, "stated": e.stated, "interval": list(e.interval)}
            for e in found.bins
        ],
        "risk_coverage": [{"confidence": e.confidence, "coverage": e.coverage, "risk": e.risk} for e in found.curve],
    }


def _kind(kind: FindingKind) -> dict[str, str]:
    every = ("advisor", "model", "surface", "category", "prompts")
    return {name: getattr(kind, name) for name in every if getattr(kind, name)}


def _words(kind: FindingKind) -> str:
    return printable_line(kind.words)


def _gain_cell(each: MapTried) -> str:
    interval = each.earned.interval
    if each.earned.gain is None or interval is None:
        return ""
    return f"{each.earned.gain:.3f} {_range(interval, 3)}"


def _map(each: MapTried) -> str:
    fitted = each.earned.map
    if fitted is None:
        return f"refused: {each.earned.because}"
    return f"{fitted.name}; 70% are right from a stated {each.threshold:.2f} on"


def _estimate(value: float, interval: Middle | None) -> str:
    return f"{value:.3f}" if interval is None else f"{value:.3f} {_range(interval, 3)}"


def _range(ends: tuple[float, float], digits: int = 2) -> str:
    return f"[{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"


def _ends(interval: Middle | None) -> list[float] | None:
    return None if interval is None else list(interval)
