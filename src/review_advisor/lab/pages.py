"""What the dashboard shows of calibration and evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from review_advisor.lab.calibration import JudgedConfidence, RiskPoint, bins, brier, ece, risk_curve
from review_advisor.lab.gates import GateVerdict
from review_advisor.lab.results import ANSWER_WORDS, GATE_WORDS, EvaluationResult, answers_words, besides, table_rows
from review_advisor.ledger.kind_records import (
    OBSERVED_SOURCES,
    ConfidencePair,
    FindingKind,
    cells,
    kind_records,
    labelled,
)
from review_advisor.ledger.page_entries import page_text

MOST_PLOTTED = 8


MOST_POINTS = 100


def calibration_json(pairs: Sequence[ConfidencePair]) -> dict[str, Any]:
    """For the page: all findings, then the kinds with the most labels, each with 30 of them or more, and not with all.

    ``kinds`` say by their names how often their findings were right, for the page of a run.
    """
    known = labelled(pairs, "people")
    by_source = {each: labelled(pairs, each) for each in OBSERVED_SOURCES}
    plotted: dict[FindingKind, tuple[ConfidencePair, ...]] = {}
    for cell in cells(known):
        if cell.is_enough and (not plotted or len(cell.pairs) < len(known)):
            plotted.setdefault(cell.kind, cell.pairs)
    return {
        "calibration": {
            "findings": len(pairs),
            "labelled": len(known),
            "sources": [[each, len(its), sum(bool(pair.right) for pair in its)] for each, its in by_source.items()],
            "plots": [_plot(kind, its) for kind, its in list(plotted.items())[:MOST_PLOTTED]],
            "further": max(len(plotted) - MOST_PLOTTED, 0),
        },
        "kinds": {page_text(each.kind.words): each.words for each in kind_records(pairs)},
    }


def _plot(kind: FindingKind, pairs: Sequence[ConfidencePair]) -> dict[str, Any]:
    judged: list[JudgedConfidence] = [(each.confidence, bool(each.right)) for each in pairs]
    return {
        "kind": page_text(kind.words),
        "labels": len(judged),
        "pull_requests": len({each.group for each in pairs}),
        "right": sum(is_right for _, is_right in judged),
        "ece": ece(judged),
        "brier": brier(judged),
        "bins": [[e.low, e.high, e.cases, e.stated, e.observed, *e.interval] for e in bins(judged)],
        "curve": [[e.confidence, e.coverage, e.risk] for e in _thinned(risk_curve(judged))],
    }


def _thinned(curve: Sequence[RiskPoint]) -> Sequence[RiskPoint]:
    """So many of the points that the last is among them, and no plot is heavy."""
    step = -(-len(curve) // MOST_POINTS)
    return [*curve[:-1:step], curve[-1]] if step > 1 else curve


def evaluations_json(results: Iterable[EvaluationResult]) -> dict[str, Any]:
    """For the page. Its keys are ours; only values come from the evaluations."""
    return {"evaluations": [_evaluation(each) for each in results]}


def _evaluation(result: EvaluationResult) -> dict[str, Any]:
    manifest = result.manifest
    return {
        "id": manifest.id,
        "set": page_text(manifest.set_name),
        "answers": answers_words(result),
        "cases": len(manifest.cases),
        "groups": result.groups,
        "samples": result.samples,
        "rows": [[page_text(cell) for cell in row] for row in table_rows(result.arms)],
        "besides": [page_text(line) for arm in result.arms for line in besides(arm)],
        "gates": [_gate(each) for each in result.gates],
    }


def _gate(gate: GateVerdict) -> dict[str, Any]:
    return {
        "answer": ANSWER_WORDS[gate.answer].lower(),
        "what": f"{page_text(gate.arm)}: {GATE_WORDS[gate.gate]}",
        "conditions": [
            page_text(f"{ANSWER_WORDS[each.answer].lower()}: {each.asks}: {each.why}") for each in gate.conditions
        ],
        "advice": page_text(gate.advice),
    }
