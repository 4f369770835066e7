"""What GitHub's refusals mean: one table from statuses and GraphQL's error types to the port's errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError

from review_advisor.adapters.github.graph_answers import GraphProblem
from review_advisor.adapters.github.rest_answers import Refusal
from review_advisor.core.safety.terminal import one_line
from review_advisor.ports.forge import (
    ForgeDenied,
    ForgeError,
    ForgeMissing,
    ForgeRejected,
    ForgeUnavailable,
    ReviewPending,
)

NO_COMMIT = "No commit found"
"""How GitHub tells that it lacks the commit, not the file."""
NO_LABEL = "Label does not exist"
"""How GitHub tells that a label is not on the pull request, which itself is there."""
ONE_PENDING = "only have one pending review"
"""How GitHub tells that the account has a pending review on the pull request."""
_MOST_REASON = 200
_SECONDARY_SECONDS = 60
"""GitHub: where a secondary limit tells no time, wait at least a minute."""
_MULTIPLE_CHOICES, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _TIMEOUT, _GONE = 300, 401, 403, 404, 408, 410
_TOO_MANY, _SERVER_ERROR = 429, 500
_LIMIT_WORDS = ("rate limit", "abuse detection")


@dataclass(frozen=True, slots=True)
class Response:
    """One answer of GitHub's, unread. Names of ``headers`` are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str


class Unanswered(ForgeUnavailable):
    """A read may be tried again."""


def failure(doing: str, answer: Response, now: datetime) -> ForgeError | None:
    """What an answer's status says against it; None if it says nothing."""
    status = answer.status
    if status < _MULTIPLE_CHOICES:
        return None
    refusal = _refusal(answer.text)
    if _is_limit(answer, refusal.message):
        wait = _told_wait(answer.headers, now)
        return Unanswered(
            f"GitHub did not {doing}: its rate limit is reached, try again in {wait:.0f} seconds.", max(wait, 0)
        )
    if status == _TIMEOUT or status >= _SERVER_ERROR:
        return Unanswered(f"GitHub did not {doing}: it answered with status {status}.")
    if status in {_UNAUTHORIZED, _FORBIDDEN}:
        return ForgeDenied(f"The token may not {doing}: GitHub answers {_reason(refusal)!r}.")
    if status in {_NOT_FOUND, _GONE}:
        return ForgeMissing(f"GitHub could not {doing}: it is not there, or not for this token ({_reason(refusal)}).")
    kind = ReviewPending if ONE_PENDING in _reason(refusal) else ForgeRejected
    return kind(f"GitHub refused to {doing}: {_reason(refusal)}.")


def graph_failure(doing: str, problems: tuple[GraphProblem, ...]) -> ForgeError:
    """What GraphQL's errors come to; the first one decides."""
    first = problems[0]
    reason = _short(first.message)
    match first.type:
        case "NOT_FOUND":
            return ForgeMissing(f"GitHub could not {doing}: it is not there, or not for this token ({reason}).")
        case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
            return ForgeDenied(f"The token may not {doing}: GitHub answers {reason!r}.")
        case "RATE_LIMITED":
            return Unanswered(f"GitHub did not {doing}: its rate limit is reached.", _SECONDARY_SECONDS)
        case None if not first.extensions:
            return Unanswered(f"GitHub did not {doing}: {reason}.")
        case _:
            return ForgeRejected(f"GitHub refused to {doing}: {reason}.")


def unreadable(doing: str, error: ValidationError, *, of_graph: bool = False) -> ForgeUnavailable:
    """An answer that is no JSON, or that lacks what GitHub documents.

    Worth another try is the first, and in GraphQL a null: it stands for what GitHub fails to show this time.
    """
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return Unanswered(f"GitHub did not {doing} in a way that can be read: its answer is no JSON.")
    where = ".".join(map(str, first["loc"]))
    kind = Unanswered if of_graph and first["input"] is None else ForgeUnavailable
    return kind(f"GitHub's answer to a request to {doing} cannot be used: {_short(where)} is missing or wrong.")


def _refusal(text: str) -> Refusal:
    try:
        return Refusal.model_validate_json(text)
    except ValidationError:
        return Refusal()


def _is_limit(answer: Response, message: str) -> bool:
    if answer.status == _TOO_MANY:
        return True
    return answer.status == _FORBIDDEN and (
        "retry-after" in answer.headers
        or answer.headers.get("x-ratelimit-remaining") == "0"
        or any(words in message.lower() for words in _LIMIT_WORDS)
    )


def _told_wait(headers: Mapping[str, str], now: datetime) -> float:
    told = _seconds(headers.get("retry-after", ""))
    if told is not None:
        return told
    reset = _seconds(headers.get("x-ratelimit-reset", ""))
    if reset is not None and headers.get("x-ratelimit-remaining") == "0":
        return max(reset - now.timestamp(), 0) + 1
    return _SECONDARY_SECONDS


def _seconds(value: str) -> float | None:
    digits = value.partition(".")[0]
    return float(digits) if digits.isdecimal() and len(digits) <= len("9999999999") else None


def _reason(refusal: Refusal) -> str:
    details = [each if isinstance(each, str) else each.words() for each in refusal.errors]
    return _short("; ".join(filter(None, [refusal.message, *details]))) or "no reason given"


def _short(text: str) -> str:
    line = one_line(text).rstrip(".")
    return line if len(line) <= _MOST_REASON else f"{line[:_MOST_REASON]}..."
