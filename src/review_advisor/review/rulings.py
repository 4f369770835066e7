"""What a post-verify answer means, and how results join."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, assert_never

from review_advisor.agents.answers import MemberVote, PostVerifyResult
from review_advisor.agents.calls import Cause, Lost
from review_advisor.agents.transcript import Attempt
from review_advisor.policy.budgets import REJECTION_RETRIES, Refused
from review_advisor.policy.policy import Policy, SurfacePolicy
from review_advisor.policy.surfaces import Authority
from review_advisor.review.votes import MemberAnswer, Tally, joint_result, panel_tally, panel_verdict

Verdict = Literal["approve", "reject"]


SILENCED = ", and the change itself may be the cause"
"""Said of a loss that no outage explains."""


class Move(StrEnum):
    """What happens next."""

    ACCEPT = "accept"
    RETRY = "retry"
    ESCALATE = "escalate"


_MILDEST_FIRST = tuple(Move)
"""On an approval: it stands, it may stand after another attempt, or a person decides."""


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
    """The self-modification guard holds."""
    fail_as_veto: bool
    """A judgement that is missing counts as a veto."""
    retry_budget: int
    retries_used: int
    rejection_retries_used: int
    """Those of the retries that answered a vetoed rejection."""
    turned: bool = False
    """After advice the executor approves what it had rejected."""
    advisor_alone: bool = False
    """The executor has used its consults, and the advisor's judgement alone decides."""


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
    """The move and its reason."""

    move: Move
    because: str
    degraded: bool = False
    """The judgement that was due is missing."""
    exhausted: bool = False
    """A veto escalates that no retry is left to answer, on a surface that has any."""
    verdict: Literal["APPROVE", "VETO"] | None = None
    """The post-verify verdict that counts after an advisory downgrade, None when there was none."""


def rule(standing: Standing, answer: PostVerifyResult | Lost | Refused | Disabled, fallback: str = "") -> Ruling:
    """What ``answer`` means.

    ``fallback`` is the model that judged in the place of the advisor's own; empty if that judged itself. A fallback's
    veto counts like any other. Its approval is no judgement of the advisor: it means what an outage means.
    """
    return _after_advice(standing, _ruling(standing, answer, fallback))


def _after_advice(standing: Standing, ruling: Ruling) -> Ruling:
    """Advice alone approves nothing: where it led to an approval, or stands in for one, a judgement has to follow."""
    if standing.advisor_alone and ruling.move is Move.RETRY:
        return replace(ruling, move=Move.ESCALATE, because="vetoed, and the executor has used its consults")
    unjudged = standing.executor == "approve" and ruling.move is Move.ACCEPT and ruling.verdict is None
    if unjudged and (standing.turned or standing.advisor_alone):
        why = "an approval that follows from advice needs a judgement"
        return replace(ruling, move=Move.ESCALATE, because=f"{why}: {ruling.because}")
    return ruling


def _ruling(standing: Standing, answer: PostVerifyResult | Lost | Refused | Disabled, fallback: str) -> Ruling:
    match answer:
        case PostVerifyResult() if fallback and answer.verdict == "APPROVE":
            what = f"post-verify was lost to an outage (the fallback model {fallback} confirms the verdict)"
            return _without_a_judgement(standing, what)
        case PostVerifyResult():
            ruling = _on_verdict(standing, answer)
            by = f", by the fallback model {fallback}" if fallback else ""
            return replace(ruling, because=ruling.because + by)
        case Lost():
            return _on_lost(standing, answer)
        case Refused():
            return _on_refused(standing, answer)
        case Disabled():
            return _on_disabled(standing, answer)
        case _:
            assert_never(answer)


Judged = tuple[Ruling, PostVerifyResult | None]
"""A ruling, and the judgement that it rests on if there is one."""


