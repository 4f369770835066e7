"""How a part, a surface and a review end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from review_advisor.agents.answers import GRAVE
from review_advisor.agents.calls import (
    AgentCall,
    AuthenticationFailedError,
    Cause,
    CreditExhaustedError,
    Lost,
    ModelError,
    ModelUnknownError,
    TreeChangedError,
)
from review_advisor.agents.committed_secrets import named, secrets_in_the_way
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.findings import Finding
from review_advisor.agents.surface_inputs import SURFACE_INPUTS
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import RepairState
from review_advisor.change.diff_text import shown_path
from review_advisor.change.picture_pairs import PictureDifference, judged_pictures
from review_advisor.change.shards import EXTENT_WORDS, MAY_BE_APPROVED, Unsent
from review_advisor.policy.budgets import Refused
from review_advisor.policy.policy import SurfacePolicy
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, Role
from review_advisor.policy.switches import model_variables
from review_advisor.review.events import Event, FileFact, PartEnded, ReviewStopped, StopReason
from review_advisor.review.rulings import SILENCED, Move, Outcome, Ruling, worst
from review_advisor.review.votes import MemberAnswer
from review_advisor.safety.stop import Stop

_MOST_NAMED = 10


def confirmed_findings(report: CheckedReport, judged: Attempt | None) -> tuple[Finding, ...]:
    """The findings of a report; of those that it calls pre-existing only the ones that its judgement confirms are.

    ``judged`` is the judgement on this very report; None where there is none.
    """
    confirmed = judged is not None and judged.result.verdict == "APPROVE"
    agreed = frozenset(judged.result.pre_existing if judged is not None and confirmed else ())
    return tuple(replace(each, pre_existing=each.pre_existing and each.id in agreed) for each in report.findings)


def why_not_approved(report: CheckedReport, judged: Attempt | None) -> str | None:
    """Why an approval does not stand although its ruling accepts it; None if it does.

    An approval may carry a critical finding only if the change did not bring it, and that is not for the executor alone
    to say. No critical or high finding was refused on the way, whoever brought it: nobody has disproved it. Nor is a
    file approved that static checks should have read and did not.
    """
    if report.verdict != "approve":
        return None
    unchecked = [each for each in report.unchecked if each.extent not in MAY_BE_APPROVED]
    if unchecked:
        named = "; ".join(f"{shown_path(each.path)}: {each.why}" for each in unchecked[:_MOST_NAMED])
        more = f"; and {len(unchecked) - _MOST_NAMED} more" if len(unchecked) > _MOST_NAMED else ""
        return f"not checked: {named}{more}"
    refused = [each for each in report.refused if each.severity in GRAVE]
    if refused:
        named = "; ".join(
            f"{each.severity} {'of the advisor, ' if each.raised_by else ''}{each.title!r}"
            f" in {shown_path(each.path)}: {each.why}"
            for each in refused[:_MOST_NAMED]
        )
        more = f"; and {len(refused) - _MOST_NAMED} more" if len(refused) > _MOST_NAMED else ""
        return f"a critical or high finding was refused, not disproved: {named}{more}"
    brought = [each for each in confirmed_findings(report, judged) if not each.pre_existing]
    if not any(each.severity == "critical" for each in brought):
        return None
    return "the executor calls a critical finding pre-existing, and the advisor does not confirm it"


NOT_OPENED = "whoever judged it did not open all of its crops"


_STOP_REASONS: Mapping[type[Stop], StopReason] = {
    CreditExhaustedError: "credit_exhausted",
    ModelUnknownError: "model_unknown",
    TreeChangedError: "tree_changed",
    AuthenticationFailedError: "authentication_failed",
    Stop: "interrupted",
}
"""Why a stop ended the review: the first kind that it is."""


_OF_SETTINGS: frozenset[StopReason] = frozenset({"credit_exhausted", "authentication_failed", "model_unknown"})


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
    """Whether the executor's report came."""
    degraded: bool = False
    """Whether the judgement that was due is missing."""
    recovered: bool = False
    """Whether an approval answered a veto."""
    exhausted: bool = False
    """Whether a veto outlasted the retries."""
    repaired: bool = False
    """Whether the advisor confirmed the repaired version."""
    unopened: tuple[str, ...] = ()
    """The names of the pictures that somebody who judged them has not opened."""


