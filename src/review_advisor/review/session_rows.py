"""`advisor_session.jsonl`: one row for each call."""

from __future__ import annotations

from typing import Any

from review_advisor.review.document import OutcomeDocument, ends_of_calls
from review_advisor.review.events import BlindJudged, CallEnded, MemberReviewed, Reported, Verified, Voted


def session_rows(document: OutcomeDocument) -> list[dict[str, Any]]:
    """One JSON object a call, in order."""
    verdicts = _verdicts(document)
    return [
        _row(document, event, verdicts.get(index))
        for index, event in enumerate(document.events)
        if isinstance(event, CallEnded)
    ]


def _row(document: OutcomeDocument, call: CallEnded, verdict: str | None) -> dict[str, Any]:
    authority = {row.surface: row.authority.value for row in document.policy.surfaces}
    return {
        "ts": call.at.isoformat(),
        "run_id": document.run_id,
        "label": document.label,
        "surface": call.surface.value,
        "role": call.role.value,
        "advisor": call.advisor,
        "call": call.number,
        "asks_again": call.asks_again,
        "attempt": call.attempt,
        "shard": call.shard,
        "authority": authority[call.surface],
        "model": call.requested_model,
        "resolved_model": call.resolved_model,
        "session_id": call.session_id,
        "ended": call.ended,
        "error": call.reason or None,
        "verdict": verdict,
        "turns": call.turns,
        "duration_ms": round(call.duration_seconds * 1000),
        "prompt_chars": call.prompt_characters,
        "prompt_sha256": call.prompt_sha256,
        "tokens_in": call.usage.input_tokens,
        "tokens_cache_read": call.usage.cache_read_tokens,
        "tokens_cache_written": call.usage.cache_write_tokens,
        "tokens_out": call.usage.output_tokens,
        "cost_usd": call.usage.cost_usd,
    }


def _verdicts(document: OutcomeDocument) -> dict[int, str]:
    """What the executor and its judge said, by the index of the call's end."""
    found: dict[int, str] = {}
    for index, end in ends_of_calls(document.events).items():
        event = document.events[index]
        if isinstance(event, Voted):
            found[end] = event.vote.verdict
        elif isinstance(event, Reported | BlindJudged | MemberReviewed) and event.report is not None:
            found[end] = event.report.verdict
        elif isinstance(event, Verified):
            found[end] = event.judged.result.verdict
    return found
