"""A calibration for a person, for a program, and as a proposal that a person commits."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from review_advisor.core.evaluation.calibration.calibration import Calibration, CellTold, MapTried
from review_advisor.core.evaluation.calibration.confidence_pair import FindingKind
from review_advisor.core.evaluation.calibration.kind_records import KINDS_FILE
from review_advisor.core.evaluation.calibration.reliability import Reliability
from review_advisor.core.evaluation.resampling import Middle
from review_advisor.core.policy.escalation_rules import FIRST_THRESHOLD
from review_advisor.core.policy.thresholds import THRESHOLDS_FILE
from review_advisor.core.report.wording import printable_line, table

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
    rows = [[_words(each.kind), str(each.labels), _gain(each), _map(each)] for each in told.maps]
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


def _gain(each: MapTried) -> str:
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
