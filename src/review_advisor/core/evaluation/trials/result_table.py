"""What an evaluation comes to, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from review_advisor.core.evaluation.trials.gates import COST_SHARE, POINTS, GateVerdict
from review_advisor.core.evaluation.trials.group_samples import Estimate
from review_advisor.core.evaluation.trials.measures import MEASURES, Measure, ReviewSums
from review_advisor.core.evaluation.trials.results import AGREEMENT, ArmResult, EvaluationResult
from review_advisor.core.evaluation.trials.simulated_reviewers import LABEL
from review_advisor.core.report.wording import counted, printable_line, table

GATE_WORDS = {
    "ship": f"ship gate of advisor-pattern-v2 (within {POINTS * 100:.0f} points, under {COST_SHARE:.0%} of the cost)",
    "cost_of_correct": "corrected gate (dollars for a correct review, against the cheapest single model)",
}
ANSWER_WORDS = {"not_applicable": "NOT APPLICABLE", "pass": "PASS", "fail": "FAIL", "undecided": "UNDECIDED"}


def result_text(result: EvaluationResult) -> str:
    """The table of all arms, then the gates, each line with its reason."""
    manifest = result.manifest
    of = f"{counted(len(manifest.cases), 'case')} in {counted(result.groups, 'group')}"
    times = f"each reviewed {counted(manifest.repetitions, 'time')} by an arm"
    lines = [
        f"{manifest.id}: {printable_line(manifest.set_name)}, {of}, {times}",
        f"Answers: {answers_words(result)}",
        *map(printable_line, result.differs),
        "",
        *table(table_rows(result.arms)).splitlines(),
        "",
        *_by_chance(manifest.chance),
        *(line for arm in result.arms for line in besides(arm)),
        *(line for gate in result.gates for line in _gate_lines(gate)),
        f"Brackets: the middle 95% of {result.samples:,} samples of whole groups, the same for all arms.",
    ]
    return "\n".join(lines) + "\n"


def answers_words(result: EvaluationResult) -> str:
    """Where the answers come from, in words that nobody can take for a measurement of models."""
    match result.manifest.answers:
        case "simulated":
            return f"{LABEL}. No model answered: this is a test of the scoring."
        case "embedded":
            return "the embedded agent, with static checks. No model answered."
        case "recorded":
            return "recorded."
        case "live":
            return "models."


def table_rows(arms: Sequence[ArmResult]) -> list[list[str]]:
    """The cells: first the names of the arms, then a row for each measure, and where it is known its truth."""
    rows = [["", *(printable_line(arm.name) for arm in arms)]]
    for measure in MEASURES:
        rows.append([measure.words, *(_cell(arm.measures[measure.name], measure) for arm in arms)])
        if any(arm.truth for arm in arms):
            truths = [_value(arm.truth.get(measure.name), measure) for arm in arms]
            rows.append(["  its truth", *truths])
    return rows


def _cell(found: Estimate, measure: Measure) -> str:
    told = _value(found.value, measure)
    if found.interval is None:
        return told
    return f"{told} [{_value(found.interval.low, measure)}, {_value(found.interval.high, measure)}]"


def _value(value: float | None, measure: Measure) -> str:
    if value is None:
        return "-"
    if not isfinite(value):
        return "none correct"
    return f"{value:.4f}" if measure.is_usd else f"{value:.3f}"


def besides(arm: ArmResult) -> Iterator[str]:
    """What its measures do not say: which reviews were lost, what nobody can tell, and how much is noise."""
    sums, name = arm.sums, printable_line(arm.name)
    if sums.lost:
        lost = f"{counted(int(sums.lost), 'review')} of {int(sums.reviews)}"
        yield f"{name}: {lost} got no answer and count as not found."
    if arm.degraded:
        degraded = f"{counted(arm.degraded, 'review')} of {int(sums.reviews)}"
        yield f"{name}: {degraded} ended without a judgement that was due, and count as they are."
    if sums.unknown:
        yield f"{name}: nobody can tell of {counted(int(sums.unknown), 'finding')} whether they are right."
    if sums.refuted:
        yield f"{name}: people found {counted(int(sums.refuted), 'finding')} wrong before."
    if sums.decidable < sums.reviews:
        undecidable = f"{counted(int(sums.reviews - sums.decidable), 'review')} of {int(sums.reviews)}"
        yield f"{name}: nobody can tell of {undecidable} what is correct: their cases have no label."
    if arm.turned is not None and arm.turned.pairs:
        told, of = arm.turned, counted(arm.turned.pairs, "review")
        yield (
            f"{name}: advice turned {told.right} wrong right and {told.wrong} right wrong, of {of} that "
            f"{printable_line(told.alone)} answered as well."
        )
    if arm.repeated.pairs:
        word = "at" if arm.repeated.is_quiet else "BELOW"
        yield (
            f"{name}: {arm.repeated.alike} of {arm.repeated.pairs} repetitions agree with the one before, {word} the "
            f"noise floor of {AGREEMENT:.0%}."
        )


def _by_chance(sums: ReviewSums | None) -> Iterator[str]:
    """What an arm has to beat before it says anything."""
    if sums is not None:
        told = ", ".join(f"{each.words} {_value(each.of(sums), each)}" for each in MEASURES if not each.is_usd)
        yield f"By chance (one remark on any new line of each case, and changes requested): {told}."


def _gate_lines(gate: GateVerdict) -> Iterator[str]:
    yield f"{ANSWER_WORDS[gate.answer]}: {printable_line(gate.arm)}, {GATE_WORDS[gate.gate]}"
    for each in gate.conditions:
        yield f"    {ANSWER_WORDS[each.answer].lower()}: {printable_line(each.asks)}: {printable_line(each.why)}"
    if gate.advice:
        yield f"    {printable_line(gate.advice)}"


def result_json(result: EvaluationResult) -> dict[str, Any]:
    """Every number of the table. A value that cannot be told is null."""
    manifest = result.manifest
    return {
        "schema": "evaluation-result.v1",
        "id": manifest.id,
        "answers": manifest.answers,
        "label": answers_words(result),
        "set": {"name": manifest.set_name, "digest": manifest.set_digest, "cases": len(manifest.cases)},
        "groups": result.groups,
        "samples": result.samples,
        **({"differs": list(result.differs)} if result.differs else {}),
        "arms": [
            {
                "name": arm.name,
                "reviews": arm.sums.reviews,
                "lost": arm.sums.lost,
                "degraded": arm.degraded,
                "unknown": arm.sums.unknown,
                "refuted": arm.sums.refuted,
                "decidable": arm.sums.decidable,
                "measures": {each.name: _estimate_json(arm, each.name) for each in MEASURES},
                "turned": None if arm.turned is None else asdict(arm.turned),
                "repeated": {"alike": arm.repeated.alike, "pairs": arm.repeated.pairs},
            }
            for arm in result.arms
        ],
        **(
            {}
            if manifest.chance is None
            else {"chance": {each.name: _number(each.of(manifest.chance)) for each in MEASURES if not each.is_usd}}
        ),
        "gates": [
            {
                "gate": gate.gate,
                "arm": gate.arm,
                "against": gate.against,
                "answer": gate.answer,
                "conditions": [{"asks": c.asks, "answer": c.answer, "why": c.why} for c in gate.conditions],
                "advice": gate.advice,
            }
            for gate in result.gates
        ],
    }


def _estimate_json(arm: ArmResult, name: str) -> dict[str, Any]:
    found = arm.measures[name]
    told: dict[str, Any] = {"value": _number(found.value), "low": None, "high": None}
    if found.interval is not None:
        told |= {"low": _number(found.interval.low), "high": _number(found.interval.high)}
    return told | ({"truth": _number(arm.truth[name])} if name in arm.truth else {})


def _number(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else round(value, 6)
