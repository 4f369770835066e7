"""What stays in a report after advice: what is grave and not disproved, and what the advice itself has put there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from review_advisor.core.answers.answers import GRAVE, SEVERITIES
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.answers.findings import merged as each_once
from review_advisor.core.escalation.recommendations import DROPPED, Merged
from review_advisor.core.policy.escalation_rules import VERDICT

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Kept:
    """A report after advice. ``put_back`` are the ids of the findings that stay as grave as they have to."""

    report: CheckedReport
    put_back: tuple[str, ...] = ()


def held_by_advice(merges: Iterable[Merged]) -> frozenset[str]:
    """What advice holds in the report, by ids and ``VERDICT``: what it made stricter and no later advice undid."""
    held: frozenset[str] = frozenset()
    for merge in merges:
        milder = {each.what for each in merge.diff} - merge.stricter if not merge.conflict else set()
        held = (held - milder) | merge.stricter
    return held


def after_advice(
    before: CheckedReport,
    after: CheckedReport,
    proven: Mapping[str, str] = _NOTHING,
    held: Collection[str] = (),
) -> Kept:
    """The executor's report after advice; every grave finding that nobody disproved is put back, and what is ``held``.

    ``before`` is the earlier report with the advice in it. ``proven`` says what the advisor made of findings with a
    verbatim quote (``proven_milder``), and so how grave they stay at least. A rejection that loses a grave finding
    without one stays a rejection. What an advisor brought stays marked as the advisor's, and what was refused of it
    stays refused.
    """
    due = [
        stays
        for each in before.findings
        if (each.severity in GRAVE or each.id in held) and (stays := _as_proven(each, proven.get(each.id))) is not None
    ]
    owed = {each.id: each for each in due}
    kept = tuple(_not_milder(each, owed.get(each.id)) for each in after.findings)
    there = {each.id for each in kept}
    missing = tuple(each for identity, each in owed.items() if identity not in there)
    milder = [one for one, other in zip(kept, after.findings, strict=True) if one.severity != other.severity]
    back = (*milder, *missing)
    grave = {each.id for each in before.findings if each.severity in GRAVE}
    stays_rejected = VERDICT in held or any(each.id in grave for each in back)
    verdict = "reject" if before.verdict == "reject" and stays_rejected else after.verdict
    brought = {each.id: each.raised_by for each in before.findings}
    findings = tuple(replace(each, raised_by=brought.get(each.id, each.raised_by)) for each in (*kept, *missing))
    advised = (each for each in before.refused if each.raised_by and each not in after.refused)
    whole = replace(after, verdict=verdict, findings=findings, refused=(*after.refused, *advised))
    return Kept(whole, tuple(each.id for each in back))


def _as_proven(was: Finding, proven: str | None) -> Finding | None:
    """The finding as grave as it has to stay; None where it is proven to be wrong."""
    if proven == DROPPED:
        return None
    return replace(was, severity=next((each for each in SEVERITIES if each == proven), was.severity))


def _not_milder(now: Finding, was: Finding | None) -> Finding:
    if was is None or SEVERITIES.index(now.severity) <= SEVERITIES.index(was.severity):
        return now
    (one,) = each_once((was, now))  # an advisor's own words stand before those that play it down
    return one if was.raised_by else replace(now, severity=was.severity)
