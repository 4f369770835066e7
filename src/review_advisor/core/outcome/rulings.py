"""What a post-verify answer means: ADR-0059's two tables, and nobody else's business.

``rule`` covers both: what a verdict means under an authority and a budget, and what a lost, refused or
switched-off post-verify means. Every ruling carries its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, assert_never

from review_advisor.core.answers.answers import PostVerifyResult
from review_advisor.core.policy.budgets import REJECTION_RETRIES, Refused
from review_advisor.core.policy.policy import Policy, SurfacePolicy
from review_advisor.core.policy.surfaces import Authority
from review_advisor.core.roles.calls import Cause, Lost
from review_advisor.core.roles.transcript import Attempt

Verdict = Literal["approve", "reject"]
SILENCED = ", and the change itself may be the cause"
"""Said of a loss that no outage explains."""


class Move(StrEnum):
    """What happens next."""

    ACCEPT = "accept"
    RETRY = "retry"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Disabled:
    """Post-verify was switched off: nothing was asked."""

    by: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a surface stands when a post-verify answer comes in."""

    executor: Verdict
    authority: Authority
    guarded: bool
    fail_as_veto: bool
    retry_budget: int
    retries_used: int
    rejection_retries_used: int


def standing(policy: Policy, row: SurfacePolicy, verdict: Verdict, attempts: Sequence[Attempt]) -> Standing:
    """Where a surface stands when a judgement of ``verdict`` comes in, after ``attempts`` that were handed back."""
    return Standing(
        executor=verdict,
        authority=row.authority,
        guarded=policy.guard.holds,
        fail_as_veto=policy.fail_as_veto,
        retry_budget=row.retry_budget,
        retries_used=len(attempts),
        rejection_retries_used=sum(attempt.executor_verdict == "reject" for attempt in attempts),
    )


@dataclass(frozen=True, slots=True)
class Ruling:
    """The move and its reason. ``degraded``: accepted without the judgement that was due.

    ``exhausted``: escalated by a veto that no retry is left to answer, on a surface that has any. ``verdict``: the
    post-verify verdict that counts after an advisory downgrade, None when there was none.
    """

    move: Move
    because: str
    degraded: bool = False
    exhausted: bool = False
    verdict: Literal["APPROVE", "VETO"] | None = None


def rule(standing: Standing, answer: PostVerifyResult | Lost | Refused | Disabled, fallback: str = "") -> Ruling:
    """What ``answer`` means.

    ``fallback`` is the model that judged in the place of the advisor's own; empty if that judged itself. A fallback's
    veto counts like any other. Its approval is no judgement of the advisor: it means what an outage means.
    """
    match answer:
        case PostVerifyResult() if fallback and answer.verdict == "APPROVE":
            what = f"post-verify was lost to an outage (the fallback model {fallback} confirms the verdict)"
            return _without_a_judgement(standing, what)
        case PostVerifyResult():
            ruling = _on_verdict(standing, answer)
            return (
                replace(ruling, because=f"{ruling.because}, by the fallback model {fallback}") if fallback else ruling
            )
        case Lost():
            return _on_lost(standing, answer)
        case Refused():
            return _on_refused(standing, answer)
        case Disabled():
            return _on_disabled(standing, answer)
        case _:
            assert_never(answer)


def _on_verdict(standing: Standing, result: PostVerifyResult) -> Ruling:
    if result.verdict == "APPROVE":
        kept = "the verdict is confirmed" if standing.executor == "approve" else "the rejection is confirmed"
        return Ruling(Move.ACCEPT, kept, verdict="APPROVE")
    if standing.authority is Authority.ADVISORY:
        return Ruling(Move.ACCEPT, "vetoed, but this surface's advisor is advisory", verdict="APPROVE")
    if not result.reasoning and not result.disagreements:
        return Ruling(Move.ESCALATE, "vetoed without a reason that could be handed back", verdict="VETO")
    if standing.executor == "reject":
        return _on_vetoed_rejection(standing)
    if standing.retries_used < standing.retry_budget:
        left = f"retry {standing.retries_used + 1} of {standing.retry_budget}"
        return Ruling(Move.RETRY, f"vetoed: {left}", verdict="VETO")
    if standing.retry_budget == 0:
        return Ruling(Move.ESCALATE, "vetoed on a one-shot surface", verdict="VETO")
    spent = f"vetoed after {standing.retries_used} of {standing.retry_budget} retries"
    return Ruling(Move.ESCALATE, spent, exhausted=True, verdict="VETO")


def _on_vetoed_rejection(standing: Standing) -> Ruling:
    may_retry = standing.rejection_retries_used < REJECTION_RETRIES and standing.retries_used < standing.retry_budget
    if may_retry:
        return Ruling(Move.RETRY, "the advisor calls the rejection wrong: one retry", verdict="VETO")
    return Ruling(
        Move.ESCALATE,
        "the advisor calls the rejection wrong: the advisor alone never overturns a no",
        exhausted=standing.retry_budget > 0,
        verdict="VETO",
    )


def _on_lost(standing: Standing, lost: Lost) -> Ruling:
    what = f"post-verify was lost ({lost.reason.value})"
    if lost.cause is Cause.CONTENT and standing.authority is Authority.VETO and not standing.guarded:
        return Ruling(Move.ESCALATE, what + SILENCED, degraded=True)
    return _without_a_judgement(standing, what)


def _without_a_judgement(standing: Standing, what: str) -> Ruling:
    """The advisor's judgement is missing, and the change is not the cause, or the guard holds."""
    if standing.guarded:
        return Ruling(Move.ESCALATE, f"{what} while the self-modification guard holds", degraded=True)
    if standing.fail_as_veto and standing.authority is Authority.VETO:
        return Ruling(Move.ESCALATE, f"{what} and counts as a veto", degraded=True)
    if standing.retries_used and standing.executor == "approve" and standing.authority is Authority.VETO:
        return Ruling(Move.ESCALATE, f"{what} after a veto that nobody took back", degraded=True)
    return Ruling(Move.ACCEPT, f"{what}: the executor's verdict stands, unverified", degraded=True)


def _on_refused(standing: Standing, refused: Refused) -> Ruling:
    what = f"post-verify was refused ({refused.detail})"
    if standing.authority is Authority.VETO:
        return Ruling(Move.ESCALATE, what, degraded=True)
    return Ruling(Move.ACCEPT, f"{what}: this surface is advisory", degraded=True)


def _on_disabled(standing: Standing, disabled: Disabled) -> Ruling:
    what = f"post-verify is switched off by {disabled.by}"
    if standing.guarded:
        return Ruling(Move.ESCALATE, f"{what} while the self-modification guard holds")
    return Ruling(Move.ACCEPT, f"{what}: the executor's verdict stands, unverified")
