"""How a part, a surface and a review end, as pure joins over what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from review_advisor.core.facts.shards import Unsent
from review_advisor.core.outcome.events import FileFact, PartEnded, ReviewStopped, StopReason
from review_advisor.core.outcome.outcomes import Outcome, worst
from review_advisor.core.outcome.rulings import Move, Ruling
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.roles.calls import AuthenticationFailedError, CreditExhaustedError, Lost, Stop
from review_advisor.core.roles.evidence import CheckedReport
from review_advisor.core.roles.transcript import Attempt


@dataclass(frozen=True, slots=True)
class Ending:
    """An outcome with its reasons."""

    outcome: Outcome
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartEnding:
    """How one part of one surface ended; the fields of ``PartEnded``."""

    outcome: Outcome
    because: str
    read: bool = True
    degraded: bool = False
    recovered: bool = False
    exhausted: bool = False


def unread(missing: Lost | Refused) -> PartEnding:
    """A part without an executor's report. Lost: no verdict, the review stopped. Refused by a cap: a human."""
    if isinstance(missing, Refused):
        return PartEnding(Outcome.ESCALATED, f"not reviewed: {missing.detail}", read=False)
    return PartEnding(Outcome.STOPPED, f"no verdict: {missing.detail}", read=False)


def halted(words: str) -> PartEnding:
    """A part that goes to a human without another question."""
    return PartEnding(Outcome.ESCALATED, words)


def ruled(ruling: Ruling, report: CheckedReport, attempts: Sequence[Attempt]) -> PartEnding:
    """A part that a ruling accepted or escalated."""
    if ruling.move is Move.ESCALATE:
        return PartEnding(Outcome.ESCALATED, ruling.because, degraded=ruling.degraded, exhausted=ruling.exhausted)
    approved = report.verdict == "approve"
    return PartEnding(
        Outcome.APPROVED if approved else Outcome.CHANGES_REQUESTED,
        ruling.because,
        degraded=ruling.degraded,
        recovered=approved and ruling.verdict == "APPROVE" and bool(attempts),
    )


def nothing_changed(before: CheckedReport | None, now: CheckedReport) -> str | None:
    """Why a retry is not worth a second question, or None: it changed neither verdict, findings nor evidence."""
    if before is None or before.state != now.state:
        return None
    return "the retry changed neither the verdict, nor the findings, nor the evidence"


def join_parts(parts: Sequence[PartEnded]) -> Ending:
    """A surface's outcome: the worst part. One lost part among several makes it a human's, not a stop."""
    some_read = any(part.read for part in parts)
    outcomes = [Outcome.ESCALATED if part.outcome is Outcome.STOPPED and some_read else part.outcome for part in parts]
    outcome = worst(outcomes)
    reasons = [
        part.because if len(parts) == 1 else f"part {part.shard + 1} of {len(parts)}: {part.because}"
        for part, its in zip(parts, outcomes, strict=True)
        if its is outcome
    ]
    return Ending(outcome, tuple(dict.fromkeys(reasons)))


def end_of_stop(stop: Stop, at: datetime) -> ReviewStopped:
    """The event that says why the review could not go on."""
    resume_at = stop.resume_at if isinstance(stop, CreditExhaustedError) else None
    return ReviewStopped(at=at, reason=_stop_reason(stop), detail=stop.detail, resume_at=resume_at)


def _stop_reason(stop: Stop) -> StopReason:
    if isinstance(stop, CreditExhaustedError):
        return "credit_exhausted"
    return "authentication_failed" if isinstance(stop, AuthenticationFailedError) else "interrupted"


def join_review(
    surfaces: Sequence[Ending], files: Sequence[FileFact], unsent: Sequence[Unsent], stopped: str | None
) -> Ending:
    """The review's outcome: the worst surface; a file with unread text is never approved."""
    if stopped is not None:
        return Ending(Outcome.STOPPED, (stopped,))
    if not files:
        return Ending(Outcome.APPROVED, ("the change is empty: nothing was asked",))
    endings = list(surfaces)
    if unsent:
        named = tuple(f"{gap.path} was read {gap.extent}: {gap.why}" for gap in unsent)
        endings.append(Ending(Outcome.ESCALATED, named))
    outcome = worst(ending.outcome for ending in endings)
    because = [words for ending in endings if ending.outcome is outcome for words in ending.because]
    return Ending(outcome, tuple(dict.fromkeys(because)))
