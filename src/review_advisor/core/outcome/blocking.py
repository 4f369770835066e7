"""Which findings stand in the way of a merge: a reading of the outcome, which decides nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from review_advisor.core.answers.answers import Severity
from review_advisor.core.outcome.document import OutcomeDocument

GRAVE: frozenset[Severity] = frozenset({"critical", "high"})


class Weighed(Protocol):
    """Anything with a severity."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        ...


Remark = TypeVar("Remark", bound=Weighed)


def in_the_way(findings: Iterable[Remark]) -> tuple[Remark, ...]:
    """The findings that a rejection rests on: all but the low ones, or those too where there are only low ones."""
    every = tuple(findings)
    return tuple(each for each in every if each.severity != "low") or every


def blocking_findings(document: OutcomeDocument) -> frozenset[str]:
    """The ids of the findings for which the executor rejected a part of the change.

    What the change did not bring, as the advisor confirms, is none of them, unless there is nothing else.
    """
    before = {each.id for each in document.findings if each.pre_existing}
    reports = (report for surface in document.surfaces for part in surface.parts for report in part.reports[-1:])
    rejections = (report.findings for report in reports if report.verdict == "reject")
    brought = ([each for each in every if each.id not in before] or every for every in rejections)
    return frozenset(each.id for findings in brought for each in in_the_way(findings))
