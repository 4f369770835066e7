"""The events that the CLI hands to the consult hook, read into our values. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from review_advisor.adapters.claude.fields import list_of, text_of
from review_advisor.core.roles.calls import ConsultReply
from review_advisor.core.safety.legible import legible, read_json

_LARGEST = 10**12


@dataclass(frozen=True, slots=True)
class ConsultAsked:
    """An executor is about to use the Agent tool. ``wanted`` is the subagent that it asks for."""

    tool_use_id: str
    question: str
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class ConsultOver:
    """A use of the Agent tool has come back."""

    tool_use_id: str
    reply: ConsultReply


class _Event(BaseModel):
    hook_event_name: Literal["PreToolUse", "PostToolUse", "PostToolUseFailure"]
    tool_use_id: str
    tool_input: dict[str, Any] = {}
    tool_response: Any = None
    error: Any = None


def read_event(said: bytes) -> ConsultAsked | ConsultOver:
    """What the hook was handed. Raises ``ValueError`` for anything that is no event of a consult."""
    event = _Event.model_validate(legible(read_json(said)))
    match event.hook_event_name:
        case "PreToolUse":
            asked = event.tool_input
            return ConsultAsked(event.tool_use_id, str(asked.get("prompt", "")), str(asked.get("subagent_type", "")))
        case "PostToolUse":
            return ConsultOver(event.tool_use_id, _reply(event.tool_response))
        case "PostToolUseFailure":
            return ConsultOver(event.tool_use_id, ConsultReply(False, reason=str(event.error or "the consult failed")))


def _reply(response: object) -> ConsultReply:
    answer = response if isinstance(response, dict) else {}
    reply = _said(answer)
    answered = answer.get("status") == "completed" and bool(reply.strip())
    return ConsultReply(
        answered,
        reply,
        reason="" if answered else f"the advisor gave no answer ({answer.get('status', 'no status')})",
        resolved_model=text_of(answer, "resolvedModel"),
        tokens=_tokens(answer),
        duration_ms=whole_number(answer.get("totalDurationMs")),
    )


def _said(answer: dict[str, Any]) -> str:
    """The advisor's own words. The CLI sets notes of its own before and after them, and says how many."""
    every = list_of(answer, "content")
    before, after = (whole_number(answer.get(name)) or 0 for name in ("harnessNoteCount", "harnessTailCount"))
    its_own = every[before : max(before, len(every) - after)]
    return "\n".join(str(block["text"]) for block in its_own if isinstance(block, dict) and "text" in block)


def _tokens(answer: dict[str, Any]) -> int | None:
    """What the advisor used, if it used no tool: otherwise the CLI counts the last of its requests alone."""
    return whole_number(answer.get("totalTokens")) if whole_number(answer.get("totalToolUseCount")) == 0 else None


def whole_number(value: object) -> int | None:
    """A count that can be one: None for anything that is no whole number, below zero, or beyond all measure."""
    return value if type(value) is int and 0 <= value <= _LARGEST else None
