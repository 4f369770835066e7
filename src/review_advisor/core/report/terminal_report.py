"""The result of a review as ``review`` prints it: the verdict and what was found; how it came about on request."""

from __future__ import annotations

from collections.abc import Mapping

from review_advisor.core.outcome.cost import total_usage
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.report.disagreement import last_vetoes
from review_advisor.core.report.found_text import (
    coverage_text,
    findings_text,
    pictures_text,
    refused_text,
    secrets_text,
)
from review_advisor.core.report.repair_text import offered_repair
from review_advisor.core.report.report_text import headline, report_text
from review_advisor.core.report.wording import and_unknown, counted
from review_advisor.core.safety.terminal import printable, wrapped


def terminal_report(document: OutcomeDocument, *, explain: bool, notes: Mapping[str, str] | None = None) -> str:
    """The verdict, the findings and what was not read. ``explain``: the whole report, as ``report.txt`` has it.

    ``notes`` say of findings, by their ids, what is known of their kind: the one thing that ``report.txt`` lacks.
    """
    if explain:
        return report_text(document, notes)
    if document.outcome is Outcome.NOTHING_TO_REVIEW:
        return headline(document) + "\n"
    blocks = [_opening(document)]
    if document.findings or document.outcome is not Outcome.STOPPED:
        blocks.append(findings_text(document.findings, notes))
    blocks += [
        refused_text(document),
        secrets_text(document.secrets),
        pictures_text(document.pictures),
        "\n".join(map(printable, offered_repair(document))),
    ]
    if any(file.read != "read" for file in document.coverage) or document.cut:
        blocks.append(coverage_text(document))
    blocks.append(_closing(document))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _opening(document: OutcomeDocument) -> str:
    lines = [headline(document)]
    is_telling = document.policy.static is None or document.outcome is not Outcome.CHANGES_REQUESTED
    if document.outcome is not Outcome.APPROVED and is_telling:
        lines += [wrapped("  because ", reason) for reason in document.because]
        lines += [wrapped("    ", words) for words in last_vetoes(document)]
    if document.flags.lost:
        lines.append("  answers lost or refused: " + ", ".join(document.flags.lost))
    return "\n".join(lines)


def _closing(document: OutcomeDocument) -> str:
    calls = sum(isinstance(event, CallEnded) and event.ended != "refused" for event in document.events)
    usage = total_usage(row.usage for row in document.cost)
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.2f}{and_unknown(document.unpriced)}"
    files = counted(len(document.coverage), "file")
    radius = document.policy.blast.radius.value
    told = f"{files}, blast radius {radius}, {counted(calls, 'call')}, {cost}."
    return f"{told} How the verdict came about: --explain."
