"""Everything that can happen in a review, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from review_advisor.agents.answers import (
    ACTIONS,
    InstanceOpinion,
    MemberVote,
    Opinion,
    ReviewPlan,
    UnreadableCallsError,
    inline_calls,
)
from review_advisor.agents.calls import CallNumber
from review_advisor.agents.committed_secrets import CommittedSecret
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import RefusedPath, Status
from review_advisor.change.guidelines import GuidelineFact
from review_advisor.change.kinds import Kind
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.shards import Unsent
from review_advisor.policy.policy import Policy
from review_advisor.policy.risk import Blast, Guard
from review_advisor.policy.scope import WHOLE, Scope
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.escalation import Disposition, Merged, Reason
from review_advisor.review.rulings import Outcome, Ruling
from review_advisor.review.votes import Voice
from review_advisor.safety.stop import ModelUsage, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """Common to all events. ``at`` is the moment, with its zone."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Happened):
    """An event of one part of one surface. ``attempt`` and ``shard`` count from 0."""

    surface: Surface
    attempt: int = 0
    shard: int = 0

    @property
    def place(self) -> tuple[Surface, int, int]:
        """Its surface, attempt and part."""
        return self.surface, self.attempt, self.shard


@dataclass(frozen=True, slots=True, kw_only=True)
class OfCall(Step):
    """An event of one call. ``number`` is the call's: the calls of a review count from 1 as they start or are refused.

    It is 0 for what belongs to no call. ``prompts`` is the version of the prompt texts (``Instructions.version``);
    empty where there is no call.
    """

    number: CallNumber = 0
    prompts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalated(OfCall):
    """After its call ``number`` the executor gave ``report``, and a consult of the harness was due.

    ``state`` is what it is about (``state_digest``). ``refused`` says why nobody was consulted; empty if the consult
    follows. ``advisor_alone``: it was refused by the cap, and the advisor's judgement alone decides from here on.
    """

    kind: Literal["escalated"] = "escalated"
    report: CheckedReport
    reasons: tuple[Reason, ...]
    state: str
    refused: str = ""
    advisor_alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended(OfCall):
    """What the advisor recommends in the call ``number``, merged with the executor's report so far.

    ``proven`` are the ids of the findings whose drop or lower carries a quote of code that shows that they are wrong.
    ``repeated``: the same was recommended before and not applied, so a person decides.
    """

    kind: Literal["recommended"] = "recommended"
    recommendation: str
    merged: Merged
    proven: tuple[str, ...] = ()
    repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceOpen(OfCall):
    """After its call ``number`` the executor does not say what became of some advice, and is asked once.

    ``report`` is what it said so far, ``recommendations`` names what is open.
    """

    kind: Literal["advice_open"] = "advice_open"
    report: CheckedReport
    recommendations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disposed(OfCall):
    """What became of a recommendation by the executor's call ``number``, and why."""

    kind: Literal["disposed"] = "disposed"
    recommendation: str
    disposition: Disposition
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Advised:
    """What one inline member said. ``votes`` are its weights, ``own`` its own fields as JSON, ``lost`` why nothing."""

    advisor: str
    votes: tuple[float, ...] = ()
    says: str = ""
    own: str = ""
    lost: str = ""

    @property
    def words(self) -> str:
        """Its advice in one line."""
        if self.lost:
            return f"no advice: {self.lost}"
        weights = ", ".join(f"{action} {weight:g}" for action, weight in zip(ACTIONS, self.votes, strict=False))
        return f"{weights}{f': {self.says}' if self.says else ''}{f' {self.own}' if self.own else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoicesHeard(OfCall):
    """All inline members advised in one call. Nothing is decided by it."""

    kind: Literal["voices_heard"] = "voices_heard"
    voices: tuple[Advised, ...]


def advised(voice: Voice) -> Advised:
    """One voice as it is recorded."""
    try:
        says = inline_calls(voice.calls, ACTIONS).reasoning
    except UnreadableCallsError:
        says = ""
    return Advised(voice.advisor.id, voice.votes, says, voice.own, voice.lost)


Ended = Literal["answered", "lost", "refused", "cut_short", "stopped"]
"""How a call ended: ``refused`` was never made, ``cut_short`` was made and then ended by a cap of ours."""


StopReason = Literal["credit_exhausted", "authentication_failed", "model_unknown", "tree_changed", "interrupted"]
"""Why a review could not go on."""


