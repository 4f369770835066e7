"""The page of the workflow run (``GITHUB_STEP_SUMMARY``): the review whole, where there is room for it."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.publication.conclusion import title_of
from review_advisor.core.publication.disputes import transcript, vetoes
from review_advisor.core.publication.fitting import Order, Section, details, fitted
from review_advisor.core.publication.markdown import code_block, phrase, prose
from review_advisor.core.publication.sections import (
    cost,
    coverage,
    finding_line,
    notes_on,
    ordered,
    pictures,
    repair,
    signature,
    surfaces,
    why,
)
from review_advisor.core.roles.evidence import Finding

MOST_JOB_SUMMARY = 1_000_000
"""GitHub takes 1 MiB from a step, in bytes; the rest of it is for what other words the step may add."""


def job_summary(document: OutcomeDocument, notes: Sequence[str] = ()) -> str:
    """The whole account as Markdown, with a final line feed."""
    found = tuple(map(_finding, ordered(document.findings)))
    sections = (
        Section((f"## {phrase(title_of(document))}",)),
        why(document),
        notes_on(notes),
        surfaces(document),
        Section(found, f"**Findings**: {len(found)}", gives_way=Order.FINDINGS, what="findings", between="\n\n"),
        Section(vetoes(document), "**Disagreements**", gives_way=Order.VETOES, what="vetoes"),
        repair(document),
        details(
            "Disagreement transcript", *transcript(document), gives_way=Order.TRANSCRIPT, what="entries", between="\n\n"
        ),
        pictures(document),
        coverage(document),
        cost(document),
        signature(document),
    )
    return fitted(sections, MOST_JOB_SUMMARY) + "\n"


def _finding(finding: Finding) -> str:
    suggestion = code_block(finding.suggestion) if finding.suggestion else ""
    return "\n\n".join(block for block in (finding_line(finding), prose(finding.body), suggestion) if block)
