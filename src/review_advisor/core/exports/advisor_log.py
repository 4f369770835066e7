"""``.advisor/<run>.json``: what the advisor was asked and said in a review, in the words of ``advisor-pattern-v2``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from review_advisor.core.answers.answers import Guidance
from review_advisor.core.escalation.reasons import Watched, finding_threshold
from review_advisor.core.metrics.spending import spent
from review_advisor.core.outcome.cost import tokens
from review_advisor.core.outcome.events import (
    CallEnded,
    Consulted,
    Event,
    MemberReviewed,
    Planned,
    PolicyFrozen,
    Reported,
    ReviewEnded,
    Verified,
    Voted,
)
from review_advisor.core.outcome.questions import ends_of_calls
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Escalated
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.policy.escalation_rules import VERDICT
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.report.advice_ends import advice_ends


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rec(_Part):
    """The recommendation of a consult, with the names of the format."""

    action: str
    rationale: str
    risk_flags: tuple[str, ...]


class AdvisorCall(_Part):
    """One answer of an advisor, or None for one that did not come.

    ``advisor`` is who was asked: its id, or the role for the ADR's advisor. ``prompt`` is the question of a consult;
    whole prompts are not kept. ``tokens`` is None where they are only known together with the executor's: an advisor
    that used tools, or did not answer, in mid-flight. ``disposition`` is what became of the advice of a consult.
    ``reason`` says why: of an override, and of an answer that did not come.
    """

    role: Role
    advisor: str
    trigger: str
    prompt: str | None
    recommendation: str | None
    rec: Rec | None = None
    tokens: int | None
    timestamp: datetime
    disposition: str | None = None
    reason: str = ""


class CostSplit(_Part):
    """Tokens in, out, and of the cache; the last three names are those of the format, whatever the models are."""

    executor_tokens: int
    advisor_tokens: int
    advisor_fraction: float | None
    sonnet_tokens: int
    opus_tokens: int
    opus_fraction: float | None


class ConfidenceStep(_Part):
    """How sure an executor was of its verdict or of a finding, and whether the advisor was consulted on it.

    ``threshold`` is None under the profile ``adr``: there ``escalated`` says whether the executor asked.
    """

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
        confidence_log=tuple(_confidence(first, events)),
    )


def _calls(first: PolicyFrozen, events: Sequence[Event]) -> Iterator[AdvisorCall]:
    said = _said(events)
    ends = {each.index: each for each in advice_ends(events)}
    plans = {row.surface: "; ".join(row.roles[Role.PRE_FLIGHT].because) for row in first.policy.surfaces}
    for number, event in enumerate(events):
        if (
            isinstance(event, CallEnded)
            and event.role in (Role.PRE_FLIGHT, Role.POST_VERIFY)
            and event.ended != "refused"
        ):
            yield AdvisorCall(
                role=event.role,
                advisor=event.advisor or event.role.value,
                trigger=plans[event.surface] if event.role is Role.PRE_FLIGHT else "the executor's verdict",
                prompt=None,
                recommendation=said.get(number),
                tokens=tokens(event.usage),
                timestamp=event.at,
                reason=event.reason,
            )
        elif isinstance(event, Consulted) and event.note.asked:
            guidance, end = event.note.guidance, ends[number]
            yield AdvisorCall(
                role=Role.MID_FLIGHT,
                advisor=event.advisor or Role.MID_FLIGHT.value,
                trigger=_trigger(event, end.due),
                prompt=event.note.consult.question,
                recommendation=guidance.action if guidance else None,
                rec=_rec(guidance) if guidance else None,
                tokens=event.note.tokens,
                timestamp=event.at,
                disposition=end.disposition,
                reason=end.reason or event.note.reason,
            )


def _rec(guidance: Guidance) -> Rec:
    return Rec(action=guidance.action, rationale=guidance.rationale, risk_flags=guidance.risk_flags)


def _trigger(event: Consulted, due: Escalated | None) -> str:
    """Why the advisor was consulted: the reasons of the harness, the first of which goes before all others."""
    if due is None:
        return f"the executor asked, urgency {event.note.consult.urgency}"
    return ", ".join(reason.kind.value for reason in due.reasons)


def _said(events: Sequence[Event]) -> dict[int, str]:
    """The plan or the judgement that was read from an answer, by the index of the call's end."""
    found: dict[int, str] = {}
    for index, end in ends_of_calls(events).items():
        event = events[index]
        if isinstance(event, Planned):
            found[end] = event.plan.risk_summary
        elif isinstance(event, MemberReviewed):
            found[end] = f"by itself: {event.report.verdict}"
        elif isinstance(event, Voted):
            found[end] = f"{event.vote.verdict}: {event.vote.reasoning}"
        elif isinstance(event, VoicesHeard):
            found[end] = "; ".join(f"{each.advisor}: {each.words}" for each in event.voices)
        elif isinstance(event, Challenged):
            found[end] = f"{event.words}: {event.challenge.reasoning}"
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


def _confidence(first: PolicyFrozen, events: Sequence[Event]) -> Iterator[ConfidenceStep]:
    """Every self-rating of a verdict and of its findings, with the threshold of the profile if there is one."""
    asked = {event.place for event in events if isinstance(event, Consulted) and event.note.asked}
    for event in _rated(events):
        step = f"{event.surface.value}, part {event.shard + 1}, attempt {event.attempt + 1}"
        subjects = {each.subject for each in event.reasons} if isinstance(event, Escalated) else set()
        rules = None if first.policy.escalation.caps is None else first.policy.escalation
        watched = None if rules is None else Watched(rules, event.surface)
        yield ConfidenceStep(
            step=step,
            confidence=event.report.confidence,
            threshold=None if rules is None else rules.threshold(event.surface, VERDICT),
            escalated=VERDICT in subjects if rules else event.place in asked,
        )
        for finding in event.report.findings if watched else ():
            yield ConfidenceStep(
                step=f"{step}, {finding.id}",
                confidence=finding.confidence,
                threshold=finding_threshold(watched, finding) if watched else None,
                escalated=finding.id in subjects,
            )


def _rated(events: Sequence[Event]) -> Iterator[Escalated | AdviceOpen | Reported]:
    """What an executor said in each of its turns, once: one report may stand in several events."""
    told = set()
    for event in events:
        if not isinstance(event, Escalated | AdviceOpen | Reported) or (event.place, event.number) in told:
            continue
        if not (isinstance(event, Reported) and event.structural):
            told.add((event.place, event.number))
            yield event
