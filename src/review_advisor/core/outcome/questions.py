"""Which call an event belongs to, and which calls ask one question: the one place that says so.

An event names its call by the call's number, and a call that asks once more names the call that it repeats. Events
that were recorded before calls had numbers read as ``number=0``. For them alone another rule holds: a call is known by
its surface, attempt, part and role, and by whether it was blind. That is enough there, because no role had two
advisors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from typing import get_args

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
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Escalated
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.policy.budgets import RefusalReason, Refused
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import Lost, LostReason

_OfAPlan = Planned | Opined
_OfAnExecutor = BlindJudged | UnfoundedRejection | Escalated | AdviceOpen | Reported
_OfAJudge = Verified | MemberReviewed | Voted | Challenged | VoicesHeard
AnswerRead = _OfAPlan | _OfAnExecutor | _OfAJudge
"""What is read from the answer of a call."""
Within = Consulted | AnswerRead
"""What happens within a call, or is read from its answer."""


def question_of(call: CallEnded) -> Hashable:
    """What the calls of one question have in common: the first call and the one that asks again."""
    return call.asks_again or call.number or _unnumbered(call)


def unanswered(calls: Iterable[CallEnded]) -> tuple[CallEnded, ...]:
    """The calls of all questions that got no answer, in order."""
    every = tuple(calls)
    answered = {question_of(call) for call in every if call.ended == "answered"}
    return tuple(call for call in every if question_of(call) not in answered)


def why_unanswered(call: CallEnded) -> Lost | Refused | None:
    """What a call without an answer came to; None if its reason is none that there is."""
    if call.ended == "lost":
        return next((Lost(each, call.detail) for each in LostReason if each.value == call.reason), None)
    return next((Refused(each, call.detail) for each in get_args(RefusalReason) if each == call.reason), None)


def ends_of_calls(events: Sequence[Event]) -> dict[int, int]:
    """The index of a call's ``CallEnded``, by the index of each event of that call.

    These are its start, its end, the consults within it and the answer that was read from it. The events of a call
    that has no end are left out, and so is what belongs to no call.
    """
    ended = {event.number: index for index, event in enumerate(events) if isinstance(event, CallEnded)}
    older = _UnnumberedCalls()
    found: dict[int, int] = {}
    for index, event in enumerate(events):
        if not isinstance(event, CallStarted | CallEnded | Within):
            continue
        if not event.number:
            found |= older.take(index, event)
        elif event.number in ended:
            found[index] = ended[event.number]
    return found


def most_at_once(events: Sequence[Event]) -> int:
    """The largest number of calls that ran at the same time, at least one. A call that ends makes room for the next."""
    changes: list[tuple[datetime, int]] = []
    for index, end in ends_of_calls(events).items():
        if isinstance(events[index], CallStarted):
            changes += [(events[index].at, 1), (events[end].at, -1)]
    return max(1, *accumulate(change for _, change in sorted(changes)))


def who(event: CallStarted | CallEnded | Consulted) -> str:
    """Who was asked: the role, and after a slash the advisor's id if it is not the role's usual one."""
    role = Role.MID_FLIGHT if isinstance(event, Consulted) else event.role
    advisor = unusual_advisor(role, event.advisor)
    return f"{role.value}/{advisor}" if advisor else role.value


def unusual_advisor(role: Role, advisor: str) -> str:
    """The advisor's id, empty if it is the usual one of its role."""
    return "" if advisor == role.advisor else advisor


def efforts(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    """Role and effort of every call and consult for which the configuration has set one."""
    for event in events:
        if isinstance(event, CallEnded | Consulted) and event.effort:
            yield (event.role if isinstance(event, CallEnded) else Role.MID_FLIGHT).value, event.effort


class _UnnumberedCalls:
    """Matches the events of calls without numbers: starts with ends in turn, anything else with the latest end."""

    def __init__(self) -> None:
        self._starts: dict[Hashable, list[int]] = defaultdict(list)
        self._latest: dict[Hashable, int] = {}

    def take(self, index: int, event: CallStarted | CallEnded | Within) -> dict[int, int]:
        match event:
            case CallStarted():
                self._starts[_unnumbered(event)].append(index)
            case CallEnded() if event.ended == "refused":
                return {index: index}
            case CallEnded():
                self._latest[event.place, event.role] = index
                waiting = self._starts[_unnumbered(event)]
                return {index: index, **({waiting.pop(0): index} if waiting else {})}
            case _:
                latest = self._latest.get((event.place, role_behind(event)))
                return {} if latest is None else {index: latest}
        return {}


def _unnumbered(event: CallStarted | CallEnded) -> Hashable:
    return event.place, event.role, event.blind


def role_behind(event: Within) -> Role:
    """Whose call it was. A report of our own check is nobody's: no call stands in its place."""
    if isinstance(event, _OfAPlan):
        return Role.PRE_FLIGHT
    return Role.POST_VERIFY if isinstance(event, _OfAJudge) else Role.EXECUTOR
