"""The review while it runs: one line an event, for a person who waits."""

from __future__ import annotations

from typing import assert_never

from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Event,
    KnowledgeStored,
    MemberReviewed,
    Opined,
    PartEnded,
    Planned,
    PolicyFrozen,
    Repaired,
    Reported,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    Ruled,
    StepEvent,
    SurfaceEnded,
    UnfoundedRejection,
    Verified,
    Voted,
)
from review_advisor.core.outcome.questions import who
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Disposed, Escalated, Recommended
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.report.advice_text import advice_words
from review_advisor.core.report.council_text import vote_words
from review_advisor.core.report.repair_text import repair_words
from review_advisor.core.report.wording import counted
from review_advisor.core.roster.advisor import REFUTER
from review_advisor.core.safety.terminal import one_line


def progress_line(event: Event, *, embedded: bool = False) -> str | None:
    """One line for a person who waits, or None for an event that says nothing new to them.

    ``embedded``: the embedded agent answers, and no model is asked.
    """
    match event:
        case PolicyFrozen():
            surfaces = ", ".join(row.surface.value for row in event.policy.surfaces)
            files = counted(len(event.files), "file")
            return f"{files}, blast radius {event.policy.blast.radius.value}; surfaces: {surfaces}"
        case SurfaceEnded():
            return f"{event.surface.value}: {event.outcome.value}"
        case ReviewStopped():
            return one_line(f"stopped: {event.detail}")
        case ReviewEnded():
            return None
        case _:
            line = _step_line(event, embedded=embedded)
            return None if line is None else one_line(f"{event.surface.value}: {line}")


def _step_line(event: StepEvent, *, embedded: bool) -> str | None:
    match event:
        case RoleSkipped():
            return f"{event.role.value} does not run: {', '.join(event.because)}"
        case CallStarted():
            return f"{_role_words(event)} ({'embedded agent' if embedded else _model_words(event)}) ..."
        case CallEnded():
            took = "in an earlier run" if event.kept else f"in {event.duration_seconds:.1f} s"
            return f"{_role_words(event)} {event.ended}{f': {event.detail}' if event.detail else f' {took}'}"
        case Ruled():
            return f"{event.ruling.move.value}: {event.ruling.because}"
        case Consulted() | Opined() | Voted() | Challenged() | VoicesHeard() | MemberReviewed():
            return _advisor_words(event)
        case Verified() | BlindJudged() | UnfoundedRejection() | Repaired():
            return _verdict_words(event)
        case Escalated() | Recommended() | AdviceOpen() | Disposed():
            return advice_words(event)
        case Planned() | Reported() | PartEnded() | KnowledgeStored():
            return None
        case _:
            assert_never(event)


def _advisor_words(event: Consulted | Opined | MemberReviewed | Voted | Challenged | VoicesHeard) -> str:
    match event:
        case Consulted():
            return f"consult {event.note.status}: {event.note.consult.question}"
        case Opined():
            missing = f" (says nothing of {', '.join(event.missing)})" if event.missing else ""
            return f"{event.advisor}: {event.opinion.opinion}{missing}"
        case VoicesHeard():
            return f"advice of {', '.join(each.advisor for each in event.voices)}"
        case Challenged():
            return f"{REFUTER} on {event.finding}: {event.words}"
        case MemberReviewed():
            return f"{event.advisor} by itself: {event.report.verdict}"
        case Voted():
            return f"{event.advisor} votes {vote_words(event.vote)}"


def _verdict_words(event: Verified | BlindJudged | UnfoundedRejection | Repaired) -> str:
    if isinstance(event, Repaired):
        return f"repair {event.result}: {repair_words(event)}"
    if isinstance(event, UnfoundedRejection):
        return f"executor rejects, but {event.report.unfounded}: asked once more"
    if isinstance(event, Verified):
        return f"post_verify says {event.judged.result.verdict}"
    return f"by the diff alone: {event.report.verdict if event.report else 'no verdict'}"


def _model_words(event: CallStarted) -> str:
    return event.requested_model + (f", {event.effort} effort" if event.effort else "")


def _role_words(event: CallStarted | CallEnded) -> str:
    words = who(event) + (", diff alone" if event.blind else "")
    if event.attempt:
        words += f", attempt {event.attempt + 1}"
    return words + (f", part {event.shard + 1}" if event.shard else "")
