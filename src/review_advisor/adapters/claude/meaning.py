"""What a finished call means: an answer, a lost answer, or the end of the review. Pure.

The exit code alone and the result's subtype alone decide nothing, and error text is believed only when the
CLI itself says ``is_error``: a successful answer may quote any phrase of the change.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from http import HTTPStatus

from review_advisor.adapters.claude.exits import EndedBy, Exit
from review_advisor.adapters.claude.stream import ApiFailure, ResultEvent, StreamSummary
from review_advisor.core.roles.calls import (
    Answered,
    AuthenticationFailedError,
    ConsultRecord,
    CreditExhaustedError,
    Lost,
    LostReason,
    Receipt,
)

_AUTHENTICATION_CLASSES = frozenset(
    {
        "authentication_failed",
        "oauth_org_not_allowed",
        "account_on_hold",
        "verification_required",
        "cloud_credential_error",
    }
)
_LOST_BY_CLASS = {
    "rate_limit": LostReason.RATE_LIMITED,
    "model_not_found": LostReason.MODEL_NOT_FOUND,
    "max_output_tokens": LostReason.TRUNCATED,
    "overloaded": LostReason.SERVER_ERROR,
    "server_error": LostReason.SERVER_ERROR,
    "invalid_request": LostReason.SERVER_ERROR,
    "unknown": LostReason.SERVER_ERROR,
}
_REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_LOST_BY_STATUS: dict[int, LostReason] = {
    HTTPStatus.NOT_FOUND: LostReason.MODEL_NOT_FOUND,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: LostReason.TOO_LONG,
    HTTPStatus.TOO_MANY_REQUESTS: LostReason.RATE_LIMITED,
}
_LOST_BY_TERMINAL = {
    "prompt_too_long": LostReason.TOO_LONG,
    "max_turns": LostReason.CALL_BUDGET,
    "budget_exhausted": LostReason.CALL_BUDGET,
    "structured_output_retry_exhausted": LostReason.INVALID_ANSWER,
}
_LOST_BY_SUBTYPE = {
    "error_max_turns": LostReason.CALL_BUDGET,
    "error_max_budget_usd": LostReason.CALL_BUDGET,
    "error_max_structured_output_retries": LostReason.INVALID_ANSWER,
}
_LIMIT_LIFTS_AT = re.compile(r"limit reached\s*\|\s*(\d{10})\b", re.IGNORECASE)
_SENTENCE = 300
_ENDINGS = {
    EndedBy.DEADLINE: (LostReason.TIMEOUT, "The call did not finish within its time."),
    EndedBy.OBSERVER: (LostReason.UNGUARDED_CONSULT, "A consult started that the consult hook had not let through."),
    EndedBy.OVERFLOW: (LostReason.CRASH, "The CLI wrote more output than one call may."),
    EndedBy.REQUEST: (LostReason.CRASH, "The call was ended because the review could not go on."),
}


def meaning(
    summary: StreamSummary,
    exit_: Exit,
    consults: tuple[ConsultRecord, ...] = (),
    offered: Collection[str] | None = None,
) -> Answered | Lost:
    """The one reading of a finished call. ``offered`` are the tools it was given: no answer counts that had others.

    Raises ``CreditExhaustedError`` or ``AuthenticationFailedError`` when the account cannot be used, also if
    it was only a consulted advisor that found out (the CLI reports success then).
    """
    receipt = _receipt(summary, exit_, consults)
    _stop_if_account_unusable(summary, receipt)
    if exit_.ended_by is not None:
        reason, detail = _ENDINGS[exit_.ended_by]
        return Lost(reason, detail, receipt)
    if offered is not None and not set(summary.tools) <= set(offered):
        extra = ", ".join(sorted(set(summary.tools) - set(offered)))
        return Lost(
            LostReason.UNEXPECTED_TOOLS, f"The CLI gave the model tools that were not asked for: {extra}.", receipt
        )
    if summary.result is None:
        return _without_result(exit_, receipt)
    if summary.result.is_error:
        return _lost(summary, summary.result, receipt)
    if summary.model_swapped:
        return Lost(LostReason.MODEL_REFUSED, "Another model answered than the one that was asked.", receipt)
    if summary.result.structured_output is None:
        return Lost(LostReason.NO_STRUCTURED_OUTPUT, "The reply carried no structured answer.", receipt)
    return Answered(summary.result.structured_output, receipt)


def _receipt(summary: StreamSummary, exit_: Exit, consults: tuple[ConsultRecord, ...]) -> Receipt:
    return Receipt(
        usage=summary.usage,
        by_model=summary.by_model,
        session_id=summary.session_id,
        resolved_model=summary.resolved_model,
        duration_seconds=exit_.seconds,
        consults=consults,
        tool_failures=summary.tool_failures,
    )


def _stop_if_account_unusable(summary: StreamSummary, receipt: Receipt) -> None:
    for failure in summary.consult_failures:
        if _is_billing(failure):
            raise CreditExhaustedError("The account's credit ran out during a consult.", receipt)
        if _is_authentication(failure):
            raise AuthenticationFailedError("The model credential was refused during a consult.", receipt)
    result = summary.result
    if result is None or not result.is_error:
        return
    failure = _main_failure(summary, result)
    said = _sentence(result.text)
    if _is_billing(failure):
        raise CreditExhaustedError(f"The account has no credit. The CLI said: {said}", receipt, _lifts_at(result.text))
    if _is_authentication(failure) or _is_logged_out(failure, result):
        raise AuthenticationFailedError(f"The model credential was refused. The CLI said: {said}", receipt)
    if _is_rate_limit(failure) and (summary.retries_since_answer == 0 or _lifts_at(result.text)):
        detail = f"The account's limit will not lift soon. The CLI said: {said}"
        raise CreditExhaustedError(detail, receipt, _lifts_at(result.text))


def _main_failure(summary: StreamSummary, result: ResultEvent) -> ApiFailure:
    seen = summary.failure or ApiFailure("")
    return ApiFailure(seen.error_class, seen.error_type, result.api_error_status or seen.status)


def _is_billing(failure: ApiFailure) -> bool:
    # A 402 is classed "unknown" by the CLI; only its status and the API's own type tell.
    return "billing_error" in (failure.error_class, failure.error_type) or failure.status == HTTPStatus.PAYMENT_REQUIRED


def _is_authentication(failure: ApiFailure) -> bool:
    return failure.error_class in _AUTHENTICATION_CLASSES or failure.status in _REFUSED


def _is_rate_limit(failure: ApiFailure) -> bool:
    return failure.error_class == "rate_limit" or failure.status == HTTPStatus.TOO_MANY_REQUESTS


def _is_logged_out(failure: ApiFailure, result: ResultEvent) -> bool:
    return not failure.error_class and failure.status is None and result.text.startswith("Not logged in")


def _lifts_at(text: str) -> datetime | None:
    found = _LIMIT_LIFTS_AT.search(text)
    return datetime.fromtimestamp(int(found.group(1)), UTC) if found else None


def _without_result(exit_: Exit, receipt: Receipt) -> Lost:
    if exit_.code == 0:
        return Lost(LostReason.TRUNCATED, "The CLI's output ended without a result.", receipt)
    said = _sentence(exit_.stderr_tail.strip().rpartition("\n")[2])
    how = f"was killed by signal {-exit_.code}" if exit_.code < 0 else f"ended with exit code {exit_.code}"
    return Lost(LostReason.CRASH, f"The CLI {how} before its result" + (f": {said}" if said else "."), receipt)


def _lost(summary: StreamSummary, result: ResultEvent, receipt: Receipt) -> Lost:
    failure = _main_failure(summary, result)
    said = _sentence(result.text) or result.subtype or "an error without words"
    reason = (
        _LOST_BY_TERMINAL.get(result.terminal_reason)
        or _LOST_BY_SUBTYPE.get(result.subtype)
        or (LostReason.MODEL_REFUSED if result.stop_reason == "refusal" or summary.model_swapped else None)
        or _LOST_BY_STATUS.get(failure.status or 0)
        or _LOST_BY_CLASS.get(failure.error_class)
        or (LostReason.SERVER_ERROR if failure.status else LostReason.CRASH)
    )
    if reason is LostReason.INVALID_ANSWER:  # it is asked once more: what is said of it must not hold a model's words
        return Lost(reason, "the CLI got no answer that fits the schema", receipt)
    return Lost(reason, f"The CLI said: {said}", receipt)


def _sentence(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SENTENCE else words[: _SENTENCE - 1] + "…"