def rule_panel(standing: Standing, members: Sequence[MemberAnswer]) -> Judged:
    """What the answers of a panel mean, and the one judgement that they come to; None if nobody answered.

    A panel of one means what ``rule`` says. Of several a member that is missing votes against the change, and a person
    decides where the result rests on that. Members that a label or a path has added make no ruling milder.
    """
    if len(members) == 1 and not isinstance(members[0].answer, MemberVote):
        answer = members[0].answer
        alone = answer if isinstance(answer, PostVerifyResult) else None
        return rule(standing, answer, members[0].fallback), alone
    declared = [each for each in members if not each.advisor.is_added]
    if declared and len(declared) < len(members):
        return _severer(standing, _by_council(standing, members), _by_council(standing, declared))
    return _by_council(standing, members)


def _severer(standing: Standing, every: Judged, declared: Judged) -> Judged:
    """The author may have caused that members are added, by a label or a path: they make no ruling milder."""
    if standing.executor == "approve":
        milder = _MILDEST_FIRST.index(every[0].move) < _MILDEST_FIRST.index(declared[0].move)
    else:
        milder = every[0].verdict == "VETO" and declared[0].verdict != "VETO"
    if not milder:
        return every
    ruling, joint = declared
    return replace(ruling, because=f"{ruling.because}, counted without the members that a label or a path added"), joint


def _by_council(standing: Standing, members: Sequence[MemberAnswer]) -> Judged:
    counted = panel_tally(standing.executor, members)
    joint = joint_result(standing.executor, members, counted)
    if joint is None:
        return Ruling(Move.ESCALATE, "no member of the council answered", degraded=True), None
    ruling = _after_advice(standing, _on_panel(standing, members, counted, joint))
    return replace(ruling, because=f"{ruling.because} ({counted.why})"), joint


def _on_panel(standing: Standing, members: Sequence[MemberAnswer], counted: Tally, joint: PostVerifyResult) -> Ruling:
    missing = f"the judgement of {' and '.join(counted.missing)} is missing"
    holds = standing.authority is Authority.VETO
    if counted.missing and standing.guarded:
        return _without_a_judgement(standing, missing)
    if counted.rate_limited and standing.executor == "approve" and holds:
        lost = f"the judgement of {' and '.join(counted.rate_limited)} was lost to a rate limit"
        return Ruling(Move.ESCALATE, lost + SILENCED, degraded=True)
    if joint.verdict == "VETO":
        present = [each for each in members if each.advisor.id not in counted.missing]
        alone = panel_tally(standing.executor, present)
        if panel_verdict(standing.executor, alone) == "APPROVE":
            move = Move.ESCALATE if holds else Move.ACCEPT
            return Ruling(move, f"{missing}, and a missing vote counts against the change", degraded=True)
        ruling = _on_verdict(standing, joint)
        return replace(ruling, degraded=bool(counted.missing) and ruling.move is not Move.RETRY)
    if counted.is_split and standing.executor == "approve" and holds:
        why = f"the council is split over the approval: its votes are {counted.spread:.0f} apart"
        return Ruling(Move.ESCALATE, why, degraded=bool(counted.missing))
    if not counted.missing:
        return _on_verdict(standing, joint)
    ruling = _without_a_judgement(standing, missing)
    confirmed = f"{missing}: the other members confirm the verdict"
    return replace(ruling, because=confirmed) if ruling.move is Move.ACCEPT else ruling


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
    limits_approval = lost.cause is Cause.RATE_LIMIT and standing.executor == "approve"
    silenced = lost.cause is Cause.CONTENT or limits_approval
    if silenced and standing.authority is Authority.VETO and not standing.guarded:
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


class Outcome(StrEnum):
    """How a review ends, from best to worst. An empty change is approved by nobody: there is nothing to review."""

    NOTHING_TO_REVIEW = "nothing_to_review"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    ESCALATED = "escalated"
    STOPPED = "stopped"


EXIT_CODES: dict[Outcome, int] = {
    Outcome.NOTHING_TO_REVIEW: 0,
    Outcome.APPROVED: 0,
    Outcome.CHANGES_REQUESTED: 10,
    Outcome.ESCALATED: 11,
    Outcome.STOPPED: 12,
}


_ORDER = tuple(Outcome)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of them; a review in which nothing was reviewed did not run."""
    return max(outcomes, key=_ORDER.index, default=Outcome.STOPPED)
