"""Whether the numbers of a review's calls fit: the part of a record's soundness that is about who was asked, and when.

Without them a call that brought no answer could hide behind another that did.
"""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Event,
    MemberReviewed,
    Opined,
    PolicyFrozen,
    Reported,
    UnfoundedRejection,
    Verified,
    Voted,
)
from review_advisor.core.outcome.questions import AnswerRead, role_behind
from review_advisor.core.outcome.replayed.steps_in_order import require
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.policy.outage_rules import NO_SECOND_TRY, OutageRules, fallbacks
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import BUSY, LOSSES, Cause, LostReason
from review_advisor.core.roster.advisor import ADR_ADVISOR, DEFAULT_ROSTER, REFUTER, VOICES, Roster

_BUSY = {("lost", reason.value) for reason in BUSY}
_OUTAGES = {("lost", reason.value) for reason, loss in LOSSES.items() if loss.cause is Cause.OUTAGE}


def check_numbers(events: Sequence[Event]) -> None:
    """Raise ``Unsound`` unless each call has a number of its own, and each event fits the call that it names."""
    first = events[0] if events else None
    policy = first.policy if isinstance(first, PolicyFrozen) else None
    roster = DEFAULT_ROSTER if policy is None else policy.roster
    refuted = policy is not None and policy.refuter
    calls = _Calls(NO_SECOND_TRY if policy is None else policy.outage, roster, refuter=refuted)
    has_council = len(roster.panel) > 1
    for event in events:
        match event:
            case CallStarted():
                calls.begin(event)
            case CallEnded():
                calls.end(event)
            case Consulted():
                call = calls.ended.get(event.number)
                asker = Role.EXECUTOR if event.asked_by == "executor" else Role.MID_FLIGHT
                fits = call is not None and call.role is asker and call.place == event.place
                require(fits, "a consult names a call that it cannot be part of")
                declared = event.advisor in _declared(Role.MID_FLIGHT, roster)
                require(declared, "a consult names an advisor that is not declared")
            case Reported() if event.structural:
                require(event.number == 0, "the bot's own structural check names a call")
            case Verified() if has_council:
                require(event.number == 0, "the judgement of a council names a call")
            case _ if isinstance(event, AnswerRead):
                require(_is_of(event, calls.ended.get(event.number)), "an answer names a call that did not give it")
                if isinstance(event, UnfoundedRejection):
                    calls.unfounded.add(event.number)
            case _:
                pass
    require(calls.begun.keys() == set(range(1, len(calls.begun) + 1)), "the numbers of the calls do not count from 1")


class _Calls:
    def __init__(self, outage: OutageRules, roster: Roster, *, refuter: bool) -> None:
        self._outage = outage
        self._roster = roster
        self._refuter = refuter
        self.begun: dict[int, CallStarted | CallEnded] = {}
        self.ended: dict[int, CallEnded] = {}
        self.unfounded: set[int] = set()
        self._asked_again: dict[int, list[int]] = {}

    def begin(self, event: CallStarted | CallEnded) -> None:
        """A call that starts, or is refused in the place of that."""
        require(event.number > 0, "a call has no number")
        require(event.number not in self.begun, "a number is given to two calls")
        refutes = self._refuter and (event.role, event.advisor) == (Role.POST_VERIFY, REFUTER)
        declared = refutes or event.advisor in _declared(event.role, self._roster)
        require(declared, "a call names an advisor that is not declared")
        if event.asks_again:
            first = self.ended.get(event.asks_again)
            before = self._asked_again.setdefault(event.asks_again, [])
            require(
                first is not None
                and (event.asks_again in self.unfounded or (first.ended == "lost" and not first.asks_again))
                and (self._repeats(event, first, before) or self._stands_in(event, first, before)),
                "a call asks a question again that was answered, is another one, or was asked again before",
            )
            before.append(event.number)
        self.begun[event.number] = event

    def _repeats(self, event: CallStarted | CallEnded, first: CallEnded, before: Sequence[int]) -> bool:
        """Whether it is the same question once more, or again while a busy server took all answers to it.

        A judge is waited for once after any outage, so for a judgement the latest answer may be lost to another one.
        """
        earlier = self._ended(first, before)
        *others, latest = earlier
        waits = event.role is Role.POST_VERIFY and self._outage.wait_seconds > 0 and not _is_limited(earlier)
        busy = (
            len(earlier) == len(before) + 1
            and all((each.ended, each.reason) in _BUSY for each in others)
            and ((latest.ended, latest.reason) in _BUSY or (waits and (latest.ended, latest.reason) in _OUTAGES))
        )
        return _about(first) == _about(event) and (not before or (busy and len(before) <= self._outage.busy_tries))

    def _stands_in(self, event: CallStarted | CallEnded, first: CallEnded, before: Sequence[int]) -> bool:
        """Whether a judgement is asked of the next fallback model, after all earlier calls for it were lost."""
        lost = [number in self.ended and self.ended[number].ended == "lost" for number in before]
        limited = _is_limited(self._ended(first, before))
        same = [self.begun[number].requested_model == first.requested_model for number in before]
        models = fallbacks(self._outage, first.requested_model)[same.count(False) :]
        return (
            event.role is Role.POST_VERIFY
            and (event.place, event.advisor, event.blind) == (first.place, first.advisor, first.blind)
            and all(lost)
            and not limited
            and event.requested_model in models[:1]
        )

    def _ended(self, first: CallEnded, before: Sequence[int]) -> list[CallEnded]:
        return [first, *(self.ended[number] for number in before if number in self.ended)]

    def end(self, event: CallEnded) -> None:
        tolerated = event.reason == LostReason.TOLERATED_RATE_LIMIT.value
        require(self._outage.rate_limits == "soft" or not tolerated, "a rate limit is tolerated against the policy")
        if event.ended == "refused":
            self.begin(event)
        begun = self.begun.get(event.number)
        fits = begun is not None and _as_begun(begun) == _as_begun(event)
        require(fits and event.number not in self.ended, "a call ended that had not started, or ended twice")
        self.ended[event.number] = event


def _declared(role: Role, roster: Roster) -> frozenset[str]:
    """The ids under which somebody may be asked in a role: the role's own, and those of the declared advisors."""
    at = {Role.PRE_FLIGHT: roster.starting, Role.MID_FLIGHT: roster.on_demand, Role.POST_VERIFY: roster.panel}
    speaking = at.get(role, ())
    joint = (VOICES,) if role is Role.POST_VERIFY and roster.voices else ()
    return frozenset((role.advisor, *joint, *(each.id for each in speaking if each.id != ADR_ADVISOR.id)))


def _is_limited(calls: Sequence[CallEnded]) -> bool:
    return any(each.reason == LostReason.RATE_LIMITED.value for each in calls)


def _about(event: CallStarted | CallEnded) -> object:
    return event.place, event.role, event.advisor, event.blind, event.requested_model


def _as_begun(event: CallStarted | CallEnded) -> object:
    return _about(event), event.asks_again, event.effort


def _is_of(event: AnswerRead, call: CallEnded | None) -> bool:
    if call is None or (isinstance(event, Opined | MemberReviewed | Voted) and event.advisor != call.advisor):
        return False
    own = ((Challenged, REFUTER), (VoicesHeard, VOICES))
    if any(isinstance(event, kind) is not (call.advisor == who) for kind, who in own):
        return False
    missing = isinstance(event, BlindJudged) and event.report is None
    about = (event.place, role_behind(event), isinstance(event, BlindJudged), not missing)
    return about == (call.place, call.role, call.blind, call.ended == "answered")
