"""Whether stated confidence comes true."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from itertools import pairwise, takewhile
from math import ceil
from typing import Any

from review_advisor.lab.sampling import Draw, Middle, middle, resamples
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


def bins(judged: Sequence[JudgedConfidence]) -> tuple[ConfidenceBin, ...]:
    """The tenths of confidence that hold a finding, in their order."""
    held: dict[int, list[JudgedConfidence]] = {}
    for each in judged:
        held.setdefault(_bin_of(each[0]), []).append(each)
    made = []
    for number, its in sorted(held.items()):
        right = sum(is_right for _, is_right in its)
        interval = wilson(right, len(its)) or (0.0, 1.0)
        stated = sum(confidence for confidence, _ in its) / len(its)
        made.append(ConfidenceBin(number / BINS, (number + 1) / BINS, len(its), right, stated, interval))
    return tuple(made)


def ece(judged: Sequence[JudgedConfidence]) -> float:
    """The expected calibration error: how far a bin's share is from its mean confidence, weighed by its findings."""
    sums = [[0.0, 0.0] for _ in range(BINS)]
    for confidence, is_right in judged:
        its = sums[_bin_of(confidence)]
        its[0] += confidence
        its[1] += is_right
    return sum(abs(stated - right) for stated, right in sums) / len(judged)


def brier(judged: Sequence[JudgedConfidence]) -> float:
    """The mean square of how far each confidence is from 1 or 0: 0 is best."""
    return sum((confidence - is_right) ** 2 for confidence, is_right in judged) / len(judged)


def risk_curve(judged: Sequence[JudgedConfidence]) -> tuple[RiskPoint, ...]:
    """One point for each confidence that was stated, the surest first: equal confidence cannot be parted."""
    points: list[RiskPoint] = []
    wrong, ordered = 0, sorted(judged, key=lambda each: -each[0])
    for place, (confidence, is_right) in enumerate(ordered, 1):
        wrong += not is_right
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
    judged = [each for its in groups for each in its]
    samples = resamples([""] * len(groups), times, draw) if len(groups) >= FEWEST_GROUPS else []
    drawn = [[each for place in sample for each in groups[place]] for sample in samples]
    return Reliability(
        cases=len(judged),
        groups=len(groups),
        right=sum(is_right for _, is_right in judged),
        bins=bins(judged),
        ece=ece(judged),
        brier=brier(judged),
        ece_interval=_interval(ece, drawn),
        brier_interval=_interval(brier, drawn),
        curve=risk_curve(judged),
    )


def _interval(
    of: Callable[[Sequence[JudgedConfidence]], float], drawn: Sequence[Sequence[JudgedConfidence]]
) -> Middle | None:
    return middle([of(each) for each in drawn]) if drawn else None


def _bin_of(confidence: float) -> int:
    return min(int(confidence * BINS + 1e-9), BINS - 1)


FEWEST_OF_THRESHOLD = 200
"""Labels of a class of findings that a threshold may rest on."""


@dataclass(frozen=True, slots=True)
class ClassThreshold:
    """The least confidence that is enough for the executor's findings of one ``category`` on one ``surface``.

    ``value`` is None where the labels do not show one; ``because`` says why in words.
    """

    surface: str
    category: str
    labels: int
    value: float | None
    because: str

    @property
    def words(self) -> str:
        """What it is of, for a person."""
        return printable_line(f"{self.surface} / {self.category}")


def class_threshold(surface: str, category: str, pairs: Sequence[ConfidencePair]) -> ClassThreshold:
    """The threshold that labelled pairs of one class show: the least confidence from which on 70% are surely right.

    Surely: in each tenth from there on that has 30 labels, the whole 95% interval lies above. It is 1 where the
    interval of the highest such tenth lies below. What nobody stated was not seen to be right.
    """
    needs = FIRST_THRESHOLD
    tenths = [each for each in bins([(e.confidence, bool(e.right)) for e in pairs]) if each.cases >= FEWEST_OF_CELL]
    sure = list(takewhile(lambda tenth: tenth.interval[0] >= needs, reversed(tenths)))
    groups = len({each.group for each in pairs})
    value: float | None = None
    if len(pairs) < FEWEST_OF_THRESHOLD:
        because = f"fewer than {FEWEST_OF_THRESHOLD} labels"
    elif groups < FEWEST_GROUPS:
        because = f"{groups} pull requests are fewer than {FEWEST_GROUPS}"
    elif sure:
        least = min(each.confidence for each in pairs if each.confidence >= sure[-1].low)
        value = ceil(round(100 * least, 6)) / 100
        because = f"from there on, more than {needs:.0%} of each tenth are right"
    elif tenths and tenths[-1].interval[1] < needs:
        value = 1.0
        because = f"at no confidence are {needs:.0%} right"
    else:
        because = f"it is not sure that {needs:.0%} of the surest are right"
    return ClassThreshold(surface, category, len(pairs), value, because)


