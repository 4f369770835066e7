"""The calls of a review, each with what belongs to it: when it began, the consults made within it, and its answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from review_advisor.core.answers.answers import Answer
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Event,
    MemberReviewed,
    Opined,
    Planned,
    Reported,
    UnfoundedRejection,
    Verified,
    Voted,
)
from review_advisor.core.outcome.questions import ends_of_calls
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Escalated
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.safety.fence import facts_text


@dataclass(slots=True)
class MadeCall:
    """One call that was made. ``answer`` is JSON, held against the change; empty where no answer stood."""

    ended: CallEnded
    began: datetime
    consults: list[Consulted] = field(default_factory=list)
    answer: str = ""


def made_calls(events: Iterable[Event]) -> list[MadeCall]:
    """All calls that were made, in the order in which they ended; one that was refused was not made."""
    every = tuple(events)
    calls = {
        index: MadeCall(event, event.at)
        for index, event in enumerate(every)
        if isinstance(event, CallEnded) and event.ended != "refused"
    }
    for index, end in ends_of_calls(every).items():
        if end in calls:
            _add(calls[end], every[index])
    return list(calls.values())


def _add(call: MadeCall, event: Event) -> None:
    match event:
        case CallStarted():
            call.began = event.at
        case Consulted() if event.asked_by == "harness":
            call.answer = event.note.guidance.model_dump_json() if event.note.guidance else ""
        case Consulted():
            call.consults.append(event)
        case Opined() | Planned() | Voted() | Challenged():
            call.answer = _answer_of(event).model_dump_json()
        case Verified():
            call.answer = event.judged.raw
        case VoicesHeard():
            call.answer = facts_text(event.voices)
        case BlindJudged() | UnfoundedRejection() | Escalated() | AdviceOpen() | Reported() | MemberReviewed():
            call.answer = _reports().dump_json(event.report).decode() if event.report else ""


def _answer_of(event: Opined | Planned | Voted | Challenged) -> Answer:
    match event:
        case Opined():
            return event.opinion
        case Planned():
            return event.plan
        case Voted():
            return event.vote
        case Challenged():
            return event.challenge


@cache
def _reports() -> TypeAdapter[CheckedReport]:
    return TypeAdapter(CheckedReport)
