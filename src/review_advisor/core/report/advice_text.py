"""What a person reads of a recommendation: the diff of its merge, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from review_advisor.core.escalation.recommendations import Merged
from review_advisor.core.outcome.events import Event, Reported
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Disposed, Escalated, Recommended
from review_advisor.core.report.advice_ends import NOT_STATED, AdviceEnd
from review_advisor.core.safety.terminal import wrapped


def findings_by_id(events: Iterable[Event]) -> dict[str, str]:
    """Title and place of every finding that an executor or its advisor named, also of one that was left out later."""
    found = (
        each.merged.brought if isinstance(each, Recommended) else each.report.findings
        for each in events
        if isinstance(each, Reported | Escalated | AdviceOpen | Recommended)
    )
    return {each.id: f"'{each.title}' at {each.path}:{each.line}" for findings in found for each in findings}


def merge_lines(merged: Merged, named: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The diff of a merge, what of the advice does not count, and the conflict, one line each.

    ``named`` is what ``findings_by_id`` found; without it a finding is told by its id.
    """
    known = named or {}
    return (
        *(f"{known.get(each.what, each.what)}: {each.before} -> {each.after}" for each in merged.diff),
        *(f"refused: {words}" for words in merged.refused),
        *([f"conflict: {merged.conflict}"] if merged.conflict else []),
    )


def advice_words(event: Escalated | Recommended | AdviceOpen | Disposed, named: Mapping[str, str] | None = None) -> str:
    """One line for a person who waits; ``named`` as for ``merge_lines``."""
    match event:
        case Escalated():
            why = ", ".join(reason.detail for reason in event.reasons)
            return f"a consult was refused: {event.refused}" if event.refused else f"the advisor is consulted: {why}"
        case Recommended():
            told = "; ".join(merge_lines(event.merged, named)) or "no change of the report"
            return f"recommendation {event.recommendation}: {told}"
        case AdviceOpen():
            return f"the executor is asked what became of {', '.join(event.recommendations)}"
        case Disposed():
            why = f" ({event.reason})" if event.reason else ""
            return f"recommendation {event.recommendation} is {event.disposition}{why}"


def advice_lines(events: Sequence[Event]) -> tuple[str, ...]:
    """Every merge and every end of a recommendation, in their order."""
    named = findings_by_id(events)
    return tuple(advice_words(each, named) for each in events if isinstance(each, Recommended | Disposed))


def consult_lines(end: AdviceEnd) -> Iterator[str]:
    """A consult in the report: question, advice, and what became of it where no event tells that."""
    if end.consulted is None:
        return
    note = end.consulted.note
    yield wrapped("  consult      asked: ", note.consult.question)
    if note.guidance is not None:
        stop = " (STOP)" if note.guidance.stops else ""
        yield wrapped(f"               advice{stop}: ", note.guidance.action)
    else:
        yield wrapped(f"               {note.status}: ", note.reason)
    if end.disposition == NOT_STATED:
        yield f"               what became of it: {end.disposition}"
    if note.tokens is not None:
        yield f"               used {note.tokens:,} tokens"
