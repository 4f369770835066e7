"""Which findings stand in the way of a merge, and what a refuter changes about that.

A refuted finding does not block any more. No refutation makes an approval: the advisor alone never overturns a no.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from review_advisor.core.answers.answers import Severity
from review_advisor.core.answers.committed_secrets import secrets_in_the_way
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding, ordered
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.ends import PartEnding
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.pre_existing import confirmed_findings
from review_advisor.core.outcome.steps.voteless_events import Challenged
from review_advisor.core.outcome.surface_records import PartRecord
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.budgets import MOST_CHALLENGES
from review_advisor.core.policy.policy import Policy, SurfacePolicy
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.transcript import Attempt


class Weighed(Protocol):
    """Anything with a severity."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""


Remark = TypeVar("Remark", bound=Weighed)


def in_the_way(findings: Iterable[Remark]) -> tuple[Remark, ...]:
    """The findings that a rejection rests on: all but the low ones, or those too where there are only low ones."""
    every = tuple(findings)
    return tuple(each for each in every if each.severity != "low") or every


def rejecting(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of one report that a rejection rests on.

    What the change did not bring, as the advisor confirms, is none of them, unless there is nothing else.
    """
    every = tuple(findings)
    return in_the_way([each for each in every if not each.pre_existing] or every)


def blocking_findings(document: OutcomeDocument) -> frozenset[str]:
    """The ids of the findings for which a part of the change is rejected.

    What is refuted is none of them, unless the part went to a person all the same. An approval is rejected for the
    secrets that the change commits.
    """
    before = {each.id for each in document.findings if each.pre_existing}
    return frozenset(
        identity for surface in document.surfaces for part in surface.parts for identity in _blocking(part, before)
    )


def _blocking(part: PartRecord, before: Collection[str]) -> frozenset[str]:
    rejections = [report.findings for report in part.reports[-1:] if report.verdict == "reject"]
    findings = (replace(each, pre_existing=each.id in before) for every in rejections for each in every)
    blocking = frozenset(each.id for each in rejecting(findings))
    rejected = part.ended is not None and part.ended.outcome is Outcome.CHANGES_REQUESTED
    if rejected:
        approvals = (report for report in part.reports[-1:] if report.verdict == "approve")
        blocking |= {each.id for report in approvals for each in secrets_in_the_way(report)}
    return blocking - {each.finding for each in part.challenges if each.refutes} if rejected else blocking


def to_challenge(
    policy: Policy, row: SurfacePolicy, report: CheckedReport, ending: PartEnding, judged: Attempt | None
) -> tuple[Finding, ...]:
    """The findings that a refuter is asked about, the worst first; none unless the part would end as rejected."""
    asked = policy.refuter and row.roles[Role.POST_VERIFY].runs
    if not asked or ending.outcome is not Outcome.CHANGES_REQUESTED or report.verdict != "reject":
        return ()
    return ordered(_rejecting_in(report, ending, judged))[:MOST_CHALLENGES]


def after_challenges(
    policy: Policy, report: CheckedReport, ending: PartEnding, judged: Attempt | None, said: Sequence[Challenged]
) -> PartEnding:
    """How a rejected part ends after the refuter.

    A person decides where a refutation leaves nothing to reject for, and wherever the blast radius is high: there the
    change touches a critical path, or the guard holds.
    """
    refuted = {each.finding for each in said if each.refutes}
    if not refuted:
        return ending
    number = f"{len(refuted)} finding{'' if len(refuted) == 1 else 's'}"
    if policy.blast.radius is BlastRadius.HIGH:
        return _to_a_person(ending, f"{number} refuted where the blast radius is high")
    if refuted.issuperset(each.id for each in _rejecting_in(report, ending, judged)):
        return _to_a_person(ending, "every finding that the rejection rests on is refuted")
    return replace(ending, because=f"{ending.because}; {number} refuted")


def _rejecting_in(report: CheckedReport, ending: PartEnding, judged: Attempt | None) -> Iterable[Finding]:
    return rejecting(confirmed_findings(report, None if ending.degraded else judged))


def _to_a_person(ending: PartEnding, why: str) -> PartEnding:
    return replace(ending, outcome=Outcome.ESCALATED, because=f"{why}: a person decides ({ending.because})")
