"""Findings that a change did not bring: the executor's claim counts where the advisor confirms it, and nowhere else.

Unchanged lines prove nothing: a check that is taken out exposes the call beside it. Of a critical or high finding whose
quote the change alone brings, the claim is dropped when the report is held against the change.
"""

from __future__ import annotations

from dataclasses import replace

from review_advisor.core.answers.answers import GRAVE
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.facts.shards import MAY_BE_APPROVED
from review_advisor.core.roles.transcript import Attempt

_MOST_NAMED = 10


def confirmed_findings(report: CheckedReport, judged: Attempt | None) -> tuple[Finding, ...]:
    """The findings of a report; of those that it calls pre-existing only the ones that its judgement confirms are.

    ``judged`` is the judgement on this very report; None where there is none.
    """
    agreed = _agreed(judged)
    return tuple(replace(each, pre_existing=each.pre_existing and each.id in agreed) for each in report.findings)


def why_not_approved(report: CheckedReport, judged: Attempt | None) -> str | None:
    """Why an approval does not stand although its ruling accepts it; None if it does.

    An approval may carry a critical finding only if the change did not bring it, and that is not for the executor alone
    to say. No critical or high finding was refused on the way, whoever brought it: nobody has disproved it. Nor is a
    file approved that static checks should have read and did not.
    """
    if report.verdict != "approve":
        return None
    unchecked = [each for each in report.unchecked if each.extent not in MAY_BE_APPROVED]
    if unchecked:
        named = "; ".join(f"{shown_path(each.path)}: {each.why}" for each in unchecked[:_MOST_NAMED])
        more = f"; and {len(unchecked) - _MOST_NAMED} more" if len(unchecked) > _MOST_NAMED else ""
        return f"not checked: {named}{more}"
    refused = [each for each in report.refused if each.severity in GRAVE]
    if refused:
        named = "; ".join(
            f"{each.severity} {'of the advisor, ' if each.raised_by else ''}{each.title!r}"
            f" in {shown_path(each.path)}: {each.why}"
            for each in refused[:_MOST_NAMED]
        )
        more = f"; and {len(refused) - _MOST_NAMED} more" if len(refused) > _MOST_NAMED else ""
        return f"a critical or high finding was refused, not disproved: {named}{more}"
    brought = [each for each in confirmed_findings(report, judged) if not each.pre_existing]
    if not any(each.severity == "critical" for each in brought):
        return None
    return "the executor calls a critical finding pre-existing, and the advisor does not confirm it"


def _agreed(judged: Attempt | None) -> frozenset[str]:
    if judged is None or judged.result.verdict != "APPROVE":
        return frozenset()
    return frozenset(judged.result.pre_existing)
