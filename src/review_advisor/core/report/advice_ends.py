"""What became of each consult of a review, read from its events: why it was held, its merge, and its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from review_advisor.core.answers.answers import Guidance
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.outcome.events import Consulted, Event, PolicyFrozen, Reported
from review_advisor.core.outcome.steps.advice_events import Disposed, Escalated, Recommended

NOT_STATED = "not stated"
"""Under the profile ``adr`` nobody asks the executor what became of advice. This blocks nothing."""


@dataclass(frozen=True, slots=True)
class AdviceEnd:
    """One consult, at the event ``index``. ``consulted`` is None for one of the harness that was refused.

    ``due`` is why the harness asked; None where the executor did. ``recommendation`` is the advice's name within the
    attempt, empty without advice. ``disposition`` is None for a consult without advice, and for advice to an
    executor whose report never came.
    """

    index: int
    consulted: Consulted | None
    due: Escalated | None = None
    merge: Recommended | None = None
    recommendation: str = ""
    disposition: str | None = None
    reason: str = ""


def advice_ends(events: Sequence[Event]) -> tuple[AdviceEnd, ...]:
    """Every consult of a review in order, with what became of its advice. The first event is the frozen policy."""
    first = events[0]
    under_profile = isinstance(first, PolicyFrozen) and first.policy.escalation.caps is not None
    return tuple(_ends(events, under_profile=under_profile))


def _ends(events: Sequence[Event], *, under_profile: bool) -> Iterator[AdviceEnd]:
    merges = {(each.place, each.recommendation): each for each in events if isinstance(each, Recommended)}
    became = {(each.place, each.recommendation): each for each in events if isinstance(each, Disposed)}
    last = {each.place: each.report for each in events if isinstance(each, Reported)}
    due: dict[object, Escalated] = {}
    given: Counter[object] = Counter()
    for index, event in enumerate(events):
        if isinstance(event, Escalated):
            due[event.place] = event
            if event.refused:
                yield AdviceEnd(index, None, event, reason=event.refused)
        elif isinstance(event, Consulted):
            why = due.get(event.place) if event.asked_by == "harness" else None
            guidance = event.note.guidance
            if guidance is None:
                yield AdviceEnd(index, event, why)
                continue
            given[event.place] += 1
            name = f"r{given[event.place]}"
            if not under_profile:
                yield AdviceEnd(index, event, why, None, name, *_derived(guidance, last.get(event.place)))
                continue
            end = became.get((event.place, name))
            told = (end.disposition, end.reason) if end is not None else (None, "")
            yield AdviceEnd(index, event, why, merges.get((event.place, name)), name, *told)


def _derived(guidance: Guidance, report: CheckedReport | None) -> tuple[str, str]:
    """The end of advice that nobody asked about: what the final report shows, or that it is not stated.

    An advisor within the executor's own call knows no id of a finding, so the report shows a verdict alone.
    """
    wanted = [each.verdict if each.does == "change_verdict" else None for each in guidance.changes]
    if report is not None and wanted and all(verdict == report.verdict for verdict in wanted):
        return "applied", "the report shows it"
    return NOT_STATED, ""
