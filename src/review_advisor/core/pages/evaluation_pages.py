"""What the dashboard's page of evaluations tells: each one's table and its gates, as values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from review_advisor.core.evaluation.trials.gates import GateVerdict
from review_advisor.core.evaluation.trials.result_table import (
    ANSWER_WORDS,
    GATE_WORDS,
    answers_words,
    besides,
    table_rows,
)
from review_advisor.core.evaluation.trials.results import EvaluationResult
from review_advisor.core.pages.text import page_text


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
