"""What a run on a release adds to its folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from review_advisor.core.readiness.readiness_evaluation import (
    ReadinessEvaluation,
    ReleaseEvidence,
    evaluated,
    evaluation_json,
)
from review_advisor.core.readiness.readiness_prompt import READINESS_REPORT, release_task
from review_advisor.core.readiness.release_report import report_schema
from review_advisor.core.safety.markdown import phrase
from review_advisor.core.task.task_events import TaskEvent

EVIDENCE_FILE = "release_readiness_evidence.md"
PROMPT_FILE = "release_readiness_prompt.md"
SCHEMA_OF_REPORT = "release_readiness_report.schema.json"
EVALUATION = "release_readiness_evaluation"


def readiness_files(events: Sequence[TaskEvent], evidence: ReleaseEvidence) -> dict[str, str]:
    """Their texts by name. The evaluation is one of the run so far."""
    evaluation = evaluated(events, evidence)
    return {
        EVIDENCE_FILE: f"{evidence.text}\n",
        PROMPT_FILE: f"{release_task(evidence)}\n\n{READINESS_REPORT.section('<nonce>')}\n",
        SCHEMA_OF_REPORT: report_schema(),
        f"{EVALUATION}.json": evaluation_json(evaluation),
        f"{EVALUATION}.md": evaluation_text(evaluation),
    }


def evaluation_text(evaluation: ReadinessEvaluation) -> str:
    """The evaluation as Markdown. Words of models are shown as the words they are."""
    return "\n".join(_lines(evaluation)) + "\n"


def _lines(evaluation: ReadinessEvaluation) -> Iterator[str]:
    report = evaluation.report
    yield "# Release readiness"
    yield ""
    yield f"- Verdict: **{evaluation.verdict}**"
    yield f"- Passed: **{'yes' if evaluation.passed else 'no, a person decides'}**"
    yield f"- Run: {evaluation.status}"
    yield f"- Evidence: {phrase(evaluation.evidence, len(evaluation.evidence))}"
    yield from _listed("Rules that do not hold", evaluation.failures)
    yield from _listed("Open in what was merged", evaluation.gaps)
    yield from _listed("Who was not heard", evaluation.blind_spots)
    if report is not None:
        yield from ("", "## Summary", "", phrase(report.summary, len(report.summary)))
        blockers = (
            f"{each.severity} {each.id}: {each.description} Evidence: {each.evidence}" for each in report.blockers
        )
        yield from _listed("Blockers", tuple(blockers))
        risks = (
            f"{each.severity} {each.id}: {each.description} Mitigation: {each.mitigation}" for each in report.risks
        )
        yield from _listed("Risks", tuple(risks))
        yield from _listed("Required actions", report.required_actions)
        yield from ("", f"Confidence of the executor: {report.confidence:.2f}")
    yield from ("", "## Figures", "")
    yield from (f"- {name.replace('_', ' ')}: {value}" for name, value in evaluation.metrics.items())


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield from ("", f"## {title}", "", *(f"- {phrase(each, len(each))}" for each in items))
