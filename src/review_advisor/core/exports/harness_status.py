"""How a review ended, in the closed list of ``advisor-harness``."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.outcome.events import (
    CallEnded,
    Consulted,
    Event,
    PartEnded,
    ReviewEnded,
    Ruled,
    Verified,
)
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.questions import unanswered
from review_advisor.core.outcome.steps.advice_events import Escalated
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import LostReason
from review_advisor.core.roles.mid_flight import stop_signal
from review_advisor.core.task.task_status import HarnessStatus

UNREADABLE = (LostReason.INVALID_ANSWER.value, LostReason.NO_STRUCTURED_OUTPUT.value)
"""Why an answer that came was none: the malformed blocks of the format."""

_REASONS: tuple[HarnessStatus, ...] = (
    "advisor_stop_signal",
    "max_turns_reached",
    "advisor_failed",
    "advisor_call_limit_reached",
)


def status_of(events: Sequence[Event]) -> HarnessStatus:
    """The run's end in the format's closed list. Whatever is not completed says who, or what, kept it from it."""
    last = events[-1]
    if not isinstance(last, ReviewEnded):
        return "running"
    match last.outcome:
        case Outcome.NOTHING_TO_REVIEW | Outcome.APPROVED | Outcome.CHANGES_REQUESTED:
            return "completed"
        case Outcome.ESCALATED:
            return _escalated(events)
        case Outcome.STOPPED:
            return _stopped(events)


def _escalated(events: Sequence[Event]) -> HarnessStatus:
    """Of several parts that call a person, the first reason of ``_REASONS`` counts."""
    ended = [event for event in events if isinstance(event, PartEnded) and event.outcome is Outcome.ESCALATED]
    steps = [event for event in events if isinstance(event, Step)]
    found = {_why(part, [each for each in steps if each.place == part.place]) for part in ended}
    return next((reason for reason in _REASONS if reason in found), "executor_stopped_without_done")


def _why(part: PartEnded, steps: Sequence[Step]) -> HarnessStatus:
    """Why a part calls a person, by what happened in its last attempt."""
    notes = [step.note for step in steps if isinstance(step, Consulted)]
    if stop_signal(notes) is not None:
        return "advisor_stop_signal"
    if any(isinstance(step, Escalated) and step.refused and not step.advisor_alone for step in steps):
        return "advisor_call_limit_reached"
    if any(isinstance(step, Ruled) for step in steps):
        return "max_turns_reached" if any(isinstance(step, Verified) for step in steps) else "advisor_failed"
    if any(note.status == "denied" for note in notes):
        return "advisor_call_limit_reached"
    # A retry that changes nothing is not judged again: it was the last turn.
    return "max_turns_reached" if part.attempt > 0 and part.read else "executor_stopped_without_done"


def _stopped(events: Sequence[Event]) -> HarnessStatus:
    missing = unanswered(event for event in events if isinstance(event, CallEnded))
    if not missing:
        return "executor_stopped_without_done"
    if missing[-1].role is not Role.EXECUTOR:
        return "advisor_failed"
    return "malformed_block" if missing[-1].reason in UNREADABLE else "executor_failed"
