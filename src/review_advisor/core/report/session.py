"""``advisor_session.jsonl``: one row a call, with what it decided; a reading of the events."""

from __future__ import annotations

from typing import Any

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, Reported, Step, Verified
from review_advisor.core.policy.surfaces import Role


def session_rows(document: OutcomeDocument) -> list[dict[str, Any]]:
    """One JSON object a call, in order."""
    return [_row(document, event) for event in document.events if isinstance(event, CallEnded)]


def _row(document: OutcomeDocument, call: CallEnded) -> dict[str, Any]:
    authority = {row.surface: row.authority.value for row in document.policy.surfaces}
    return {
        "ts": call.at.isoformat(),
        "run_id": document.run_id,
        "label": document.label,
        "surface": call.surface.value,
        "role": call.role.value,
        "attempt": call.attempt,
        "shard": call.shard,
        "authority": authority[call.surface],
        "model": call.requested_model,
        "resolved_model": call.resolved_model,
        "session_id": call.session_id,
        "ended": call.ended,
        "error": call.reason or None,
        "verdict": _verdict(document, call),
        "duration_ms": round(call.duration_seconds * 1000),
        "prompt_chars": call.prompt_characters,
        "prompt_sha256": call.prompt_sha256,
        "tokens_in": call.usage.input_tokens,
        "tokens_out": call.usage.output_tokens,
        "cost_usd": call.usage.cost_usd,
    }


def _verdict(document: OutcomeDocument, call: CallEnded) -> str | None:
    if call.ended != "answered":
        return None
    for event in document.events:
        if not isinstance(event, Step) or (event.surface, event.attempt, event.shard) != (
            call.surface,
            call.attempt,
            call.shard,
        ):
            continue
        if call.role is Role.EXECUTOR and isinstance(event, Reported) and not event.structural:
            return event.report.verdict
        if call.role is Role.POST_VERIFY and isinstance(event, Verified):
            return event.judged.result.verdict
    return None