def unread(missing: Lost | Refused) -> PartEnding:
    """A part without an executor's report. Lost: no verdict, the review stopped. Refused by a cap: a human."""
    if isinstance(missing, Refused):
        return PartEnding(Outcome.ESCALATED, f"not reviewed: {missing.detail}", read=False)
    return PartEnding(Outcome.STOPPED, f"no verdict: {missing.detail}", read=False)


def halted(words: str) -> PartEnding:
    """A part that goes to a human without another question."""
    return PartEnding(Outcome.ESCALATED, words)


def still_unfounded(second: CheckedReport | Lost | Refused) -> str | None:
    """Why a part goes to a human after a rejection without a finding that stands, or None.

    ``second`` is what came when the executor was asked once more. A rejection with a finding that stands is judged
    like any other. An approval does not take the no back: whoever wrote the change may have caused both answers.
    """
    if not isinstance(second, CheckedReport):
        what = "refused" if isinstance(second, Refused) else "lost"
        again = f"and the second question was {what} ({missing_words(second)})"
    elif second.verdict == "approve":
        again = "and approves when it is asked for one"
    elif second.unfounded is not None:
        again = f"also when it is asked for one: {second.unfounded}"
    else:
        return None
    return f"the executor rejects the change without a finding that stands, {again}"


def flipped(blind: CheckedReport, report: CheckedReport, attempt: int) -> str | None:
    """Why a part goes to a human because what is said about the change turns the verdict on it, or None.

    A later attempt may come to a rejection by a veto; to an approval of what the diff alone had rejected it may not:
    whoever vetoed the rejection was shown the same words.
    """
    if blind.verdict == report.verdict or (attempt and report.verdict == "reject"):
        return None
    return (
        "the verdict flips once what is said about the change is shown:"
        f" {blind.verdict} by the diff alone, then {report.verdict}"
    )


def unseen_blind(ending: PartEnding, missing: Lost | Refused, *, guarded: bool) -> PartEnding:
    """The ending of a part whose diff was not judged alone although that was due: its reason names that.

    No approval under the guard stands without it. Nor does one where a cap of ours refused it, or where the change may
    have caused its loss: nobody can buy the approval by making a change expensive, or by silencing who judges it.
    """
    refused = isinstance(missing, Refused)
    what = f"the verdict by the diff alone was {'refused' if refused else 'lost'} ({missing_words(missing)})"
    why = _why_unseen_escalates(missing, guarded=guarded)
    if ending.outcome is not Outcome.APPROVED or why is None:
        return replace(ending, because=f"{ending.because}; {what}")
    return replace(ending, outcome=Outcome.ESCALATED, because=what + why, recovered=False)


def _why_unseen_escalates(missing: Lost | Refused, *, guarded: bool) -> str | None:
    if isinstance(missing, Refused):
        return ""
    if guarded:
        return " while the self-modification guard holds"
    return None if missing.cause is Cause.OUTAGE else SILENCED


def missing_words(missing: Lost | Refused) -> str:
    """Why an answer did not come, in a few words."""
    return missing.detail if isinstance(missing, Refused) else missing.reason.value


