"""What advice may not do by itself: take a grave finding away, or turn a rejection into an approval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from review_advisor.core.answers.answers import GRAVE, SEVERITIES
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.escalation.recommendations import DROPPED

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Kept:
    """A report after advice. ``put_back`` are the ids of the findings that stay as grave as they have to."""

    report: CheckedReport
    put_back: tuple[str, ...] = ()


def after_advice(before: CheckedReport, after: CheckedReport, proven: Mapping[str, str] = _NOTHING) -> Kept:
    """The executor's report after advice, with every grave finding put back that nobody disproved.

    ``proven`` says what the advisor made of findings with a verbatim quote (``proven_milder``), and so how grave they
    stay at least. A rejection that loses a grave finding without one stays a rejection.
    """
    due = (_as_proven(each, proven.get(each.id)) for each in before.findings if each.severity in GRAVE)
    graves = {each.id: each for each in due if each is not None}
    kept = tuple(_not_milder(each, graves.get(each.id)) for each in after.findings)
    there = {each.id for each in kept}
    missing = tuple(each for identity, each in graves.items() if identity not in there)
    milder = [one.id for one, other in zip(kept, after.findings, strict=True) if one is not other]
    put_back = (*milder, *(each.id for each in missing))
    if not put_back:
        return Kept(after)
    stays = before.verdict == "reject"
    verdict = "reject" if stays else after.verdict
    return Kept(replace(after, verdict=verdict, findings=(*kept, *missing)), put_back)


def _as_proven(was: Finding, proven: str | None) -> Finding | None:
    """The finding as grave as it has to stay; None where it is proven to be wrong."""
    if proven == DROPPED:
        return None
    return replace(was, severity=next((each for each in SEVERITIES if each == proven), was.severity))


def _not_milder(now: Finding, was: Finding | None) -> Finding:
    if was is None or SEVERITIES.index(now.severity) <= SEVERITIES.index(was.severity):
        return now
    return replace(now, severity=was.severity)
