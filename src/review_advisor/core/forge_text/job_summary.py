"""The page of the workflow run (``GITHUB_STEP_SUMMARY``): the review whole, where there is room for it."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.answers.findings import Finding, ordered
from review_advisor.core.forge_text.account import account, why
from review_advisor.core.forge_text.conclusion import heading_of
from review_advisor.core.forge_text.council_votes import judges
from review_advisor.core.forge_text.disputes import disputes
from review_advisor.core.forge_text.finding_list import listed
from review_advisor.core.forge_text.fitting import Order, Section, fitted
from review_advisor.core.forge_text.sections import (
    gaps,
    learned,
    merged_remarks,
    notes_on,
    pictures,
    refused,
    repair,
    secrets,
    whose_rules,
)
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.safety.markdown import code_block, prose

MOST_JOB_SUMMARY = 1_000_000
"""GitHub takes 1 MiB from a step, in bytes; the rest of it is for what other words the step may add."""


def job_summary(document: OutcomeDocument, notes: Sequence[str] = ()) -> str:
    """The whole account as Markdown, with a final line feed."""
    found = tuple(_finding(each, document) for each in ordered(document.findings))
    shown, opened = disputes(document)
    sections = (
        Section((f"## {heading_of(document)}",)),
        why(document),
        shown,
        whose_rules(document),
        notes_on(notes),
        Section(found, f"**Findings**: {len(found)}", gives_way=Order.FINDINGS, what="findings", between="\n\n"),
        repair(document),
        opened,
        *judges(document),
        secrets(document),
        pictures(document),
        learned(document),
        refused(document),
        gaps(document),
        Section(account(document), gives_way=Order.HOW, between="\n\n"),
    )
    return fitted(sections, MOST_JOB_SUMMARY) + "\n"


def _finding(finding: Finding, document: OutcomeDocument) -> str:
    suggestion = code_block(finding.suggestion) if finding.suggestion else ""
    blocks = (listed(finding, document).item, prose(finding.body), suggestion, *merged_remarks(finding))
    return "\n\n".join(block for block in blocks if block)
