"""What a finished call means: an answer, a lost answer, or the end of the review. Pure.

The exit code alone and the result's subtype alone decide nothing, and error text is believed only when the
CLI itself says ``is_error``: a successful answer may quote any phrase of the change.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus

from review_advisor.adapters.claude.stream import ApiFailure, ResultEvent, StreamSummary
from review_advisor.core.roles.calls import (
    Answered,
    AuthenticationFailedError,
    Cause,
    ConsultRecord,
    CreditExhaustedError,
    Lost,
    LostReason,
    ModelForbiddenError,
    ModelUnknownError,
    Receipt,
)
from review_advisor.lifetime.bounded_children import EndedBy, Exit

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
    "max_output_tokens": LostReason.OUTPUT_LIMIT,
    "overloaded": LostReason.SERVER_ERROR,
    "server_error": LostReason.SERVER_ERROR,
}
_LOST_BY_STATUS: dict[int, LostReason] = {
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
_SILENT = (LostReason.SILENT, "The call's time was over, and nothing had been heard for long.")
_UNREADABLE = "a line of the CLI's output could not be read, so nobody knows what was said in it"
_ENDINGS = {
    EndedBy.DEADLINE: (LostReason.TIMEOUT, "The call did not finish within its time."),
    EndedBy.OBSERVER: (LostReason.UNGUARDED_CONSULT, "A consult started that the consult hook had not let through."),
    EndedBy.OVERFLOW: (LostReason.OUTPUT_LIMIT, "The CLI wrote more output than one call may."),
    EndedBy.REQUEST: (LostReason.CRASH, "The call was ended because the review could not go on."),
}


def meaning(
    summary: StreamSummary,
    exit_: Exit,
    consults: tuple[ConsultRecord, ...] = (),
    offered: Collection[str] | None = None,
    *,
    quiet: bool = False,
) -> Answered | Lost:
    """The one reading of a finished call. ``offered`` are the tools it was given: no answer counts that had others.

    ``quiet``: nothing had come from the model or its tools for long when the call ended. Whatever structured answers
    the call gave are handed on with the result, also if it is lost.

    Raises ``CreditExhaustedError``, ``AuthenticationFailedError`` or ``ModelUnknownError`` when account or model cannot
    be used, also if it was only a consulted advisor that found out (the CLI reports success then).
    """
    receipt = _receipt(summary, exit_, consults)
    _stop_if_unusable(summary, receipt)
    outcome = _outcome(summary, exit_, offered, receipt, quiet=quiet)
    if isinstance(outcome, Lost):
        outcome = _of_content(outcome, summary)
    return replace(outcome, said=summary.answers)


def _of_content(lost: Lost, summary: StreamSummary) -> Lost:
    """The loss, unless it looks like an outage and the change may have caused it all the same."""
    if lost.cause is not Cause.CONTENT and summary.unreadable:
        return replace(lost, reason=LostReason.INVALID_ANSWER, detail=_UNREADABLE)
    if summary.tool_open and lost.reason in (LostReason.CRASH, LostReason.TRUNCATED):
        return replace(lost, reason=LostReason.CRASHED_AT_WORK)
    return lost


def _outcome(
    summary: StreamSummary, exit_: Exit, offered: Collection[str] | None, receipt: Receipt, *, quiet: bool
) -> Answered | Lost:
    if exit_.ended_by is not None:
        silent = exit_.ended_by is EndedBy.DEADLINE and quiet and not summary.busy
        reason, detail = _SILENT if silent else _ENDINGS[exit_.ended_by]
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
    return _answered(summary, summary.result, receipt)


def _answered(summary: StreamSummary, result: ResultEvent, receipt: Receipt) -> Answered | Lost:
    if summary.model_swapped:
        return Lost(LostReason.MODEL_REFUSED, "Another model answered than the one that was asked.", receipt)
    if summary.impossible_usage:
        return Lost(LostReason.IMPOSSIBLE_USAGE, "The CLI says that the call used what no call can use.", receipt)
    if result.structured_output is None:
        return Lost(LostReason.NO_STRUCTURED_OUTPUT, "The reply carried no structured answer.", receipt)
    return Answered(result.structured_output, receipt)


def _receipt(summary: StreamSummary, exit_: Exit, consults: tuple[ConsultRecord, ...]) -> Receipt:
    return Receipt(
        usage=summary.usage,
        by_model=summary.by_model,
        own=summary.own_usage,
        session_id=summary.session_id,
        resolved_model=summary.resolved_model,
        duration_seconds=exit_.seconds,
        consults=consults,
        tool_failures=summary.tool_failures,
        opened=summary.opened,
        turns=summary.turns,
        failures_unadvised=summary.failures_unadvised,
        readings_unadvised=summary.readings_unadvised,
    )


def _stop_if_unusable(summary: StreamSummary, receipt: Receipt) -> None:
    for failure in summary.consult_failures:
        _stop_on(failure, receipt, in_consult=True)
    result = summary.result
    if result is None or not result.is_error:
        return
    failure = _main_failure(summary, result)
    _stop_on(failure, receipt)
    if _is_logged_out(failure, result):
        raise AuthenticationFailedError(_said("The model credential was refused.", failure), receipt)


def _stop_on(failure: ApiFailure, receipt: Receipt, *, in_consult: bool = False) -> None:
    """Raise the Stop that a failure is, if it is one: account, credential or model cannot be used."""
    where = " during a consult" if in_consult else ""
    if _is_billing(failure):
        said = _said(f"The account has no credit{where}.", failure)
        raise CreditExhaustedError(said, receipt, _lifts_at(failure.text))
    if failure.status == HTTPStatus.FORBIDDEN or failure.error_type == "permission_error":
        said = _said(f"The model credential was refused{where}, or may not use this model.", failure)
        raise ModelForbiddenError(said, receipt, in_consult=in_consult)
    if failure.error_class in _AUTHENTICATION_CLASSES or failure.status == HTTPStatus.UNAUTHORIZED:
        raise AuthenticationFailedError(_said(f"The model credential was refused{where}.", failure), receipt)
    if failure.error_class == "model_not_found" or failure.status == HTTPStatus.NOT_FOUND:
        said = _said(f"The model does not exist, or not for this credential{where}.", failure)
        raise ModelUnknownError(said, receipt, in_consult=in_consult)
    if _is_rate_limit(failure) and (not failure.retried or _lifts_at(failure.text)):
        said = _said(f"The account's limit will not lift soon{where}.", failure)
        raise CreditExhaustedError(said, receipt, _lifts_at(failure.text))


def _said(what: str, failure: ApiFailure) -> str:
    said = _sentence(failure.text)
    return f"{what} The CLI said: {said}" if said else what


def _main_failure(summary: StreamSummary, result: ResultEvent) -> ApiFailure:
    seen = summary.failure or ApiFailure("")
    # A limit of a long window refuses the request at once; one that ends a message that had begun is short.
    retried = summary.retries_since_answer > 0 or summary.begun_since_answer
    return replace(seen, status=result.api_error_status or seen.status, retried=retried, text=result.text)


def _is_billing(failure: ApiFailure) -> bool:
    # A 402 is classed "unknown" by the CLI; only its status and the API's own type tell.
    return "billing_error" in (failure.error_class, failure.error_type) or failure.status == HTTPStatus.PAYMENT_REQUIRED


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
        or _by_status(failure)
    )
    if reason is LostReason.INVALID_ANSWER:  # it is asked once more: what is said of it must not hold a model's words
        return Lost(reason, "the CLI got no answer that fits the schema", receipt)
    return Lost(reason, f"The CLI said: {said}", receipt)


def _by_status(failure: ApiFailure) -> LostReason:
    """A failure without a class that tells: the other side's, the request's, or none that anybody named."""
    if failure.status is None and not failure.error_class:
        return LostReason.CRASH
    server = failure.status is not None and failure.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return LostReason.SERVER_ERROR if server else LostReason.BAD_REQUEST


def _sentence(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SENTENCE else words[: _SENTENCE - 1] + "…"