def ruled(
    ruling: Ruling,
    report: CheckedReport,
    attempts: Sequence[Attempt],
    repair: RepairState | None = None,
    *,
    judged: Attempt | None = None,
) -> PartEnding:
    """A part that a ruling accepted or escalated. An approval that came with edits is none of the head.

    Nor does one stand that carries a grave finding on a secret that the change commits, whoever agrees with it.

    ``judged`` is the judgement on the report; None where there is none. A fallback model's is not the advisor's, and
    confirms nothing.
    """
    if ruling.move is Move.ESCALATE:
        return PartEnding(Outcome.ESCALATED, ruling.because, degraded=ruling.degraded, exhausted=ruling.exhausted)
    unproven = why_not_approved(report, None if ruling.degraded else judged)
    if unproven is not None:
        return PartEnding(Outcome.ESCALATED, unproven, degraded=ruling.degraded)
    approved = report.verdict == "approve"
    committed = secrets_in_the_way(report) if approved else ()
    if committed:
        because = f"approved although the change commits a secret: {named(committed)}"
        return PartEnding(Outcome.CHANGES_REQUESTED, because, degraded=ruling.degraded)
    if approved and repair is not None and (repair.patch or repair.refused):
        return _only_repaired(ruling, repair)
    return PartEnding(
        Outcome.APPROVED if approved else Outcome.CHANGES_REQUESTED,
        ruling.because,
        degraded=ruling.degraded,
        recovered=approved and ruling.verdict == "APPROVE" and bool(attempts),
    )


def _only_repaired(ruling: Ruling, repair: RepairState) -> PartEnding:
    """The executor approves what it has edited: the head still has the fault, so its author has to act.

    It recovered if the advisor confirmed the edited version; only then is the patch offered.
    """
    confirmed = ruling.verdict == "APPROVE" and not repair.refused
    if repair.refused:
        because = "the executor approves only with edits that were refused: the head still lacks a repair"
    elif confirmed:
        because = "approved only with the attached repair: the head itself still has what was vetoed"
    else:
        because = f"the head still has what was vetoed, and its repair was not judged: {ruling.because}"
    return PartEnding(
        Outcome.CHANGES_REQUESTED, because, degraded=ruling.degraded, recovered=confirmed, repaired=confirmed
    )


def settled(report: CheckedReport) -> PartEnding:
    """A part that our own check settled, without a model."""
    approved = report.verdict == "approve"
    return PartEnding(Outcome.APPROVED if approved else Outcome.CHANGES_REQUESTED, report.summary)


@dataclass(frozen=True, slots=True)
class NotRun:
    """Why a surface does not run at all."""

    because: str
    disabled_by: str | None = None
    """The switch that turned it off."""
    ending: Ending | None = None
    """What the surface comes to all the same; None where it has no part in the outcome."""


def why_not_run(row: SurfacePolicy, so_far: Ending, *, guarded: bool) -> NotRun | None:
    """Why a surface does not run after what the ones before it came to, or None.

    One that a switch leaves out calls a person while the guard holds, like a judge that is switched off.
    """
    if row.left_out_by:
        because = f"switched off by {row.left_out_by}"
        held = Ending(Outcome.ESCALATED, (f"{row.surface.value} is {because} while the self-modification guard holds",))
        return NotRun(because, row.left_out_by, held if guarded else None)
    if SURFACE_DEFAULTS[row.surface].after_a_verdict and so_far.outcome in (Outcome.ESCALATED, Outcome.STOPPED):
        return NotRun(f"the review so far is {so_far.outcome.value}")
    return None


def never_approved(ending: PartEnding, unread: Sequence[str]) -> PartEnding:
    """The ending, at best a human's if something of the part can be seen by nobody."""
    if not unread or worst((ending.outcome, Outcome.ESCALATED)) is not Outcome.ESCALATED:
        return ending
    because = "; ".join((*unread, ending.because) if ending.outcome is Outcome.ESCALATED else unread)
    return replace(ending, outcome=Outcome.ESCALATED, because=because)


