"""One review as a trace: the review, its calls, and what the advisor used within an executor's call.

Attributes follow OpenTelemetry's semantic conventions for generative AI and version control; what they have no word
for begins with ``review_advisor.``. ``gen_ai.usage.cost``, in US dollars, is no convention: several backends read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from review_advisor.core.metrics.made_calls import MadeCall, made_calls
from review_advisor.core.outcome.cost import prompt_tokens, total_usage, used_within
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import ModelUsage, Usage
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


def review_span(document: OutcomeDocument, *, with_content: bool = False) -> Span:
    """The whole review as one span with its calls as children.

    ``with_content`` adds what models answered, and what executors asked the advisor, as the document has it: without
    the harness's secrets. Prompts are no part of a document, so they are never in it.
    """
    run: dict[str, Attribute] = {"review_advisor.run_id": document.run_id}
    calls = tuple(_call_span(call, run, with_content=with_content) for call in made_calls(document.events))
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


def _call_span(call: MadeCall, run: Mapping[str, Attribute], *, with_content: bool) -> Span:
    ended = call.ended
    used = tuple(used_within(ended))
    own = total_usage(each.usage for each in used if each.role is ended.role)
    attributes: dict[str, Attribute] = {
        **_common(ended, ended.role, ended.advisor, run),
        **_numbers(ended),
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
    advisor = [ModelUsage(each.model, each.usage) for each in used if each.role is not ended.role]
    return Span(
        _name(ended, ended.role, ended.requested_model),
        "client",
        call.began,
        max(call.began, ended.at),
        attributes,
        failed=ended.ended != "answered",
        children=tuple(_mid_flight(call, advisor, run, with_content=with_content)),
    )


def _operation(call: CallEnded) -> str:
    """A model that uses tools until it has its answer is an agent; one that only answers is a chat."""
    return "invoke_agent" if call.tools else "chat"


def _name(call: CallEnded, role: Role, model: str) -> str:
    """As the conventions name a span: an agent by its name, a chat by its model."""
    return f"{_operation(call)} {role.value if call.tools else model}".rstrip()


def _numbers(call: CallEnded) -> dict[str, Attribute]:
    """Which call of the review it is; nothing where calls had no numbers."""
    told = {"review_advisor.call": call.number, "review_advisor.asks_again": call.asks_again}
    return {key: value for key, value in told.items() if value}


def _common(call: CallEnded, role: Role, advisor: str, run: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {
        "gen_ai.operation.name": _operation(call),
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.name": advisor or role.value,
        **run,
        "review_advisor.role": role.value,
        "review_advisor.surface": call.surface.value,
        "review_advisor.attempt": call.attempt,
        "review_advisor.shard": call.shard,
    }


def _usage(usage: Usage) -> dict[str, Attribute]:
    """The conventions count what came from a cache, or went into it, as input too.

    A call that was killed reports nothing: what is not known is left out, for 0 would be a figure.
    """
    if usage == Usage():
        return {}
    told: dict[str, Attribute] = {
        "gen_ai.usage.input_tokens": prompt_tokens(usage),
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    }
    return told if usage.cost_usd is None else {**told, "gen_ai.usage.cost": usage.cost_usd}


def _mid_flight(
    call: MadeCall, used: list[ModelUsage], run: Mapping[str, Attribute], *, with_content: bool
) -> Iterator[Span]:
    """The consults within a call: one span for each model that answered, as long as the call.

    When each began is not known, and what each used only sometimes: the usage is that of all of them. Of a reply that
    an earlier run of this review had kept, nothing was used in this one.
    """
    notes = [asked.note for asked in call.consults if asked.note.asked]
    models = {each.model: {} if call.ended.kept else _usage(each.usage) for each in used}
    if notes and not models:
        models = {next((note.resolved_model for note in notes if note.resolved_model), ""): {}}
    for model, usage in models.items():
        attributes = {
            **_common(call.ended, Role.MID_FLIGHT, next((each.advisor for each in call.consults), ""), run),
            **({"gen_ai.response.model": model} if model else {}),
            **usage,
            "review_advisor.consults": len(notes),
            **_took(notes),
        }
        if with_content and notes:
            asked = [note.consult.question for note in notes]
            told = [note.guidance.action for note in notes if note.guidance]
            attributes["gen_ai.input.messages"] = _messages("user", asked)
            attributes["gen_ai.output.messages"] = _messages("assistant", told, finish_reason="stop")
        name, ended = _name(call.ended, Role.MID_FLIGHT, model), max(call.began, call.ended.at)
        yield Span(name, "client", call.began, ended, attributes)


def _took(notes: Iterable[ConsultNote]) -> dict[str, Attribute]:
    """How long the consults took together; nothing where the CLI did not say it of each."""
    times = [note.duration_ms for note in notes]
    known = [time for time in times if time is not None]
    return {"review_advisor.consults.duration_ms": sum(known)} if known and len(known) == len(times) else {}


def _messages(role: str, texts: Iterable[str], **more: str) -> str:
    """Messages in the conventions' JSON."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}], **more} for text in texts])
