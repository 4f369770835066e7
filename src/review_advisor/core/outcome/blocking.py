"""Which findings stand in the way of a merge: a reading of the outcome, which decides nothing."""

from __future__ import annotations

from collections.abc import Iterable

from review_advisor.core.answers.answers import Severity
from review_advisor.core.answers.findings import Finding
from review_advisor.core.outcome.document import OutcomeDocument

GRAVE: frozenset[Severity] = frozenset({"critical", "high"})


def blocking_findings(document: OutcomeDocument) -> frozenset[str]:
    """The ids of the findings that the review rejects the change for.

    Of each part that the executor rejected they are its critical and high ones; where it gave none of these, all of
    them, because nobody can tell then which of them it meant.
    """
    reports = (report for surface in document.surfaces for part in surface.parts for report in part.reports[-1:])
    return frozenset(each.id for report in reports if report.verdict == "reject" for each in _reasons(report.findings))


def _reasons(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    every = tuple(findings)
    return tuple(each for each in every if each.severity in GRAVE) or every
