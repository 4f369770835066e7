"""What a reader of the ledger is told by JSON: sessions, the decisions of their advisors, and sums of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard

from review_advisor.core.ledger.runs import RunLine
from review_advisor.core.ledger.task_lines import TaskLine
from review_advisor.core.metrics.spending import spent
from review_advisor.core.outcome.events import CallEnded, Event
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.report.advice_ends import AdviceEnd, advice_ends

SessionLine = RunLine | TaskLine
Json = dict[str, Any]


def session_view(session: SessionLine) -> Json:
    """One session: a review or a task, with what is known of both under the same names."""
    if isinstance(session, TaskLine):
        about: Json = {"kind": "task", "title": session.task, "error_mode": session.error_mode}
        about |= {"executor_backend": session.executor_backend, "advisor_backend": session.advisor_backend}
        took: int | None = session.duration_ms
        ended, corrections = session.status == "completed", None
    else:
        about = {"kind": "review", "title": session.title, "vetoes": session.vetoes}
        ended = session.status in ("approved", "changes_requested")
        corrections, took = session.vetoes, session.wall_ms
    return {
        "run_id": session.run_id,
        "started_at": session.started_at,
        "status": session.status,
        "completed": ended,
        "duration_ms": took,
        "decisions": session.consults,
        "self_sufficient": session.consults == 0,
        "first_pass": None if corrections is None else ended and corrections == 0,
        "executor_tokens": session.executor_tokens,
        "advisor_tokens": session.advisor_tokens,
        "advisor_fraction": _share(session.advisor_tokens, session.executor_tokens + session.advisor_tokens),
        "cost_usd": session.cost_usd,
        **about,
    }


def stats_view(sessions: Sequence[SessionLine]) -> Json:
    """The sums of these sessions. A share of nothing is null, and so is a cost that no session reported."""
    views = [session_view(each) for each in sessions]
    executor, advisor = (sum(each[f"{who}_tokens"] for each in views) for who in ("executor", "advisor"))
    costs = [each["cost_usd"] for each in views if each["cost_usd"] is not None]
    consulted = sum(each["decisions"] > 0 for each in views)
    first_pass = [each["first_pass"] for each in views if each["first_pass"] is not None]
    return {
        "sessions": len(views),
        "reviews": sum(each["kind"] == "review" for each in views),
        "tasks": sum(each["kind"] == "task" for each in views),
        "completed": sum(each["completed"] for each in views),
        "decisions": sum(each["decisions"] for each in views),
        "escalation_rate": _share(consulted, len(views)),
        "self_sufficient_rate": _share(len(views) - consulted, len(views)),
        "first_pass_rate": _share(sum(first_pass), len(first_pass)),
        "executor_tokens": executor,
        "advisor_tokens": advisor,
        "advisor_fraction": _share(advisor, executor + advisor),
        "cost_usd": sum(costs) if costs else None,
    }


def review_decisions(events: Sequence[Event]) -> Iterator[Json]:
    """Every consult of a review: why it was held, what was advised, what became of it, and what it took around it.

    ``executor_before`` is what the executor used on that part until then, ``executor_after`` what it used afterwards.
    Whether advice was worth its price is not told: nobody ran the review without it.
    """
    for end in advice_ends(events):
        yield {**_asked(end), **_answered(end), **_around(end, events)}


def _asked(end: AdviceEnd) -> Json:
    step = _step(end)
    return {
        "number": end.index,
        "surface": step.surface.value,
        "attempt": step.attempt,
        "shard": step.shard,
        "asked_by": "harness" if end.due else "executor",
        "triggers": [each.kind.value for each in end.due.reasons] if end.due else ["asked"],
        "details": [each.detail for each in end.due.reasons] if end.due else [],
        "state": end.due.state if end.due else None,
    }


def _answered(end: AdviceEnd) -> Json:
    note = end.consulted and end.consulted.note
    guidance = note.guidance if note else None
    merged = end.merge.merged if end.merge else None
    return {
        "status": note.status if note else "denied",
        "question": note.consult.question if note else "",
        "answers": [each.answer for each in note.consult.answers] if note else [],
        "answer": guidance.answer if guidance else "",
        "advisor": end.consulted.advisor if end.consulted else None,
        "action": guidance.action if guidance else "",
        "changes": [each.does for each in guidance.changes] if guidance else [],
        "risk_flags": list(guidance.risk_flags) if guidance else [],
        "stop_signal": guidance is not None and guidance.stops,
        "model": note.resolved_model if note else "",
        "tokens": note.tokens if note else None,
        "duration_ms": note.duration_ms if note else None,
        "reason": note.reason if note else end.reason,
        "recommendation": end.recommendation or None,
        "diff": [[each.what, each.before, each.after] for each in merged.diff] if merged else [],
        "conflict": merged.conflict if merged else "",
        "disposition": end.disposition,
        "disposition_reason": end.reason if note else "",
    }


def _around(end: AdviceEnd, events: Sequence[Event]) -> Json:
    step = _step(end)
    before, after = (
        [each for each in some if _is_executors(each, step)] for some in (events[: end.index], events[end.index + 1 :])
    )
    failed = [each.reason or each.ended for each in before if each.ended != "answered"]
    return {
        "executor_before": _used(before),
        "executor_after": _used(after),
        "last_error": failed[-1] if failed else None,
        "tool_failures": sum(each.tool_failures for each in before),
    }


def _step(end: AdviceEnd) -> Step:
    step = end.consulted or end.due
    if step is None:
        raise AssertionError("a consult was held or refused")
    return step


def _is_executors(event: Event, of: Step) -> TypeGuard[CallEnded]:
    part = (of.surface, of.shard)
    return isinstance(event, CallEnded) and event.role is Role.EXECUTOR and (event.surface, event.shard) == part


def _used(calls: Iterable[CallEnded]) -> Json:
    every = list(calls)
    costs = [each.usage.cost_usd for each in every if each.usage.cost_usd is not None]
    tokens = spent(every).executor_tokens
    return {"calls": len(every), "tokens": tokens, "cost_usd": sum(costs) if costs else None}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
