"""One review as a trace: the review, its calls, and what the advisor used within an executor's call.

Attributes follow OpenTelemetry's semantic conventions for generative AI and version control; what they have no word
for begins with ``review_advisor.``. ``gen_ai.usage.cost``, in US dollars, is no convention: several backends read it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Literal

from pydantic import TypeAdapter

from review_advisor.core.outcome.document import OutcomeDocument, total_usage, used_within
from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Event,
    Planned,
    Reported,
    Step,
    Verified,
)
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import ModelUsage, Usage
from review_advisor.core.roles.evidence import CheckedReport
from review_advisor.core.roles.mid_flight import ConsultNote

Attribute = str | int | float | bool

PROVIDER = "anthropic"
"""Whose CLI every call goes through. Which cloud or gateway is behind it, a review does not know."""


@dataclass(frozen=True, slots=True)
class Span:
    """One span with those that happened within it. ``failed``: no answer came of it."""

    name: str
    kind: Literal["internal", "client"]
    start: datetime
    end: datetime
    attributes: Mapping[str, Attribute]
    failed: bool = False
    children: tuple[Span, ...] = ()


@dataclass(slots=True)
class _Call:
    """One call with what belongs to it: when it began, the consults made within it, and its answer as JSON."""

    ended: CallEnded
    began: datetime
    notes: list[ConsultNote] = field(default_factory=list)
    answer: str = ""


def review_span(document: OutcomeDocument, *, with_content: bool = False) -> Span:
    """The whole review as one span with its calls as children.

    ``with_content`` adds what models answered, and what executors asked the advisor, as the document has it: without
    the harness's secrets. Prompts are no part of a document, so they are never in it.
    """
    run: dict[str, Attribute] = {"review_advisor.run_id": document.run_id}
    calls = tuple(_call_span(call, run, with_content=with_content) for call in _calls(document.events))
    flags = document.flags
    return Span(
        "invoke_workflow review-advisor",
        "internal",
        document.started_at,
        max(document.started_at, document.ended_at),
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "review-advisor",
            **run,
            "review_advisor.outcome": document.outcome.value,
            "review_advisor.exit_code": document.exit_code,
            "review_advisor.blast_radius": document.policy.blast.radius.value,
            "review_advisor.degraded": flags.degraded,
            "review_advisor.advisor_disabled": bool(flags.advisor_disabled),
            "review_advisor.recovered": flags.recovered,
            "review_advisor.exhausted": flags.exhausted,
            "review_advisor.findings": len(document.findings),
            **_change(document),
        },
        children=calls,
    )


def _change(document: OutcomeDocument) -> dict[str, Attribute]:
    """Which change it was about, as far as it has a name of its own."""
    owner, _, name = (document.repository or "").partition("/")
    told = {
        "vcs.owner.name": owner,
        "vcs.repository.name": name,
        "vcs.change.id": "" if document.pull_request is None else str(document.pull_request),
        "vcs.ref.base.revision": document.base_sha or "",
        "vcs.ref.head.revision": document.head_sha or "",
    }
    return {key: value for key, value in told.items() if value}


def _calls(events: Iterable[Event]) -> list[_Call]:
    """All calls that were made, in the order in which they ended."""
    calls: list[_Call] = []
    began: dict[tuple[object, ...], list[datetime]] = defaultdict(list)
    latest: dict[tuple[object, ...], _Call] = {}
    for event in events:
        match event:
            case CallStarted():
                began[_question(event)].append(event.at)
            case CallEnded() if event.ended != "refused":
                waiting = began[_question(event)]
                call = latest[_place(event, event.role)] = _Call(event, waiting.pop(0) if waiting else event.at)
                calls.append(call)
            case Consulted() if event.note.status != "denied":
                asking = latest.get(_place(event, Role.EXECUTOR))
                if asking is not None:
                    asking.notes.append(event.note)
            case Planned() | BlindJudged() | Reported() | Verified():
                role, answer = _answer(event)
                asked = latest.get(_place(event, role))
                if asked is not None:
                    asked.answer = answer
    return calls


def _question(event: CallStarted | CallEnded) -> tuple[object, ...]:
    return (*_place(event, event.role), event.blind)


def _place(event: Step, role: Role) -> tuple[object, ...]:
    return event.surface, event.attempt, event.shard, role


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


def _call_span(call: _Call, run: Mapping[str, Attribute], *, with_content: bool) -> Span:
    ended = call.ended
    used = tuple(used_within(ended))
    own = total_usage(each.usage for role, each in used if role is ended.role)
    attributes: dict[str, Attribute] = {
        **_common(ended, ended.role, run),
        "gen_ai.request.model": ended.requested_model,
        **({"gen_ai.response.model": ended.resolved_model} if ended.resolved_model else {}),
        **({"gen_ai.conversation.id": ended.session_id} if ended.session_id else {}),
        **({} if ended.kept else _usage(own)),
        "review_advisor.ended": ended.ended,
        "review_advisor.kept": ended.kept,
        "review_advisor.blind": ended.blind,
        **({"error.type": ended.reason or ended.ended} if ended.ended != "answered" else {}),
    }
    if with_content and call.answer:
        attributes["gen_ai.output.messages"] = _messages("assistant", [call.answer], finish_reason="stop")
    advisor = [each for role, each in used if role is not ended.role]
    return Span(
        f"chat {ended.requested_model}",
        "client",
        call.began,
        max(call.began, ended.at),
        attributes,
        failed=ended.ended != "answered",
        children=tuple(_mid_flight(call, advisor, run, with_content=with_content)),
    )


def _common(call: CallEnded, role: Role, run: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.name": role.value,
        **run,
        "review_advisor.role": role.value,
        "review_advisor.surface": call.surface.value,
        "review_advisor.attempt": call.attempt,
        "review_advisor.shard": call.shard,
    }


def _usage(usage: Usage) -> dict[str, Attribute]:
    """The conventions count what came from a cache, or went into it, as input too."""
    told: dict[str, Attribute] = {
        "gen_ai.usage.input_tokens": usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    }
    return told if usage.cost_usd is None else {**told, "gen_ai.usage.cost": usage.cost_usd}


def _mid_flight(
    call: _Call, used: list[ModelUsage], run: Mapping[str, Attribute], *, with_content: bool
) -> Iterator[Span]:
    """The consults within a call: one span for each model that answered, as long as the call.

    When each began and what each used is not measured, only what all of them used. Of a reply that an earlier run of
    this review had kept, nothing was used in this one.
    """
    models = {each.model: {} if call.ended.kept else _usage(each.usage) for each in used}
    if call.notes and not models:
        models = {next((note.resolved_model for note in call.notes if note.resolved_model), ""): {}}
    for model, usage in models.items():
        attributes = {
            **_common(call.ended, Role.MID_FLIGHT, run),
            **({"gen_ai.response.model": model} if model else {}),
            **usage,
            "review_advisor.consults": len(call.notes),
        }
        if with_content and call.notes:
            asked = [note.consult.question for note in call.notes]
            told = [note.guidance.action for note in call.notes if note.guidance]
            attributes["gen_ai.input.messages"] = _messages("user", asked)
            attributes["gen_ai.output.messages"] = _messages("assistant", told, finish_reason="stop")
        yield Span(f"chat {model}".rstrip(), "client", call.began, max(call.began, call.ended.at), attributes)


def _messages(role: str, texts: Iterable[str], **more: str) -> str:
    """Messages in the conventions' JSON."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}], **more} for text in texts])