@dataclass(frozen=True, slots=True)
class FileFact:
    """One changed file as the review saw it; ``shards``: the parts it went to.

    ``earlier`` is the head at which an earlier review read it, if the executor was not shown it again. ``old_path`` is
    where a renamed file was at the base, ``earlier_path`` where it was at the head that was reviewed before.
    ``copied_from`` is the other file that it is a copy of: a source of the change, and no changed file.
    """

    path: str
    status: Status
    kind: Kind
    binary: bool
    shards: tuple[int, ...]
    earlier: str = ""
    old_path: str | None = None
    earlier_path: str | None = None
    copied_from: str | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Both sides, as ``FileChange.paths`` has them."""
        return tuple(each for each in (self.path, self.old_path, self.copied_from) if each is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFrozen(Happened):
    """The review began: what it is about, and every decision taken before the first call. Always first.

    ``pictures`` are the pairs that were compared. ``unsent`` names what cannot be sent to any call; such a review never
    ends as approved. ``scope`` is what of it the executor is shown. ``cut`` says in words what the prompts shorten
    that is not the change itself. ``repository`` and ``pull_request`` name a pull request, ``base_ref`` its base
    branch, ``rules_ref`` the branch whose configuration holds; None for any other change. ``rules_sha`` is the commit
    whose configuration holds; None for a patch. ``guidelines`` are the team's own rules that apply to the change, or
    could not be read. ``server`` is the address of the GitHub that the repository is on, where one is known.
    ``priced_by`` names the repository's own list of prices and its digest; empty where the shipped one counts alone.
    ``secrets`` are those on added lines, all of them.
    """

    kind: Literal["policy_frozen"] = "policy_frozen"
    run_id: str
    label: str
    title: str
    base_sha: str | None
    head_sha: str | None
    files: tuple[FileFact, ...]
    unsent: tuple[Unsent, ...]
    cut: tuple[str, ...]
    shards: int
    policy: Policy
    pictures: tuple[PictureDifference, ...] = ()
    scope: Scope = WHOLE
    repository: str | None = None
    pull_request: int | None = None
    base_ref: str | None = None
    rules_ref: str | None = None
    rules_sha: str | None = None
    guidelines: tuple[GuidelineFact, ...] = ()
    server: str = ""
    priced_by: str = ""
    secrets: tuple[CommittedSecret, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSkipped(Step):
    """A role did not run here, and why: switched off, not triggered, or not part of the surface."""

    kind: Literal["role_skipped"] = "role_skipped"
    role: Role
    because: tuple[str, ...]
    disabled_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(OfCall):
    """A call was allowed and is on its way. Without its ``CallEnded`` it was killed in flight.

    ``advisor`` is the id of who is asked. ``asks_again`` is the number of the call whose question it repeats, because
    that reply could not be used; 0 for a first question.
    """

    kind: Literal["call_started"] = "call_started"
    number: Annotated[CallNumber, Field(ge=1)]
    role: Role
    advisor: str
    asks_again: CallNumber = 0
    requested_model: str
    blind: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(OfCall):
    """A call was made, or refused by one of our caps. ``detail`` is empty for an answer.

    ``advisor`` and ``asks_again`` are as in its ``CallStarted``; a call that was refused has none.
    ``notes`` say what of the answer was cut, or set right, before it was used. ``blind``: it asked the executor about
    the diff alone. ``kept``: an earlier run of this review, which was killed or has stopped, was given the reply and
    paid for it. That run is ``paid_by``, and ``reply`` names the reply among those of that run; both are empty without.
    ``tools``: the model had tools. ``own`` are the call's tokens without its consults', None where they are not known.
    ``opened`` names the files that the call itself opened as pictures, relative to the folder that it worked in.
    ``consulted`` names the model of each consult that was asked, empty for one that failed before it was known.
    ``turns`` are the model's messages, consults apart; 0 where nobody knows. Since the last answered consult of the
    call, ``failures_unadvised`` is the longest run of failed tool calls, ``readings_unadvised`` how often one place of
    a file was read. ``estimated_usd`` is what limits of money count where no cost is reported, None if nobody can tell.
    """

    kind: Literal["call_ended"] = "call_ended"
    number: Annotated[CallNumber, Field(ge=1)]
    role: Role
    advisor: str
    asks_again: CallNumber = 0
    ended: Ended
    reason: str = ""
    detail: str = ""
    notes: tuple[str, ...] = ()
    requested_model: str
    resolved_model: str = ""
    session_id: str = ""
    usage: Usage = field(default_factory=Usage)
    by_model: tuple[ModelUsage, ...] = ()
    own: Usage | None = None
    consulted: tuple[str, ...] = ()
    duration_seconds: float = 0.0
    tool_failures: int = 0
    opened: tuple[str, ...] = ()
    turns: int = 0
    failures_unadvised: int = 0
    readings_unadvised: int = 0
    prompt_characters: int = 0
    prompt_sha256: str = ""
    blind: bool = False
    kept: bool = False
    reply: str = ""
    paid_by: str = ""
    tools: bool = False
    estimated_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(OfCall):
    """Pre-flight's plan."""

    kind: Literal["planned"] = "planned"
    plan: ReviewPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Opined(OfCall):
    """A declared advisor said what it sees in the change, before the executor began.

    ``own`` are its own fields as JSON, empty without any. ``missing`` are the instances on which it says nothing.
    """

    kind: Literal["opined"] = "opined"
    advisor: str
    opinion: Opinion
    instances: tuple[InstanceOpinion, ...] = ()
    own: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Consulted(OfCall):
    """A mid-flight consult in the call ``number``. ``advisor`` is who was asked.

    ``asked_by``: the executor used, or tried to use, it within its own call; or the harness asked in a call of its own.
    """

    kind: Literal["consulted"] = "consulted"
    advisor: str
    note: ConsultNote
    asked_by: Literal["executor", "harness"] = "executor"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindJudged(OfCall):
    """What the executor said of a part's diff alone, before it was shown what is said about the change.

    ``report`` is held against the change; it is None where no answer came, and ``missing`` says why.
    """

    kind: Literal["blind_judged"] = "blind_judged"
    report: CheckedReport | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfoundedRejection(OfCall):
    """The executor rejected a part without a finding that stands, so it was asked once more in the same attempt.

    The attempt's ``Reported`` follows: the second report, or this one again if no second report came.
    """

    kind: Literal["unfounded_rejection"] = "unfounded_rejection"
    report: CheckedReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported(OfCall):
    """The executor's report, held against the change. ``structural``: made by our own check, no model asked.

    ``put_back`` are the ids of grave findings that the executor left out or made milder after advice, and that stay.
    """

    kind: Literal["reported"] = "reported"
    report: CheckedReport
    structural: bool = False
    put_back: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired(Step):
    """The executor edited its copy of the tree, and the harness read the edits back.

    ``accepted``: this attempt's judgement is about the change with ``patch`` (head to ``tree``) in it, under
    ``blast`` and ``guard``. ``withdrawn``: the edits undo an earlier repair, so it is about the head again.
    ``refused``: it is about what was judged before, because of the paths in ``refused``.
    """

    kind: Literal["repaired"] = "repaired"
    result: Literal["accepted", "withdrawn", "refused"]
    patch: str = ""
    files: tuple[str, ...] = ()
    tree: str = ""
    refused: tuple[RefusedPath, ...] = ()
    blast: Blast | None = None
    guard: Guard | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReviewed(OfCall):
    """What a member of a council found by itself, before it saw the executor's report, held against the change."""

    kind: Literal["member_reviewed"] = "member_reviewed"
    advisor: str
    report: CheckedReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted(OfCall):
    """How a member of a council judged the executor's verdict, and how it voted about the change."""

    kind: Literal["voted"] = "voted"
    advisor: str
    vote: MemberVote


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified(OfCall):
    """Post-verify answered; its raw verdict, before any advisory downgrade.

    Of a council it is the one judgement that the votes come to, and belongs to no call.
    """

    kind: Literal["verified"] = "verified"
    judged: Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled(Step):
    """What the post-verify answer, or its absence, means."""

    kind: Literal["ruled"] = "ruled"
    ruling: Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEnded(Step):
    """One part of one surface came to its end. ``read``: the executor gave a report on it.

    ``repaired``: with the attempt's repair, and only with it, executor and advisor approve. ``unopened`` names the
    pictures that whoever judged them has not opened.
    """

    kind: Literal["part_ended"] = "part_ended"
    outcome: Outcome
    because: str
    read: bool = True
    degraded: bool = False
    recovered: bool = False
    exhausted: bool = False
    repaired: bool = False
    unopened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeStored(Step):
    """A knowledge entry was stored as ``name``. ``not_in_repository``: why only beside the review; empty if both.

    ``proposal``: its advisor did not approve it, so it is for people to decide whether it is knowledge.
    """

    kind: Literal["knowledge_stored"] = "knowledge_stored"
    title: str
    name: str
    not_in_repository: str = ""
    proposal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceEnded(Happened):
    """One surface came to its end: its parts joined, the worst wins."""

    kind: Literal["surface_ended"] = "surface_ended"
    surface: Surface
    outcome: Outcome
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewStopped(Happened):
    """The review could not go on: no credit, no authentication, no such model, or an interrupt."""

    kind: Literal["review_stopped"] = "review_stopped"
    reason: StopReason
    detail: str
    resume_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEnded(Happened):
    """Always last."""

    kind: Literal["review_ended"] = "review_ended"
    outcome: Outcome
    because: tuple[str, ...]


StepEvent = (
    RoleSkipped
    | CallStarted
    | CallEnded
    | Planned
    | Opined
    | Consulted
    | BlindJudged
    | UnfoundedRejection
    | Escalated
    | Recommended
    | AdviceOpen
    | Disposed
    | Reported
    | Repaired
    | MemberReviewed
    | Voted
    | Verified
    | Ruled
    | VoicesHeard
    | PartEnded
    | KnowledgeStored
)
"""The events of one part of one surface."""


Event = Annotated[
    PolicyFrozen | StepEvent | SurfaceEnded | ReviewStopped | ReviewEnded,
    Field(discriminator="kind"),
]
"""Everything that can happen in a review."""