def unopened_pictures(
    row: SurfacePolicy,
    pictures: Sequence[PictureDifference],
    executor_opened: Collection[str],
    judges: Sequence[MemberAnswer],
) -> tuple[str, ...]:
    """The names of the pictures of a surface that somebody who judged them has not opened, crop by crop.

    Every judge that answered has to open them. Where none did, or a fallback model stands in, the executor's verdict
    stands, so the executor has to.
    """
    if SURFACE_INPUTS[row.surface].reads != "gallery":
        return ()
    answered = [each for each in judges if not isinstance(each.answer, Lost | Refused)]
    alone = not answered or any(each.fallback for each in answered)
    opened = [each.opened for each in answered if not each.fallback] + ([executor_opened] if alone else [])
    shown = judged_pictures(pictures)
    return tuple(each.name for each in shown if not all(set(each.crops).issubset(crops) for crops in opened))


def unopened_words(names: Sequence[str]) -> tuple[str, ...]:
    """Why these pictures are not approved, one sentence each."""
    return tuple(f"{shown_path(name)} was not read: {NOT_OPENED}" for name in names)


def nothing_changed(before: CheckedReport | None, now: CheckedReport, *, same_diff: bool = True) -> str | None:
    """Why a retry is not worth a second question, or None: it changed neither diff, verdict, findings nor evidence."""
    if before is None or before.state != now.state or not same_diff:
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


def stop_words(stop: Stop, call: AgentCall) -> str:
    """Why the review cannot go on. Where it may be the model, the settings that name it are named."""
    if not isinstance(stop, ModelError):
        return stop.detail
    model, asked = _model_at_fault(stop, call)
    narrow, wide = model_variables(call.surface, "EXECUTOR" if asked == Role.EXECUTOR.advisor else "ADVISOR")
    settings = f"{narrow} or {wide}"
    if call.further_try:
        settings = f"{narrow}, {wide} or `outage.fallback_models`"
    if asked not in {role.advisor for role in Role}:
        settings = f"`model` in the declaration of {asked!r}, or without it {settings},"
    return f"{stop.detail} The model asked for is {model!r}; {settings} sets another."


def _model_at_fault(stop: ModelError, call: AgentCall) -> tuple[str, str]:
    """The model that may be wrong, and the id of whom it was to answer for: of several failed consults, the usual."""
    if not stop.in_consult or call.consults is None:
        return call.model, call.advisor
    failed = {each.advisor for each in stop.receipt.consults if each.status == "failed"}
    named = next((each for each in call.consults.others if failed == {each.id}), None)
    return (call.consults.advisor_model, Role.MID_FLIGHT.advisor) if named is None else (named.model, named.id)


def end_of_stop(stop: Stop, at: datetime) -> ReviewStopped:
    """The event that says why the review could not go on."""
    resume_at = stop.resume_at if isinstance(stop, CreditExhaustedError) else None
    reason = next(reason for kind, reason in _STOP_REASONS.items() if isinstance(stop, kind))
    return ReviewStopped(at=at, reason=reason, detail=stop.detail, resume_at=resume_at)


def stopped_by_settings(events: Sequence[Event]) -> bool:
    """Whether the account or the settings ended the review: no credit, no authentication, no such model.

    No author causes that, and no further review comes of it before somebody has mended it.
    """
    return any(isinstance(event, ReviewStopped) and event.reason in _OF_SETTINGS for event in events)


def join_review(
    surfaces: Sequence[Ending], files: Sequence[FileFact], unsent: Sequence[Unsent], stopped: str | None
) -> Ending:
    """The review's outcome: the worst surface; a file with unread text is never approved, unless that is allowed."""
    if stopped is not None:
        return Ending(Outcome.STOPPED, (stopped,))
    if not files:
        return Ending(Outcome.NOTHING_TO_REVIEW, ("the change is empty",))
    endings = list(surfaces)
    unread = [gap for gap in unsent if gap.extent not in MAY_BE_APPROVED]
    if unread:
        named = tuple(f"{shown_path(gap.path)} was {EXTENT_WORDS[gap.extent]}: {gap.why}" for gap in unread)
        endings.append(Ending(Outcome.ESCALATED, named))
    outcome = worst(ending.outcome for ending in endings)
    because = [words for ending in endings if ending.outcome is outcome for words in ending.because]
    return Ending(outcome, tuple(dict.fromkeys(because)))