@dataclass(frozen=True, slots=True)
class CalibratedCell:
    """``reliability`` is None below 30 labels, its parents' included."""

    cell: CalibrationCell
    reliability: Reliability | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cells and thresholds are of the labels of ``source`` alone. ``by_source`` counts labels and the right ones.

    ``findings`` are all pairs, with a label or without. A revert calls nothing wrong, so it shows no threshold.
    ``kinds`` are of people's labels, and are there only where ``source`` is people.
    """

    source: LabelSource
    findings: int
    by_source: tuple[tuple[LabelSource, int, int], ...]
    cells: tuple[CalibratedCell, ...]
    thresholds: tuple[ClassThreshold, ...]
    kinds: tuple[KindRecord, ...] = ()

    @property
    def unlabelled(self) -> int:
        """How many findings nobody said anything about."""
        return self.findings - sum(many for _, many, _ in self.by_source)


def calibration(pairs: Sequence[ConfidencePair], source: LabelSource, times: int, draw: Draw) -> Calibration:
    """The calibration by the labels of one source. The same pairs and the same draw give the same."""
    known = labelled(pairs, source)
    sources = (source,) if source == "golden" else OBSERVED_SOURCES
    by_source = {each: labelled(pairs, each) for each in sources}
    compute = partial(reliability, times=times, draw=draw)
    kept: dict[FindingKind, Reliability] = {}
    made = []
    for cell in cells(known):
        if cell.is_enough and cell.kind not in kept:
            kept[cell.kind] = compute(cell.pairs)
        made.append(CalibratedCell(cell, kept.get(cell.kind)))
    return Calibration(
        source,
        len(pairs),
        tuple((each, len(its), sum(bool(pair.right) for pair in its)) for each, its in by_source.items()),
        tuple(made),
        () if source == "revert" else _thresholds(known),
        kind_records(known) if source == "people" else (),
    )


def _thresholds(known: Sequence[ConfidencePair]) -> tuple[ClassThreshold, ...]:
    """Of each category of the executor's findings that has labels enough for a cell, those with the most first.

    A verdict is no finding: a threshold without a category would hold for whole verdicts, too.
    """
    classes: dict[tuple[str, str], list[ConfidencePair]] = {}
    for each in known:
        kind = each.kind
        if kind.advisor == "executor" and kind.surface and kind.category not in ("", VERDICT):
            classes.setdefault((kind.surface, kind.category), []).append(each)
    ordered = sorted(classes.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(class_threshold(*of, its) for of, its in ordered if len(its) >= FEWEST_OF_CELL)


PROPOSED_THRESHOLDS = ".review-advisor/proposed-thresholds.toml"


PROPOSED_KINDS = ".review-advisor/proposed-calibration.toml"
"""Nothing reads these two files: a person takes from them what is to hold."""


_SAYS = {
    "people": "by people",
    "revert": "by a revert: it calls every finding right",
    "golden": "by golden cases",
}


def calibration_text(found: Calibration) -> str:
    """The calibration as tables: who labelled, each cell, the bins of all findings, and each threshold."""
    where = "in evaluations" if found.source == "golden" else "on pull requests"
    share = [["findings", str(found.findings), where]]
    share += [[f"  {name}", str(many), f"{_SAYS[name]}, {right} right"] for name, many, right in found.by_source]
    share.append(
        ["  no label", str(found.unlabelled), f"{found.unlabelled / max(found.findings, 1):.0%} of the findings"]
    )
    parts = [table(share)]
    groups = "groups" if found.source == "golden" else "pull requests"
    heads = ["kind of finding", "labels", "told by", "n", groups, "right", "stated", "ECE", "Brier", "AURC"]
    parts.append(table([heads, *(_cell_row(each) for each in found.cells)]))
    whole = found.cells[0].reliability
    if whole is not None:
        bins = [
            [f"{e.low:.1f} to {e.high:.1f}", str(e.cases), f"{e.stated:.2f}", f"{e.observed:.2f} {_range(e.interval)}"]
            for e in whole.bins
        ]
        parts.append(table([["confidence", "n", "stated", f"right by {found.source}"], *bins]))
    if found.thresholds:
        values = ["" if each.value is None else f"{each.value:.2f}" for each in found.thresholds]
        rows = [[e.words, str(e.labels), at, e.because] for e, at in zip(found.thresholds, values, strict=True)]
        parts.append(table([["threshold for", "labels", "value", "because"], *rows]))
    return "\n".join(parts)


def calibration_as_json(found: Calibration) -> dict[str, Any]:
    """Every number of it."""
    return {
        "labels_of": found.source,
        "findings": found.findings,
        "without_label": found.unlabelled,
        "sources": {name: {"labels": many, "right": right} for name, many, right in found.by_source},
        "cells": [
            {
                "kind": _kind(each.cell.asked),
                "labels": each.cell.own,
                "told_by": _kind(each.cell.kind),
                **_reliability(each.reliability),
            }
            for each in found.cells
        ],
        "thresholds": [asdict(each) for each in found.thresholds],
    }


def proposed_thresholds(found: Calibration, made: date) -> str:
    """Tables for ``thresholds.toml`` of the thresholds that labels show; empty without one.

    Words of models stand in it as TOML strings alone.
    """
    shown = [(each, each.value) for each in found.thresholds if each.value is not None]
    if not shown:
        return ""
    lines = [
        f"# Proposed by review-advisor calibrate on {made.isoformat()}, from labels by {found.source}.",
        f"# Nothing reads this file. Move what is to hold into {THRESHOLDS_FILE} and commit it.",
        *_origin(found, made),
    ]
    for each, value in shown:
        lines += ["", f"# {each.because}"]
        lines += [f"# lower than {FIRST_THRESHOLD}, which holds without it"] if value < FIRST_THRESHOLD else []
        lines += ["[[threshold]]", f"value = {value}", f"labels = {each.labels}"]
        lines += [f"surface = {_toml(each.surface)}", f"category = {_toml(each.category)}"]
    return "\n".join(lines) + "\n"


def proposed_kinds(found: Calibration, made: date) -> str:
    """Tables for ``calibration.toml`` of the kinds of which people judged enough findings; empty without one."""
    if not found.kinds:
        return ""
    lines = [
        f"# Proposed by review-advisor calibrate on {made.isoformat()}: how often findings of a kind were right.",
        f"# Nothing reads this file. Move it to {KINDS_FILE} and commit it: findings are then shown with it.",
        *_origin(found, made),
    ]
    for each in found.kinds:
        named = {name: getattr(each.kind, name) for name in ("advisor", "model", "surface", "category")}
        lines += ["", "[[kind]]", *(f"{name} = {_toml(value)}" for name, value in named.items())]
        lines += [f"labels = {each.labels}", f"right = {each.right}"]
    return "\n".join(lines) + "\n"


def _origin(found: Calibration, made: date) -> list[str]:
    return [f"made = {made.isoformat()}", f"labels_of = {_toml(found.source)}"]


def _toml(text: str) -> str:
    """A TOML string: JSON's escapes are TOML's, but for half characters and DEL."""
    return json.dumps(text.encode("utf-8", "replace").decode("utf-8"), ensure_ascii=False).replace("\x7f", "\\u007F")


def _cell_row(each: CalibratedCell) -> list[str]:
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


def _estimate(value: float, interval: Middle | None) -> str:
    return f"{value:.3f}" if interval is None else f"{value:.3f} {_range(interval, 3)}"


def _range(ends: tuple[float, float], digits: int = 2) -> str:
    return f"[{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"


def _ends(interval: Middle | None) -> list[float] | None:
    return None if interval is None else list(interval)
