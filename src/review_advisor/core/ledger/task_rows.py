"""The ledger's row of one task, read from its events and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.ledger.row import Tables, row
from review_advisor.core.outcome.cost import tokens
from review_advisor.core.task.task_events import (
    BlockMalformed,
    ConsultHeard,
    GuidanceHeard,
    ProposalHeard,
    Speaker,
    TaskBegun,
    TaskCalled,
    TaskEnded,
    TaskEvent,
)
from review_advisor.core.task.task_status import error_mode


def readings_of_task(events: Sequence[TaskEvent]) -> Tables:
    """Its row, by table. The first event is the run's beginning; without its end the status is running."""
    first, last = events[0], events[-1]
    if not isinstance(first, TaskBegun):
        raise TypeError("a task's events begin with TaskBegun")
    calls = [event for event in events if isinstance(event, TaskCalled) and event.ended != "refused"]
    malformed = [event.tag for event in events if isinstance(event, BlockMalformed)]
    costs = [call.usage.cost_usd for call in calls if call.usage.cost_usd is not None]
    status = last.status if isinstance(last, TaskEnded) else "running"
    about = row(
        task=first.task,
        status=status,
        error_mode=error_mode(status, malformed[-1] if malformed else ""),
        executor_backend=first.executor_backend,
        advisor_backend=first.advisor_backend,
        consults=sum(isinstance(event, ConsultHeard) and not event.refused for event in events),
        guidances=sum(isinstance(event, GuidanceHeard) for event in events),
        proposals=sum(isinstance(event, ProposalHeard) for event in events),
        malformed=len(malformed),
        executor_calls=sum(call.speaker == "executor" for call in calls),
        executor_tokens=_tokens(calls, "executor"),
        advisor_tokens=_tokens(calls, "advisor"),
        cost_usd=sum(costs) if costs else None,
        duration_ms=round(sum(call.duration_seconds for call in calls) * 1000),
    )
    return {"tasks": (about,)}


def _tokens(calls: Sequence[TaskCalled], speaker: Speaker) -> int:
    return sum(tokens(call.usage) for call in calls if call.speaker == speaker)
