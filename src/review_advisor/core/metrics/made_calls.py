"""The calls of a review, each with what belongs to it: when it began, the consults made within it, and its answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Event,
    Planned,
    Reported,
    UnfoundedRejection,
    Verified,
)
from review_advisor.core.outcome.questions import ends_of_calls


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
        case Consulted():
            call.consults.append(event)
        case Planned():
            call.answer = event.plan.model_dump_json()
        case Verified():
            call.answer = event.judged.raw
        case BlindJudged() | UnfoundedRejection() | Reported():
            call.answer = _reports().dump_json(event.report).decode() if event.report else ""


@cache
def _reports() -> TypeAdapter[CheckedReport]:
    return TypeAdapter(CheckedReport)
