"""The calls of a review, each with what belongs to it: when it began, the consults made within it, and its answer."""

from __future__ import annotations

from collections import defaultdict
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
    Verified,
)
from review_advisor.core.policy.surfaces import Role


@dataclass(slots=True)
class MadeCall:
    """One call that was made. ``answer`` is JSON, held against the change; empty where no answer stood."""

    ended: CallEnded
    began: datetime
    consults: list[Consulted] = field(default_factory=list)
    answer: str = ""


def made_calls(events: Iterable[Event]) -> list[MadeCall]:
    """All calls that were made, in the order in which they ended; one that was refused was not made."""
    calls: list[MadeCall] = []
    began: dict[tuple[object, ...], list[datetime]] = defaultdict(list)
    latest: dict[tuple[object, ...], MadeCall] = {}
    for event in events:
        match event:
            case CallStarted():
                began[_question(event)].append(event.at)
            case CallEnded() if event.ended != "refused":
                waiting = began[_question(event)]
                call = latest[event.place, event.role] = MadeCall(event, waiting.pop(0) if waiting else event.at)
                calls.append(call)
            case Consulted():
                asking = latest.get((event.place, Role.EXECUTOR))
                if asking is not None:
                    asking.consults.append(event)
            case Planned() | BlindJudged() | Reported() | Verified():
                role, answer = _answer(event)
                asked = latest.get((event.place, role))
                if asked is not None:
                    asked.answer = answer
    return calls


def _question(event: CallStarted | CallEnded) -> tuple[object, ...]:
    return event.place, event.role, event.blind


def _answer(event: Planned | BlindJudged | Reported | Verified) -> tuple[Role, str]:
    """An answer as JSON, and whose it is. A report of our own check is nobody's: no call stands in its place."""
    match event:
        case Planned():
            return Role.PRE_FLIGHT, event.plan.model_dump_json()
        case Verified():
            return Role.POST_VERIFY, event.judged.raw
        case BlindJudged() | Reported():
            return Role.EXECUTOR, _reports().dump_json(event.report).decode() if event.report else ""


@cache
def _reports() -> TypeAdapter[CheckedReport]:
    return TypeAdapter(CheckedReport)
