"""Merges what the advisor recommends with the executor's report, and tells what becomes of each recommendation.

Two positions are compared by their types, never by their words. A change that is stricter than the report merges. One
that is milder merges where the executor itself has doubts or a verbatim quote proves it, and is a conflict elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
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
from review_advisor.core.answers.findings import Finding, RefusedFinding
from review_advisor.core.answers.findings import merged as each_once
from review_advisor.core.escalation.reasons import Watched, finding_threshold
from review_advisor.core.policy.escalation_rules import VERDICT

Disposition = Literal["applied", "applied in part", "overridden", "superseded", "refused", "not stated", "open"]
"""What became of a recommendation. ``applied in part``: some of its changes were refused, and the others applied.

``not stated``: it changes nothing, so nobody asks the executor about it. ``open``: the executor does not say although
it was asked, or a halt came first.
"""
UNAPPLIED: tuple[Disposition, ...] = ("overridden", "refused")
"""After such an end the same advice stops the loop."""
_OF_A_FINDING: tuple[Literal["keep", "drop", "raise", "lower"], ...] = ("keep", "drop", "raise", "lower")
DROPPED = "dropped"
ABSENT = "absent"
"""What a finding is before the advisor brings it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a recommendation wants of one finding (by its id) or of the verdict: before and after."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A report and a recommendation in one. ``wanted`` is all that it recommends, also what it keeps.

    ``refused`` says which changes and findings do not count and why. With a ``conflict`` there is no merged value.
    ``brought`` are the advisor's own findings whose quotes stand. ``unproven`` are its critical and high ones whose
    quotes do not: they join what the report refuses, whatever else becomes of the advice.
    """

    verdict: Literal["approve", "reject"]
    findings: tuple[tuple[str, Severity], ...]
    wanted: tuple[Difference, ...] = ()
    refused: tuple[str, ...] = ()
    conflict: str = ""
    brought: tuple[Finding, ...] = ()
    unproven: tuple[RefusedFinding, ...] = ()

    @property
    def diff(self) -> tuple[Difference, ...]:
        """What it changes."""
        return tuple(each for each in self.wanted if each.before != each.after)

    @property
    def stricter(self) -> frozenset[str]:
        """What it makes stricter, by the ids of findings and ``VERDICT``; nothing where there is a conflict."""
        return frozenset(each.what for each in self.diff if _is_stricter(each)) if not self.conflict else frozenset()


def merge_recommendations(
    report: CheckedReport,
    guidance: Guidance,
    watched: Watched,
    proven: Collection[str] = (),
    brought: Iterable[Finding | RefusedFinding] = (),
) -> Merged:
    """The report's verdict and findings with the recommended changes in them, or the conflict.

    ``proven`` are the ids of the findings whose drop or lower carries a verbatim quote. ``brought`` are the findings of
    the advice once they are held against the change. One that stands joins the report, and a rejection that it is given
    for is no conflict. A critical or high finding that the advice brings or raises turns an approval into a rejection.
    Only what a change or a finding names changes; the rationale counts for nothing.
    """
    brought = tuple(brought)
    stand = each_once(each for each in brought if isinstance(each, Finding))
    there = {each.id: each for each in report.findings}
    joined = {each.id: each for each in each_once((*report.findings, *stand))}
    wanted = {each.id: _joins(each, there.get(each.id)) for each in stand}
    unbelieved = [each for each in brought if isinstance(each, RefusedFinding)]
    refused = [f"{each.title}: {each.why}" for each in unbelieved]
    conflicts: list[str] = []
    for change in sorted(
        (*guidance.changes, *_chosen(guidance, report)), key=lambda each: each.does == "change_verdict"
    ):
        told = _wanted(change, report, there, proven)
        if isinstance(told, str):
            refused.append(told)
            continue
        if wanted.setdefault(told.what, told) != told:
            conflicts.append(f"the advice contradicts itself on {told.what}")
        elif _is_held(told, report, there, watched, proven) and not (
            told.what == VERDICT and (_rests_on_nothing(report, wanted) or (told.after == "reject" and stand))
        ):
            conflicts.append(f"the executor is sure of {told.what} ({told.before}), the advisor wants {told.after}")
    if _rests_on_nothing(report, wanted):
        wanted.setdefault(VERDICT, Difference(VERDICT, report.verdict, "approve"))
    if any(_makes_grave(each) and not joined[each.what].pre_existing for each in wanted.values()):
        told = Difference(VERDICT, report.verdict, "reject")
        if wanted.setdefault(VERDICT, told) != told:
            conflicts.append("the advice approves a change and brings or raises a critical or high finding")
    if _keeps_the_verdict(guidance):
        wanted.setdefault(VERDICT, Difference(VERDICT, report.verdict, report.verdict))
    verdict, severities = _merged_value(report, wanted.values())
    conflicts += _incoherent(report, verdict, severities, joined)
    plain = (report.verdict, tuple((each.id, each.severity) for each in report.findings))
    value = plain if conflicts else (verdict, tuple(severities.items()))
    conflict = "; ".join(dict.fromkeys(conflicts))  # a change that is recommended twice is one conflict
    unproven = tuple(each for each in unbelieved if each.severity in GRAVE)
    return Merged(*value, tuple(wanted.values()), tuple(refused), conflict, stand, unproven)


def settles(contested: Merged, second: Merged) -> bool:
    """Whether the answer to the one question after a conflict takes every contested change back, or repeats it.

    An approval that goes with findings which the advice takes away needs no answer of its own.
    """
    due = {each.what: each.after for each in contested.diff}
    if len(due) > 1 and due.get(VERDICT) == "approve":
        del due[VERDICT]
    return due.keys() <= {each.what for each in second.wanted}


def _chosen(guidance: Guidance, report: CheckedReport) -> tuple[RecommendedChange, ...]:
    """The change that the chosen answer names, where the advice does not spell out what it wants of the same."""
    said = guidance.answer.casefold().strip(" .`'\"*").split()
    if said == ["change", "the", "verdict"]:
        if any(each.does == "change_verdict" for each in guidance.changes):
            return ()
        other: Literal["approve", "reject"] = "approve" if report.verdict == "reject" else "reject"
        return (RecommendedChange(does="change_verdict", verdict=other),)
    does = next((each for each in _OF_A_FINDING if said[:1] == [each]), None)
    if does is None or len(said) != 2 or any(each.finding == said[1] for each in guidance.changes):  # noqa: PLR2004
        return ()
    return (RecommendedChange(does=does, finding=said[1]),)


def _keeps_the_verdict(guidance: Guidance) -> bool:
    return guidance.choice == "keep" and guidance.answer.casefold().split()[1:3] == ["the", "verdict"]


def with_advice(report: CheckedReport, merge: Merged) -> CheckedReport:
    """The report with everything in it that a merge makes stricter: findings it brings or raises, and a rejection.

    A critical or high finding of the advice whose quote does not stand joins those that the report refuses. What is
    milder is left to the executor: no advice alone takes a finding away.
    """
    stricter, after = merge.stricter, {each.what: each.after for each in merge.diff}
    joined = each_once((*report.findings, *(each for each in merge.brought if each.id in stricter)))
    findings = tuple(
        replace(each, severity=_severity(after[each.id])) if each.id in stricter else each for each in joined
    )
    refused = tuple(dict.fromkeys((*report.refused, *merge.unproven)))
    verdict = "reject" if VERDICT in stricter else report.verdict
    return replace(report, verdict=verdict, findings=findings, refused=refused)


def is_applied(merged: Merged, report: CheckedReport) -> bool:
    """Whether a report shows everything that a recommendation wanted, or is stricter where that was to be stricter."""
    now = {each.id: str(each.severity) for each in report.findings}
    now[VERDICT] = report.verdict
    return all(_is_shown(each, now.get(each.what, DROPPED)) for each in merged.wanted)


def _is_shown(wanted: Difference, now: str) -> bool:
    if wanted.what == VERDICT or DROPPED in (now, wanted.after) or not _is_stricter(wanted):
        return now == wanted.after
    return not _is_worse(wanted.after, now)


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
    said = [each for each in stated if each.recommendation == identity]
    objected = next((each.reason for each in said if _is_overriding(each)), "")
    if merged.wanted and is_applied(merged, report):
        if merged.refused:
            return "applied in part", f"the report shows the rest; refused: {'; '.join(merged.refused)}"
        return (
            "applied",
            f"the report shows it, and the executor objects: {objected}" if objected else "the report shows it",
        )
    if objected:
        return "overridden", objected
    for each in said:
        if each.disposition == "applied" and not merged.wanted:
            return "applied", each.reason
    return "open", ""


def overridden_in(stated: Iterable[DispositionAnswer]) -> frozenset[str]:
    """The recommendations that the executor says it overrode, with a reason."""
    return frozenset(each.recommendation for each in stated if _is_overriding(each))


def _is_overriding(said: DispositionAnswer) -> bool:
    return said.disposition == "overridden" and bool(said.reason.strip())


def same_advice(guidance: Guidance) -> str:
    """What makes two recommendations the same one: the changes and findings in them, or without any the action.

    What they keep beside a change makes no other advice of it.
    """
    if not guidance.changes and not guidance.findings:
        return " ".join(guidance.action.casefold().split())
    changing = [each for each in guidance.changes if each.does != "keep"] or guidance.changes
    found = [(each.path, each.severity, each.evidence) for each in guidance.findings]
    return repr([*sorted((each.does, each.finding, each.severity, each.verdict) for each in changing), *sorted(found)])


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


def _merged_value(
    report: CheckedReport, wanted: Iterable[Difference]
) -> tuple[Literal["approve", "reject"], dict[str, Severity]]:
    """The verdict and the severities of the findings once all that is wanted is done."""
    severities = {each.id: each.severity for each in report.findings}
    verdict = report.verdict
    for each in wanted:
        if each.what == VERDICT:
            verdict = "approve" if each.after == "approve" else "reject"
        elif each.after == DROPPED:
            severities.pop(each.what, None)
        else:
            severities[each.what] = _severity(each.after)
    return verdict, severities


def _joins(brought: Finding, there: Finding | None) -> Difference:
    """What a finding of the advice wants: of one that the report has already, the worse severity."""
    if there is None:
        return Difference(brought.id, ABSENT, brought.severity)
    worse = min(brought.severity, there.severity, key=SEVERITIES.index)
    return Difference(brought.id, there.severity, worse)


def _is_stricter(told: Difference) -> bool:
    if told.what == VERDICT or told.after == DROPPED:
        return told.after == "reject"
    return told.before == ABSENT or _is_worse(told.after, told.before)


def _is_worse(one: str, other: str) -> bool:
    return SEVERITIES.index(_severity(one)) < SEVERITIES.index(_severity(other))


def _makes_grave(told: Difference) -> bool:
    return told.what != VERDICT and told.after in GRAVE and told.before not in GRAVE


def _rests_on_nothing(report: CheckedReport, wanted: dict[str, Difference]) -> bool:
    """Whether the advice takes every finding away that a rejection rests on: then its verdict goes with them."""
    gone = {each.what for each in wanted.values() if each.after == DROPPED}
    joins = any(each.before == ABSENT for each in wanted.values())
    return report.verdict == "reject" and bool(gone) and not joins and {each.id for each in report.findings} <= gone


def _is_held(
    told: Difference, report: CheckedReport, there: dict[str, Finding], watched: Watched, proven: Collection[str]
) -> bool:
    """Whether the executor is sure of what the advice would take away from it."""
    if told.before == told.after:
        return False
    if told.what == VERDICT:
        return report.confidence >= watched.rules.threshold(watched.surface, VERDICT)
    finding = there[told.what]
    return (
        not _is_stricter(told) and told.what not in proven and finding.confidence >= finding_threshold(watched, finding)
    )


def _incoherent(
    report: CheckedReport, verdict: str, severities: dict[str, Severity], joined: dict[str, Finding]
) -> list[str]:
    """Why the merged value is none, where the advice changed anything about it."""
    before = {each.id: each.severity for each in report.findings}
    if (verdict, severities) == (report.verdict, before):
        return []
    brought = [severity for identity, severity in severities.items() if not joined[identity].pre_existing]
    if verdict == "approve" and GRAVE & set(brought) and report.verdict == "reject":
        return ["the advice approves a change and leaves a critical or high finding"]
    if verdict == "reject" and not severities:
        return ["the advice leaves a rejection without a finding"]
    return []


def _severity(word: str) -> Severity:
    return next(each for each in SEVERITIES if each == word)
