"""Merges what the advisor recommends with the executor's report, and tells what becomes of each recommendation.

Two positions are compared by their types, never by their words. A change that is stricter than the report merges. One
that is milder merges where the executor itself has doubts or a verbatim quote proves it, and is a conflict elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.answers import (
    GRAVE,
    SEVERITIES,
    DispositionAnswer,
    Guidance,
    RecommendedChange,
    Severity,
)
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.escalation.reasons import Watched, finding_threshold
from review_advisor.core.policy.escalation_rules import VERDICT

Disposition = Literal["applied", "applied in part", "overridden", "superseded", "refused", "open"]
"""What became of a recommendation. ``applied in part``: some of its changes were refused, and the others applied.

``open``: the executor does not say although it was asked, or a halt came first.
"""
UNAPPLIED: tuple[Disposition, ...] = ("overridden", "refused")
"""After such an end the same advice stops the loop."""
DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Difference:
    """What a recommendation wants of one finding (by its id) or of the verdict: before and after."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A report and a recommendation in one. ``wanted`` is all that it recommends, also what it keeps.

    ``refused`` says which changes do not count and why. With a ``conflict`` there is no merged value.
    """

    verdict: Literal["approve", "reject"]
    findings: tuple[tuple[str, Severity], ...]
    wanted: tuple[Difference, ...] = ()
    refused: tuple[str, ...] = ()
    conflict: str = ""

    @property
    def diff(self) -> tuple[Difference, ...]:
        """What it changes."""
        return tuple(each for each in self.wanted if each.before != each.after)


def merge_recommendations(
    report: CheckedReport, guidance: Guidance, watched: Watched, proven: Collection[str] = ()
) -> Merged:
    """The report's verdict and findings with the recommended changes in them, or the conflict.

    ``proven`` are the ids of the findings whose drop or lower carries a verbatim quote. Only what a change names
    changes; the rationale counts for nothing.
    """
    there = {each.id: each for each in report.findings}
    wanted: dict[str, Difference] = {}
    refused: list[str] = []
    conflicts: list[str] = []
    for change in sorted(guidance.changes, key=lambda each: each.does == "change_verdict"):
        told = _wanted(change, report, there, proven)
        if isinstance(told, str):
            refused.append(told)
            continue
        if wanted.setdefault(told.what, told) != told:
            conflicts.append(f"the advice contradicts itself on {told.what}")
        elif _is_held(told, report, there, watched, proven) and not (
            told.what == VERDICT and _rests_on_nothing(report, wanted)
        ):
            conflicts.append(f"the executor is sure of {told.what} ({told.before}), the advisor wants {told.after}")
    if _rests_on_nothing(report, wanted):
        wanted.setdefault(VERDICT, Difference(VERDICT, report.verdict, "approve"))
    severities = {identity: each.severity for identity, each in there.items()}
    verdict = report.verdict
    for each in wanted.values():
        if each.what == VERDICT:
            verdict = "approve" if each.after == "approve" else "reject"
        elif each.after == DROPPED:
            severities.pop(each.what, None)
        else:
            severities[each.what] = _severity(each.after)
    conflicts += _incoherent(report, verdict, severities, there)
    plain = (report.verdict, tuple((each.id, each.severity) for each in report.findings))
    merged = plain if conflicts else (verdict, tuple(severities.items()))
    conflict = "; ".join(dict.fromkeys(conflicts))  # a change that is recommended twice is one conflict
    return Merged(*merged, tuple(wanted.values()), tuple(refused), conflict)


def is_applied(merged: Merged, report: CheckedReport) -> bool:
    """Whether a report shows everything that a recommendation wanted."""
    now = {each.id: str(each.severity) for each in report.findings}
    now[VERDICT] = report.verdict
    return all(now.get(each.what, DROPPED) == each.after for each in merged.wanted)


def proven_milder(merged: Merged, proven: Collection[str]) -> dict[str, str]:
    """What a recommendation makes of findings with a proof, by their ids: a milder severity, or ``DROPPED``."""
    return {each.what: each.after for each in merged.diff if each.what in proven} if not merged.conflict else {}


def disposition_of(
    identity: str, merged: Merged, report: CheckedReport, stated: Iterable[DispositionAnswer]
) -> tuple[Disposition, str]:
    """What became of a recommendation, and why: by the report itself, or else by the executor's word with a reason.

    Its word that it applied what its report does not show does not count.
    """
    if merged.refused and not merged.diff:  # what it keeps is no advice that could be followed
        return "refused", "; ".join(merged.refused)
    if merged.wanted and is_applied(merged, report):
        if merged.refused:
            return "applied in part", f"the report shows the rest; refused: {'; '.join(merged.refused)}"
        return "applied", "the report shows it"
    said = [each for each in stated if each.recommendation == identity]
    for each in said:
        if each.disposition == "overridden" and each.reason.strip():
            return "overridden", each.reason
        if each.disposition == "applied" and not merged.wanted:
            return "applied", each.reason
    return "open", ""


def same_advice(guidance: Guidance) -> str:
    """What makes two recommendations the same one: the changes they want, or the action where they name none.

    What they keep beside a change makes no other advice of it.
    """
    if not guidance.changes:
        return " ".join(guidance.action.casefold().split())
    changing = [each for each in guidance.changes if each.does != "keep"] or guidance.changes
    return repr(sorted((each.does, each.finding, each.severity, each.verdict) for each in changing))


def _wanted(
    change: RecommendedChange, report: CheckedReport, there: dict[str, Finding], proven: Collection[str]
) -> Difference | str:
    """What a change wants, or why it does not count."""
    if change.does == "change_verdict":
        if change.verdict is None:
            return "a change of the verdict names no verdict"
        return Difference(VERDICT, report.verdict, change.verdict)
    finding = there.get(change.finding)
    if finding is None:
        return f"{change.does} names no finding of the report"
    milder = change.does in ("drop", "lower")
    if milder and finding.severity in GRAVE and finding.id not in proven:
        return f"{change.does} {finding.id}: a {finding.severity} finding stays without a verbatim quote"
    if change.does == "drop":
        return Difference(finding.id, finding.severity, DROPPED)
    step = {"keep": 0, "raise": -1, "lower": 1}[change.does]
    rank = SEVERITIES.index(finding.severity)
    after = SEVERITIES[min(max(rank + step, 0), len(SEVERITIES) - 1)]
    if step and change.severity is not None and (SEVERITIES.index(change.severity) - rank) * step > 0:
        after = change.severity
    return Difference(finding.id, finding.severity, after)


def _rests_on_nothing(report: CheckedReport, wanted: dict[str, Difference]) -> bool:
    """Whether the advice takes every finding away that a rejection rests on: then its verdict goes with them."""
    gone = {each.what for each in wanted.values() if each.after == DROPPED}
    return report.verdict == "reject" and bool(gone) and {each.id for each in report.findings} <= gone


def _is_held(
    told: Difference, report: CheckedReport, there: dict[str, Finding], watched: Watched, proven: Collection[str]
) -> bool:
    """Whether the executor is sure of what the advice would take away from it."""
    if told.before == told.after:
        return False
    if told.what == VERDICT:
        return report.confidence >= watched.rules.threshold(watched.surface, VERDICT)
    stricter = told.after != DROPPED and SEVERITIES.index(_severity(told.after)) < SEVERITIES.index(
        _severity(told.before)
    )
    finding = there[told.what]
    return not stricter and told.what not in proven and finding.confidence >= finding_threshold(watched, finding)


def _incoherent(
    report: CheckedReport, verdict: str, severities: dict[str, Severity], there: dict[str, Finding]
) -> list[str]:
    """Why the merged value is none, where the advice changed anything about it."""
    before = {identity: each.severity for identity, each in there.items()}
    if (verdict, severities) == (report.verdict, before):
        return []
    brought = [severity for identity, severity in severities.items() if not there[identity].pre_existing]
    if verdict == "approve" and GRAVE & set(brought) and report.verdict == "reject":
        return ["the advice approves a change and leaves a critical or high finding"]
    if verdict == "reject" and not severities:
        return ["the advice leaves a rejection without a finding"]
    return []


def _severity(word: str) -> Severity:
    return next(each for each in SEVERITIES if each == word)
