"""``.advisor/<run>.json``: what the advisor was asked and said in a review, in the words of ``advisor-pattern-v2``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from review_advisor.core.metrics.spending import spent
from review_advisor.core.outcome.cost import tokens
from review_advisor.core.outcome.events import (
    CallEnded,
    Consulted,
    Event,
    Planned,
    PolicyFrozen,
    Reported,
    ReviewEnded,
    Verified,
)
from review_advisor.core.outcome.questions import ends_of_calls
from review_advisor.core.policy.surfaces import Role


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AdvisorCall(_Part):
    """One answer of the advisor, or None for one that did not come.

    ``prompt`` is the question of a consult; whole prompts are not kept. ``tokens`` is None where they are only known
    together with the executor's: an advisor that used tools, or did not answer, in mid-flight.
    """

    role: Role
    trigger: str
    prompt: str | None
    recommendation: str | None
    tokens: int | None
    timestamp: datetime


class CostSplit(_Part):
    """Tokens in, out, and of the cache; the last three names are those of the format, whatever the models are."""

    executor_tokens: int
    advisor_tokens: int
    advisor_fraction: float | None
    sonnet_tokens: int
    opus_tokens: int
    opus_fraction: float | None


class ConfidenceStep(_Part):
    """How sure an executor was of its verdict, and whether it had asked the advisor. No threshold is applied today."""

    step: str
    confidence: float
    threshold: float | None
    escalated: bool


class AdvisorLog(_Part):
    """The whole file. ``final_answer`` is None for a review that was killed."""

    task_id: str
    final_answer: str | None
    advisor_calls: tuple[AdvisorCall, ...]
    cost_split: CostSplit
    confidence_log: tuple[ConfidenceStep, ...]


def advisor_log(events: Sequence[Event]) -> AdvisorLog:
    """The log of a review, also of one that did not come to its end. Its first event is the frozen policy."""
    first, last = events[0], events[-1]
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review's events begin with PolicyFrozen")
    ended = f"{last.outcome.value}: {'; '.join(last.because)}" if isinstance(last, ReviewEnded) else None
    return AdvisorLog(
        task_id=first.run_id,
        final_answer=ended,
        advisor_calls=tuple(_calls(first, events)),
        cost_split=_split(events),
        confidence_log=tuple(_confidence(events)),
    )


def _calls(first: PolicyFrozen, events: Sequence[Event]) -> Iterator[AdvisorCall]:
    said = _said(events)
    plans = {row.surface: "; ".join(row.roles[Role.PRE_FLIGHT].because) for row in first.policy.surfaces}
    for number, event in enumerate(events):
        if (
            isinstance(event, CallEnded)
            and event.role in (Role.PRE_FLIGHT, Role.POST_VERIFY)
            and event.ended != "refused"
        ):
            yield AdvisorCall(
                role=event.role,
                trigger=plans[event.surface] if event.role is Role.PRE_FLIGHT else "the executor's verdict",
                prompt=None,
                recommendation=said.get(number),
                tokens=tokens(event.usage),
                timestamp=event.at,
            )
        elif isinstance(event, Consulted) and event.note.asked:
            guidance = event.note.guidance
            yield AdvisorCall(
                role=Role.MID_FLIGHT,
                trigger=f"the executor asked, urgency {event.note.consult.urgency}",
                prompt=event.note.consult.question,
                recommendation=guidance.action if guidance else None,
                tokens=event.note.tokens,
                timestamp=event.at,
            )


def _said(events: Sequence[Event]) -> dict[int, str]:
    """The plan or the judgement that was read from an answer, by the index of the call's end."""
    found: dict[int, str] = {}
    for index, end in ends_of_calls(events).items():
        event = events[index]
        if isinstance(event, Planned):
            found[end] = event.plan.risk_summary
        elif isinstance(event, Verified):
            found[end] = f"{event.judged.result.verdict}: {event.judged.result.reasoning}"
    return found


def _split(events: Sequence[Event]) -> CostSplit:
    used = spent(event for event in events if isinstance(event, CallEnded))
    executor, advisor = used.executor_tokens, used.advisor_tokens
    fraction = advisor / (executor + advisor) if executor + advisor else None
    return CostSplit(
        executor_tokens=executor,
        advisor_tokens=advisor,
        advisor_fraction=fraction,
        sonnet_tokens=executor,
        opus_tokens=advisor,
        opus_fraction=fraction,
    )


def _confidence(events: Sequence[Event]) -> Iterator[ConfidenceStep]:
    asked = {event.place for event in events if isinstance(event, Consulted) and event.note.asked}
    for event in events:
        if isinstance(event, Reported) and not event.structural:
            yield ConfidenceStep(
                step=f"{event.surface.value}, part {event.shard + 1}, attempt {event.attempt + 1}",
                confidence=event.report.confidence,
                threshold=None,
                escalated=event.place in asked,
            )
