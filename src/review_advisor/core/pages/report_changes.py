"""What a veto or a consult changed: the executor's report before it against the one after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from review_advisor.core.answers.findings import Finding
from review_advisor.core.outcome.events import Consulted, Event, Repaired, Reported, Verified
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Escalated
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.pages.text import page_text, without_empty
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.report.advice_ends import advice_ends

How = Literal["new", "gone", "changed", "same"]
_Numbered = tuple[int, Step]
_FINAL = (Reported,)
_SO_FAR = (Reported, Escalated, AdviceOpen)
"""Where the review itself consults, the executor's report stands in these until the final one."""


@dataclass(frozen=True, slots=True)
class FindingChange:
    """What became of one finding; ``was`` is its earlier severity where that ``changed``."""

    how: How
    finding: Finding
    was: str = ""


@dataclass(frozen=True, slots=True)
class ReportChange:
    """The reports before and after an intervention, by the numbers of their events; None where there is none.

    ``patch`` is the repair that was accepted in between.
    """

    before: int | None
    after: int | None
    verdicts: tuple[str, str]
    findings: tuple[FindingChange, ...]
    patch: str

    def as_json(self) -> Mapping[str, Any]:
        """For a page."""
        return {
            "before": self.before,
            "after": self.after,
            "verdicts": list(self.verdicts),
            "findings": [
                without_empty(
                    how=each.how,
                    was=each.was,
                    id=each.finding.id,
                    severity=each.finding.severity,
                    title=page_text(each.finding.title),
                    place=page_text(f"{each.finding.path}:{each.finding.line}"),
                )
                for each in self.findings
            ],
            "patch": page_text(self.patch),
        }


def changes(events: Sequence[Event]) -> dict[int, ReportChange]:
    """By the number of its event: what each veto and each answered consult led to, within its part of its surface."""
    parts: dict[tuple[Surface, int], list[_Numbered]] = defaultdict(list)
    for number, event in enumerate(events):
        if isinstance(event, Step):
            parts[event.surface, event.shard].append((number, event))
    return dict(found for steps in parts.values() for found in _within(steps))


def became_of_advice(events: Sequence[Event]) -> dict[int, str]:
    """By the number of its event: what became of the advice of each consult, and why."""
    told: dict[int, str] = {}
    for end in advice_ends(events) if events else ():
        if end.consulted is not None and end.disposition is not None:
            why = f": {end.reason}" if end.reason else ""
            told[end.index] = page_text(f"{end.disposition}{why}")
    return told


def _within(steps: Sequence[_Numbered]) -> Iterator[tuple[int, ReportChange]]:
    for place, (number, event) in enumerate(steps):
        if _intervenes(event):
            yield number, _change(event, steps[:place], steps[place + 1 :])


def _intervenes(event: Step) -> bool:
    if isinstance(event, Consulted):
        return event.note.status == "answered"
    return isinstance(event, Verified) and event.judged.result.verdict == "VETO"


def _change(event: Step, earlier: Sequence[_Numbered], later: Sequence[_Numbered]) -> ReportChange:
    before = next(((n, e) for n, e in reversed(earlier) if isinstance(e, _SO_FAR)), None)
    answers = _FINAL if isinstance(event, Verified) else _SO_FAR
    after = next(((n, e) for n, e in later if isinstance(e, answers)), None)
    until_judged: list[Step] = []
    for _, each in later:
        if isinstance(each, Verified):
            break
        until_judged.append(each)
    repairs = [each for each in until_judged if isinstance(each, Repaired) and each.result == "accepted"]
    old = before[1].report if before else None
    new = after[1].report if after else None
    return ReportChange(
        before[0] if before else None,
        after[0] if after else None,
        (old.verdict if old else "", new.verdict if new else ""),
        tuple(_compared(old.findings if old else (), new.findings)) if new else (),
        repairs[-1].patch if repairs and after else "",
    )


def _compared(old: Sequence[Finding], new: Sequence[Finding]) -> Iterator[FindingChange]:
    """What is gone first, then the later report in its order."""
    earlier = {finding.id: finding for finding in old}
    now = {finding.id for finding in new}
    yield from (FindingChange("gone", finding) for finding in old if finding.id not in now)
    for finding in new:
        was = earlier.get(finding.id)
        if was is None:
            yield FindingChange("new", finding)
        elif was.severity != finding.severity:
            yield FindingChange("changed", finding, was.severity)
        else:
            yield FindingChange("same", finding)
