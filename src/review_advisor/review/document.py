"""The outcome document, computed from the events alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal, Protocol, TypeVar, get_args

from pydantic import TypeAdapter

from review_advisor.agents.answers import MemberVote, ReviewPlan, Severity, missing_instances
from review_advisor.agents.calls import Lost, LostReason, _kinds, tokens, total_usage
from review_advisor.agents.committed_secrets import CommittedSecret, secrets_in_the_way
from review_advisor.agents.evidence import CheckedReport, Knowledge
from review_advisor.agents.findings import Finding, merged
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.agents.prompts import cites
from review_advisor.agents.surface_inputs import SURFACE_INPUTS
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import Change, Status
from review_advisor.change.guidelines import GuidelineFact
from review_advisor.change.kinds import kind_of
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.shards import Extent, Shard, Unsent
from review_advisor.policy.budgets import RefusalReason, Refused
from review_advisor.policy.policy import Policy, SurfacePolicy
from review_advisor.policy.roster import Advisor
from review_advisor.policy.scope import WHOLE, Scope, files_to_show
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.agreement import Agreement, Reviewed, agreement
from review_advisor.review.ends import NOT_OPENED, confirmed_findings
from review_advisor.review.events import (
    AdviceOpen,
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Ended,
    Escalated,
    Event,
    FileFact,
    KnowledgeStored,
    MemberReviewed,
    Opined,
    PartEnded,
    Planned,
    PolicyFrozen,
    Repaired,
    Reported,
    ReviewEnded,
    RoleSkipped,
    Ruled,
    Step,
    SurfaceEnded,
    UnfoundedRejection,
    Verified,
    VoicesHeard,
    Voted,
)
from review_advisor.review.rulings import EXIT_CODES, Outcome, Ruling
from review_advisor.review.votes import MemberAnswer, Tally, asked_as, panel_tally
from review_advisor.safety.stop import ModelUsage, Usage


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """One file of the change: whether it was read, and why not, or how if not as text.

    ``earlier``: in the review before this one. ``picture``: visual_gate compared its pixels, and judged what differs.
    """

    path: str
    read: Literal["read"] | Extent
    why: str = ""
    earlier: bool = False
    picture: bool = False

    @property
    def read_or_excluded(self) -> bool:
        """Whether nothing of it is left to read: a model read it, or the configuration excludes it."""
        return self.read in ("read", "excluded")


def coverage(first: PolicyFrozen, events: Sequence[Event]) -> tuple[FileCoverage, ...]:
    """Every file of the change, then what else could not be sent whole."""
    reports = [event for event in events if isinstance(event, Reported)]
    read_parts = {report.shard for report in reports if report.surface is Surface.PR_REVIEW}
    judged = any(report.surface is Surface.VISUAL_GATE and not report.structural for report in reports)
    unsent = {gap.path: gap for report in reports for gap in report.report.unchecked}
    unsent |= {gap.path: gap for gap in first.unsent}
    pictures = {picture.name: picture for picture in first.pictures}
    unopened = {name for event in events if isinstance(event, PartEnded) for name in event.unopened}
    files = tuple(
        _file(file, read_parts, unsent.pop(file.path, None), _picture(pictures.get(file.path), unopened, judged=judged))
        for file in first.files
    )
    return files + tuple(FileCoverage(gap.path, gap.extent, gap.why) for gap in unsent.values())


def _file(file: FileFact, read_parts: set[int], gap: Unsent | None, picture: FileCoverage | None) -> FileCoverage:
    seen = [shard in read_parts for shard in file.shards]
    if not any(seen):
        return FileCoverage(file.path, "not", "no report came on its part of the change")
    if gap is not None:
        return FileCoverage(file.path, gap.extent, gap.why)
    if file.binary:
        return picture or FileCoverage(file.path, "not", "binary")
    if not all(seen):
        return FileCoverage(file.path, "partly", "no report came on some of its parts")
    if file.earlier:
        return FileCoverage(file.path, "read", f"in the review of {file.earlier}", earlier=True)
    return FileCoverage(file.path, "read")


def _picture(picture: PictureDifference | None, unopened: Collection[str], *, judged: bool) -> FileCoverage | None:
    """What visual_gate saw of a picture. Without its report, nobody has looked at what differs."""
    if picture is None:
        return None
    if picture.state == "identical":
        return FileCoverage(picture.name, "read", "visual_gate compared it: the same pixels", picture=True)
    if not picture.crops:
        return FileCoverage(picture.name, "not", picture.why or "nothing of it could be shown")
    if not judged:
        return FileCoverage(picture.name, "not", "no report of visual_gate came on what differs in it")
    if picture.name in unopened:
        return FileCoverage(picture.name, "not", f"by visual_gate: {NOT_OPENED}")
    if picture.partly:
        return FileCoverage(picture.name, "partly", f"by visual_gate: {picture.why}", picture=True)
    return FileCoverage(picture.name, "read", "visual_gate judged what differs in it", picture=True)


def file_facts(change: Change, parts: Sequence[Shard], scope: Scope = WHOLE) -> tuple[FileFact, ...]:
    """What the first event says about each file of the change."""
    went: dict[str, list[int]] = defaultdict(list)
    for part in parts:
        for path in dict.fromkeys(file.path for file in part.files):
            went[path].append(part.index)
    shown = {file.path for file in files_to_show(change, scope)}
    renamed = {path: old for old, path in change.earlier.renames} if change.earlier is not None else {}
    return tuple(
        FileFact(
            path=file.path,
            status=file.status,
            kind=kind_of(file),
            binary=file.binary,
            shards=tuple(went[file.path]),
            earlier="" if file.path in shown else scope.since or "",
            old_path=file.old_path if file.status is Status.RENAMED else None,
            earlier_path=renamed.get(file.path),
            copied_from=file.old_path if file.status is Status.COPIED else None,
        )
        for file in change.files
    )


@dataclass(frozen=True, slots=True)
class RoleCost:
    """What one role used of one model, in one call or in many: ``unpriced`` of the calls reported no cost.

    ``usage.cost_usd`` is None where none did: nobody guesses. A call that used several models is one of each:
    ``unpriced_calls`` counts it once. The mid-flight advisor's ``calls`` are consults. ``shared``: in some call the
    executor and its consults used the same model, and their money is known only as one sum. That sum stands with the
    executor. If their tokens are known only as one sum, it stands there as well.
    """

    role: Role
    model: str
    calls: int
    usage: Usage
    unpriced: int = 0
    shared: bool = False


def role_costs(calls: Iterable[CallEnded]) -> tuple[RoleCost, ...]:
    """What these calls used, by role and model: whoever used it within them."""
    return together(each for call in calls for each in used_within(call))


def together(costs: Iterable[RoleCost]) -> tuple[RoleCost, ...]:
    """The sums of these costs, by role and model."""
    found: dict[tuple[Role, str], list[RoleCost]] = defaultdict(list)
    for cost in costs:
        found[cost.role, cost.model].append(cost)
    return tuple(
        RoleCost(
            role,
            model,
            calls=sum(each.calls for each in its),
            usage=total_usage(each.usage for each in its),
            unpriced=sum(each.unpriced for each in its),
            shared=any(each.shared for each in its),
        )
        for (role, model), its in sorted(found.items(), key=lambda item: (item[0][0].value, item[0][1]))
    )


def unpriced_calls(calls: Iterable[CallEnded]) -> int:
    """How many of these calls lack a part of their cost: each is one, whichever of its models nobody told it of."""
    return sum(any(each.unpriced for each in used_within(call)) for call in calls)


@dataclass(frozen=True, slots=True)
class CountedMoney:
    """What limits of money count: US dollars as they were reported, and the estimates of calls that reported none.

    ``untold``: what some call cost, nobody can even estimate; that is in neither.
    """

    reported_usd: float = 0.0
    estimated_usd: float = 0.0
    untold: bool = False

    @property
    def usd(self) -> float:
        """Both together."""
        return self.reported_usd + self.estimated_usd


def counted_money(events: Sequence[Event]) -> CountedMoney:
    """What the calls of these events count with; nobody knows what one that began and has no end did cost."""
    calls = [event for event in events if isinstance(event, CallEnded) and event.ended != "refused"]
    begun = {event.number for event in events if isinstance(event, CallStarted)}
    estimates = [call.estimated_usd for call in calls if call.usage.cost_usd is None]
    return CountedMoney(
        reported_usd=sum(max(0.0, call.usage.cost_usd or 0.0) for call in calls),
        estimated_usd=sum(max(0.0, usd or 0.0) for usd in estimates),
        untold=None in estimates or not begun <= {call.number for call in calls},
    )


@dataclass(frozen=True, slots=True)
class Turns:
    """The ``turns`` that the executor took in so many ``calls``: those of which they are known."""

    turns: int
    calls: int


def executor_turns(calls: Iterable[CallEnded]) -> Turns:
    """The executor's turns in these calls. A reply that an earlier run was given took none."""
    known = [call.turns for call in calls if call.role is Role.EXECUTOR and call.turns and not call.kept]
    return Turns(sum(known), len(known))


def used_within(call: CallEnded) -> Iterator[RoleCost]:
    """What each model used within a call, and as whom: an executor's subagent is the mid-flight advisor."""
    if call.ended == "refused":
        return
    by_model = call.by_model or (ModelUsage(call.resolved_model or call.requested_model, call.usage),)
    models = {each.model for each in by_model}
    foreign = [
        each.model for each in by_model if call.role is Role.EXECUTOR and call.resolved_model not in ("", each.model)
    ]
    nameless = sum(model not in models for model in call.consulted)
    for each in by_model:
        if each.model in foreign:
            consults = call.consulted.count(each.model) + (nameless if each.model == foreign[0] else 0)
            yield _used(Role.MID_FLIGHT, each.model, each.usage, max(1, consults))
        else:
            yield from _with_consults(call, each, nameless=0 if foreign else nameless)


def _with_consults(call: CallEnded, each: ModelUsage, *, nameless: int) -> Iterator[RoleCost]:
    """What a call used of its own model, and apart from that what its consults used of the same model.

    ``nameless`` are the consults whose model is not among those that were used: it failed, or has another name there.
    """
    whole, own = each.usage, _own(call, each.usage)
    consulted = Usage() if own is None else _difference(whole, own)
    consults = call.consulted.count(each.model)
    if consults or consulted != Usage():
        consults += nameless
    if not consults:
        yield _used(call.role, each.model, whole)
        return
    shared = own is None or whole.cost_usd is not None
    yield _used(call.role, each.model, whole if own is None else replace(own, cost_usd=whole.cost_usd), shared=shared)
    yield _used(Role.MID_FLIGHT, each.model, consulted, consults, shared=shared)


def _used(role: Role, model: str, usage: Usage, times: int = 1, *, shared: bool = False) -> RoleCost:
    """What a role used within one call. The cost of consults is not unknown where it stands with the executor."""
    stands_elsewhere = shared and role is Role.MID_FLIGHT
    unpriced = 0 if stands_elsewhere or usage.cost_usd is not None else times
    return RoleCost(role, model, times, usage, unpriced, shared)


def _own(call: CallEnded, whole: Usage) -> Usage | None:
    """The call's tokens without its consults'; None where they are not known, or are more than there are in all."""
    own = call.own
    if own is None or not all(0 <= some <= every for some, every in zip(_kinds(own), _kinds(whole), strict=True)):
        return None
    return own


def _difference(whole: Usage, part: Usage) -> Usage:
    """In tokens: money is not told by part."""
    return Usage(*(every - some for every, some in zip(_kinds(whole), _kinds(part), strict=True)))


def prompt_tokens(usage: Usage) -> int:
    """All that was given to the model, whether it came from the cache, went into it, or neither."""
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


@dataclass(frozen=True, slots=True)
class PartRecord:
    """One part of a surface: its reports, consults, judgements and rulings, in order."""

    shard: int
    reports: tuple[CheckedReport, ...]
    consults: tuple[ConsultNote, ...]
    post_verify: tuple[Attempt, ...]
    rulings: tuple[Ruling, ...]
    ended: PartEnded | None
    repairs: tuple[Repaired, ...] = ()
    blind: BlindJudged | None = None
    """The executor's verdict by the diff alone, before all reports; None where it was not asked."""
    unfounded: tuple[UnfoundedRejection, ...] = ()
    """The rejections without a finding that stands, each of which was asked once more."""


@dataclass(frozen=True, slots=True)
class SurfaceRecord:
    """One surface of the review. ``outcome`` is None if the review stopped before it ended."""

    surface: Surface
    outcome: Outcome | None
    because: tuple[str, ...]
    plan: ReviewPlan | None
    skipped: tuple[RoleSkipped, ...]
    parts: tuple[PartRecord, ...]
    stored: tuple[KnowledgeStored, ...] = ()


Kind = TypeVar("Kind")


class Stream:
    """Events by their kind, in order: a review has many, and nearly every field of the document asks for some."""

    def __init__(self, events: Iterable[object]) -> None:
        self._by_kind: dict[type, list[Any]] = {}
        for event in events:
            self._by_kind.setdefault(type(event), []).append(event)

    def only(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The events of one kind."""
        return tuple(self._by_kind.get(kind, ()))


def surface_records(policy: Policy, events: Iterable[Event]) -> tuple[SurfaceRecord, ...]:
    """The record of each surface of ``policy``, in its order: what the events say of any other is left out."""
    steps: dict[Surface, list[Step]] = {row.surface: [] for row in policy.surfaces}
    ended: dict[Surface, SurfaceEnded] = {}
    for event in events:
        if isinstance(event, Step) and event.surface in steps:
            steps[event.surface].append(event)
        elif isinstance(event, SurfaceEnded):
            ended[event.surface] = event
    return tuple(_surface(surface, its, ended.get(surface)) for surface, its in steps.items())


def _surface(surface: Surface, steps: Sequence[Step], ended: SurfaceEnded | None) -> SurfaceRecord:
    stream = Stream(steps)
    plans = stream.only(Planned)
    parts: dict[int, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.shard, []).append(step)
    return SurfaceRecord(
        surface=surface,
        outcome=ended.outcome if ended else None,
        because=ended.because if ended else (),
        plan=plans[-1].plan if plans else None,
        skipped=stream.only(RoleSkipped),
        parts=tuple(_part(shard, its) for shard, its in sorted(parts.items())),
        stored=stream.only(KnowledgeStored),
    )


def _part(shard: int, steps: Iterable[Step]) -> PartRecord:
    stream = Stream(steps)
    ended, blind = stream.only(PartEnded), stream.only(BlindJudged)
    return PartRecord(
        shard=shard,
        reports=tuple(event.report for event in stream.only(Reported)),
        consults=tuple(event.note for event in stream.only(Consulted)),
        post_verify=tuple(event.judged for event in stream.only(Verified)),
        rulings=tuple(event.ruling for event in stream.only(Ruled)),
        ended=ended[-1] if ended else None,
        repairs=stream.only(Repaired),
        blind=blind[-1] if blind else None,
        unfounded=stream.only(UnfoundedRejection),
    )


_OfAPlan = Planned | Opined


_OfAnExecutor = BlindJudged | UnfoundedRejection | Escalated | AdviceOpen | Reported


_OfAJudge = Verified | MemberReviewed | Voted | VoicesHeard


AnswerRead = _OfAPlan | _OfAnExecutor | _OfAJudge
"""What is read from the answer of a call."""


Within = Consulted | AnswerRead
"""What happens within a call, or is read from its answer."""


def question_of(call: CallEnded) -> int:
    """The number of a question's first call, which the call that asks again has in common with it."""
    return call.asks_again or call.number


def unanswered(calls: Iterable[CallEnded]) -> tuple[CallEnded, ...]:
    """The calls of all questions that got no answer, in order."""
    every = tuple(calls)
    answered = {question_of(call) for call in every if call.ended == "answered"}
    return tuple(call for call in every if question_of(call) not in answered)


def why_unanswered(call: CallEnded) -> Lost | Refused | None:
    """What a call without an answer came to; None if its reason is none that there is."""
    if call.ended == "lost":
        return next((Lost(each, call.detail) for each in LostReason if each.value == call.reason), None)
    return next((Refused(each, call.detail) for each in get_args(RefusalReason) if each == call.reason), None)


def ends_of_calls(events: Sequence[Event]) -> dict[int, int]:
    """The index of a call's ``CallEnded``, by the index of each event of that call.

    These are its start, its end, the consults within it and the answer that was read from it. The events of a call
    that has no end are left out, and so is what belongs to no call.
    """
    ended = {event.number: index for index, event in enumerate(events) if isinstance(event, CallEnded)}
    return {
        index: ended[event.number]
        for index, event in enumerate(events)
        if isinstance(event, CallStarted | CallEnded | Within) and event.number in ended
    }


def most_at_once(events: Sequence[Event]) -> int:
    """The largest number of calls that ran at the same time, at least one. A call that ends makes room for the next."""
    changes: list[tuple[datetime, int]] = []
    for index, end in ends_of_calls(events).items():
        if isinstance(events[index], CallStarted):
            changes += [(events[index].at, 1), (events[end].at, -1)]
    return max(1, *accumulate(change for _, change in sorted(changes)))


def who(event: CallStarted | CallEnded | Consulted) -> str:
    """Who was asked: the role, and after a slash the advisor's id if it is not the role's usual one."""
    role = Role.MID_FLIGHT if isinstance(event, Consulted) else event.role
    advisor = unusual_advisor(role, event.advisor)
    return f"{role.value}/{advisor}" if advisor else role.value


def unusual_advisor(role: Role, advisor: str) -> str:
    """The advisor's id, empty if it is the usual one of its role."""
    return "" if advisor == role.advisor else advisor


def role_behind(event: Within) -> Role:
    """Whose call it was. A report of our own check is nobody's: no call stands in its place."""
    if isinstance(event, _OfAPlan):
        return Role.PRE_FLIGHT
    return Role.POST_VERIFY if isinstance(event, _OfAJudge) else Role.EXECUTOR


SCHEMA_VERSION: Literal[2] = 2


MISSING: frozenset[Ended] = frozenset({"lost", "refused", "cut_short"})
"""How a call ends that brought no answer, where the review went on."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What a reader must not overlook. ``lost``: ``surface/role`` of answers that did not come, and never came later.

    The advisor's id follows where it is not the role's usual one: ``pr_review/post_verify/security``.
    """

    degraded: bool
    advisor_disabled: tuple[str, ...]
    lost: tuple[str, ...]
    recovered: bool
    exhausted: bool


@dataclass(frozen=True, slots=True)
class SuggestedRepair:
    """A patch with which, and only with which, executor and advisor approve ``surface``.

    ``git apply`` takes it on ``head_sha`` (on the index, where that is None) and makes ``tree`` of it. ``attempt``
    is the one whose judgement was about it.
    """

    surface: Surface
    attempt: int
    head_sha: str | None
    tree: str
    files: tuple[str, ...]
    patch: str


@dataclass(frozen=True, slots=True)
class OutcomeDocument:
    """One review, whole. The schema is versioned and exported (``config schema --outcome``).

    ``repository`` (``owner/name``) and ``pull_request`` (its number) say where it may be published; both are None for a
    change that is no pull request. ``base_sha`` and ``head_sha`` are a pull request's own: the tips of its branches.
    ``base_ref`` names its base branch, ``rules_ref`` and ``rules_sha`` the branch and the commit whose configuration
    held. ``unpriced`` is how many calls did not report their cost, or not that of each of their models. ``guidelines``
    are the team's own rules that apply to the change. ``secrets`` are all those on added lines, which everybody is
    shown masked.
    """

    schema_version: Literal[2]
    run_id: str
    label: str
    title: str
    base_sha: str | None
    head_sha: str | None
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    because: tuple[str, ...]
    exit_code: int
    flags: Flags
    policy: Policy
    surfaces: tuple[SurfaceRecord, ...]
    findings: tuple[Finding, ...]
    coverage: tuple[FileCoverage, ...]
    cut: tuple[str, ...]
    cost: tuple[RoleCost, ...]
    events: tuple[Event, ...]
    pictures: tuple[PictureDifference, ...] = ()
    repair: SuggestedRepair | None = None
    scope: Scope = WHOLE
    repository: str | None = None
    pull_request: int | None = None
    base_ref: str | None = None
    rules_ref: str | None = None
    rules_sha: str | None = None
    unpriced: int = 0
    guidelines: tuple[GuidelineFact, ...] = ()
    secrets: tuple[CommittedSecret, ...] = ()


def outcome_document(events: Sequence[Event]) -> OutcomeDocument:
    """The document of a review whose stream begins with ``PolicyFrozen`` and ends with ``ReviewEnded``."""
    first, last = events[0], events[-1]
    if not isinstance(first, PolicyFrozen) or not isinstance(last, ReviewEnded):
        raise TypeError("a review's events begin with PolicyFrozen and end with ReviewEnded")
    stream = Stream(events)
    surfaces = surface_records(first.policy, events)
    flags = _flags(first.policy, stream)
    return OutcomeDocument(
        schema_version=SCHEMA_VERSION,
        run_id=first.run_id,
        label=first.label,
        title=first.title,
        base_sha=first.base_sha,
        head_sha=first.head_sha,
        started_at=first.at,
        ended_at=last.at,
        outcome=last.outcome,
        because=last.because,
        exit_code=_exit_code(last.outcome, flags, first.policy),
        flags=flags,
        policy=first.policy,
        surfaces=surfaces,
        findings=_findings(surfaces),
        coverage=coverage(first, events),
        cut=first.cut,
        cost=role_costs(stream.only(CallEnded)),
        events=tuple(events),
        pictures=first.pictures,
        repair=None if last.outcome is Outcome.STOPPED else _repair(first, surfaces),
        scope=first.scope,
        repository=first.repository,
        pull_request=first.pull_request,
        base_ref=first.base_ref,
        rules_ref=first.rules_ref,
        rules_sha=first.rules_sha,
        unpriced=unpriced_calls(stream.only(CallEnded)),
        guidelines=first.guidelines,
        secrets=first.secrets,
    )


def answer_notes(document: OutcomeDocument) -> tuple[str, ...]:
    """What of the models' answers was cut, set right or too long, each with whose answer it was."""
    found: list[str] = []
    for event in document.events:
        if isinstance(event, CallEnded):
            found += [f"{_named(event)}: {note}" for note in event.notes]
        elif isinstance(event, Consulted):
            found += [f"{_named(event)}: {note}" for note in (*event.note.notes, event.note.overlong) if note]
    return tuple(dict.fromkeys(found))


def _repair(first: PolicyFrozen, surfaces: Iterable[SurfaceRecord]) -> SuggestedRepair | None:
    for surface in surfaces:
        for part in surface.parts:
            accepted = [each for each in part.repairs if each.result == "accepted"]
            if part.ended is not None and part.ended.repaired and accepted:
                made = accepted[-1]
                return SuggestedRepair(
                    surface.surface, part.ended.attempt, first.head_sha, made.tree, made.files, made.patch
                )
    return None


def _exit_code(outcome: Outcome, flags: Flags, policy: Policy) -> int:
    """The outcome's code; an approval that was not verified calls a human where ``fail_on`` says so."""
    unverified = flags.degraded or flags.advisor_disabled
    if outcome is Outcome.APPROVED and policy.fail_on_degraded and unverified:
        return EXIT_CODES[Outcome.ESCALATED]
    return EXIT_CODES[outcome]


def _flags(policy: Policy, stream: Stream) -> Flags:
    ended, calls = stream.only(PartEnded), unanswered(stream.only(CallEnded))
    unseen = any(each.report is None for each in stream.only(BlindJudged))
    return Flags(
        degraded=unseen or any(part.degraded for part in ended),
        advisor_disabled=policy.advisor_disabled,
        lost=tuple(dict.fromkeys(_named(call) for call in calls if call.ended in MISSING)),
        recovered=any(part.recovered for part in ended),
        exhausted=any(part.exhausted for part in ended),
    )


def _named(event: CallEnded | Consulted) -> str:
    blind = isinstance(event, CallEnded) and event.blind
    return f"{event.surface.value}/{who(event)}{' (blind)' if blind else ''}"


def _findings(surfaces: Iterable[SurfaceRecord]) -> tuple[Finding, ...]:
    """The findings of each part's last report. What several parts or surfaces say of one place is one finding."""
    return merged(
        finding
        for surface in surfaces
        for part in surface.parts
        for report in part.reports[-1:]
        for finding in confirmed_findings(report, _judged(part))
    )


def _judged(part: PartRecord) -> Attempt | None:
    """The judgement on a part's last report; None where there is none, or it does not count as the advisor's."""
    if part.rulings and part.rulings[-1].degraded:
        return None
    return next((each for each in part.post_verify if each.number == len(part.reports) - 1), None)


_VALUES: TypeAdapter[object] = TypeAdapter(object)
"""Writes any value; the adapter of the whole document, which is slow to make, is needed only to read one."""


@lru_cache(maxsize=1)
def outcome_types() -> TypeAdapter[OutcomeDocument]:
    """What reads the document, and writes the same JSON as ``outcome_json`` from its declared types."""
    return TypeAdapter(OutcomeDocument)


def outcome_json(document: OutcomeDocument) -> str:
    """The document as JSON text, two spaces deep, with a final line feed."""
    return _VALUES.dump_json(document, indent=2).decode("utf-8") + "\n"


def read_outcome(text: str | bytes) -> OutcomeDocument:
    """The document back from its JSON. Raises ``pydantic.ValidationError`` for anything else."""
    return outcome_types().validate_json(text)


def outcome_schema() -> dict[str, Any]:
    """The JSON schema of ``outcome.json``."""
    return outcome_types().json_schema()


@dataclass(frozen=True, slots=True)
class Spent:
    """Money as far as it was reported, in US dollars, and tokens of every kind.

    ``consult_tokens`` are those of ``advisor_tokens`` that consults used.
    """

    cost_usd: float
    executor_tokens: int
    advisor_tokens: int
    consult_tokens: int


def spent(calls: Iterable[CallEnded]) -> Spent:
    """What these calls used, whoever made them."""
    used = [each for call in calls for each in used_within(call)]
    return Spent(
        cost_usd=sum((each.usage.cost_usd or 0.0 for each in used), 0.0),
        executor_tokens=sum(tokens(each.usage) for each in used if each.role is Role.EXECUTOR),
        advisor_tokens=sum(tokens(each.usage) for each in used if each.role is not Role.EXECUTOR),
        consult_tokens=sum(tokens(each.usage) for each in used if each.role is Role.MID_FLIGHT),
    )


def unreported(call: CallEnded) -> Iterator[RoleCost]:
    """What was used within a call without a word about its cost, whoever made it."""
    return (used for used in used_within(call) if used.unpriced)


def knowledge_of(events: Sequence[Event]) -> tuple[Knowledge, ...]:
    """The entries of the last report on each part of the surfaces that teach."""
    last: dict[tuple[Surface, int], CheckedReport] = {}
    for event in events:
        if isinstance(event, Reported) and not event.structural and SURFACE_INPUTS[event.surface].teaches:
            last[event.surface, event.shard] = event.report
    return tuple(entry for key in sorted(last) for entry in last[key].knowledge)


def judgement_on(surface: Surface, events: Sequence[Event]) -> str:
    """Post-verify's last verdict on a surface, or why there is none."""
    verdicts = [
        event.judged.result.verdict for event in events if isinstance(event, Verified) and event.surface is surface
    ]
    if verdicts:
        return verdicts[-1]
    ended = [event for event in events if isinstance(event, PartEnded) and event.surface is surface]
    return "lost" if any(part.degraded for part in ended) else "not asked"


def finding_behind(entry: Knowledge, findings: Iterable[Finding]) -> str:
    """The id of the finding that taught an entry: one that it names, or else one on the lines that it quotes.

    Empty if no finding of these is either. An executor knows no ids, so mostly the quote tells.
    """
    there = tuple(findings)
    words = f"{entry.title}\n{entry.body}"
    last = entry.line + entry.evidence.count("\n")
    named = (each.id for each in there if cites(words, each.id))
    quoted = (
        each.id
        for each in there
        if each.path == entry.path and not each.removed and each.line <= last and entry.line <= each.end_line
    )
    return next(named, None) or next(quoted, "")


@dataclass(frozen=True, slots=True)
class CouncilRecord:
    """One vote of a council. Members are named by their ids."""

    surface: Surface
    attempt: int
    shard: int
    counted: Tally
    why_missing: tuple[tuple[str, str], ...]
    """Each missing member, and why it has no vote."""
    own: tuple[tuple[str, str], ...]
    """Members with their own fields as JSON."""
    of_each: tuple[tuple[str, Finding, str], ...]
    """A member's opinion of each finding of the executor."""
    silent_on: tuple[tuple[str, tuple[Finding, ...]], ...]
    """The findings on which a member has no opinion, though it is asked about each."""
    added: tuple[str, ...]
    """The members that ``added_by`` has added to this change."""
    added_by: str
    without_them: Tally
    """What the votes come to without the members that were added."""


def council_records(events: Sequence[Event]) -> tuple[CouncilRecord, ...]:
    """Each vote of the review in its order; none where one advisor judges alone."""
    first = events[0] if events else None
    if not isinstance(first, PolicyFrozen) or len(first.policy.roster.panel) <= 1:
        return ()
    rows = {row.surface: row for row in first.policy.surfaces}
    steps: dict[object, list[Step]] = {}
    for event in events:
        if isinstance(event, Step):
            steps.setdefault(event.place, []).append(event)
    found = (_record(first, rows[its[0].surface], its) for its in steps.values() if its[0].surface in rows)
    return tuple(each for each in found if each is not None)


def council_findings(events: Sequence[Event]) -> Agreement:
    """What members found, against the last report of each part; empty where one advisor judges alone.

    A member's findings count for the tree that they are about: after a repair those of the tree before say nothing.
    """
    first = events[0] if events else None
    if not isinstance(first, PolicyFrozen) or len(first.policy.roster.panel) <= 1:
        return Agreement()
    members = {asked_as(each): each for each in first.policy.roster.panel}
    lead: dict[object, tuple[Finding, ...]] = {}
    trees: dict[object, str] = {}
    reviews: dict[tuple[object, str, str], Reviewed] = {}
    for event in events:
        part = (event.surface, event.shard) if isinstance(event, Step) else None
        if isinstance(event, Reported):
            lead[part] = event.report.findings
        elif isinstance(event, Repaired) and event.result != "refused":
            trees[part] = event.tree if event.result == "accepted" else ""
        elif isinstance(event, MemberReviewed) and event.advisor in members:
            review = Reviewed(members[event.advisor], part, event.report.findings)
            reviews[part, trees.get(part, ""), event.advisor] = review
    present = tuple(each for (part, tree, _), each in reviews.items() if tree == trees.get(part, ""))
    return agreement(lead, present) if present else Agreement()


def _record(first: PolicyFrozen, row: SurfacePolicy, steps: Sequence[Step]) -> CouncilRecord | None:
    reports = [each.report for each in steps if isinstance(each, Reported)]
    ruled = any(isinstance(each, Ruled) for each in steps)
    if not reports or not ruled or not row.roles[Role.POST_VERIFY].runs:
        return None
    answers = [_member(each, row, steps) for each in first.policy.roster.panel]
    members = [each for each in answers if each is not None]
    lost = [(each.advisor.id, each.answer) for each in members]
    verdict, findings = reports[-1].verdict, reports[-1].findings
    votes = [(each.advisor, each.answer) for each in members if isinstance(each.answer, MemberVote)]
    asked = [
        (each.id, missing_instances((found.id for found in findings), vote.instances))
        for each, vote in votes
        if each.instanced
    ]
    added = [each.advisor for each in members if each.advisor.is_added]
    sources = (("a label", any(each.by_label for each in added)), ("the map of paths", any(e.by_path for e in added)))
    return CouncilRecord(
        surface=row.surface,
        attempt=steps[0].attempt,
        shard=steps[0].shard,
        counted=panel_tally(verdict, members),
        why_missing=tuple((name, _why(answer)) for name, answer in lost if isinstance(answer, Lost | Refused)),
        own=tuple((each.id, vote.own) for each, vote in votes if vote.own),
        of_each=tuple((each.id, found, opinion) for each, vote in votes for found, opinion in _of_each(findings, vote)),
        silent_on=tuple((name, tuple(each for each in findings if each.id in left)) for name, left in asked if left),
        added=tuple(each.id for each in added),
        added_by=" or ".join(words for words, holds in sources if holds),
        without_them=panel_tally(verdict, [each for each in members if not each.advisor.is_added]),
    )


def _of_each(findings: Sequence[Finding], vote: MemberVote) -> Iterator[tuple[Finding, str]]:
    """What a vote says of each finding. What it says of anything else is on the run page alone."""
    by_id = {each.id: each for each in findings}
    return ((by_id[each.instance], each.opinion) for each in vote.instances if each.instance in by_id)


def _member(member: Advisor, row: SurfacePolicy, steps: Iterable[Step]) -> MemberAnswer | None:
    """What a member gave at last; None if it was never asked."""
    advisor = asked_as(member)
    last: CallEnded | None = None
    vote: Voted | None = None
    for each in steps:
        if isinstance(each, CallEnded) and (each.role, each.advisor) == (Role.POST_VERIFY, advisor):
            last = each
        elif isinstance(each, Voted) and each.advisor == advisor:
            vote = each
    if last is None:
        return None
    if vote is not None:
        stands_in = last.requested_model != (member.model or row.advisor_model)
        return MemberAnswer(member, vote.vote, last.requested_model if stands_in else "")
    return MemberAnswer(member, why_unanswered(last) or Refused("money", last.detail))


def _why(answer: Lost | Refused) -> str:
    return f"lost: {answer.reason.value}" if isinstance(answer, Lost) else f"refused: {answer.reason}"


class Weighed(Protocol):
    """Anything with a severity."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""


Remark = TypeVar("Remark", bound=Weighed)


def in_the_way(findings: Iterable[Remark]) -> tuple[Remark, ...]:
    """The findings that a rejection rests on: all but the low ones, or those too where there are only low ones."""
    every = tuple(findings)
    return tuple(each for each in every if each.severity != "low") or every


def rejecting(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of one report that a rejection rests on.

    What the change did not bring, as the advisor confirms, is none of them, unless there is nothing else.
    """
    every = tuple(findings)
    return in_the_way([each for each in every if not each.pre_existing] or every)


def blocking_findings(document: OutcomeDocument) -> frozenset[str]:
    """The ids of the findings for which a part of the change is rejected.

    An approval is rejected for the secrets that the change commits.
    """
    before = {each.id for each in document.findings if each.pre_existing}
    return frozenset(
        identity for surface in document.surfaces for part in surface.parts for identity in _blocking(part, before)
    )


def _blocking(part: PartRecord, before: Collection[str]) -> frozenset[str]:
    rejections = [report.findings for report in part.reports[-1:] if report.verdict == "reject"]
    findings = (replace(each, pre_existing=each.id in before) for every in rejections for each in every)
    blocking = frozenset(each.id for each in rejecting(findings))
    if part.ended is not None and part.ended.outcome is Outcome.CHANGES_REQUESTED:
        approvals = (report for report in part.reports[-1:] if report.verdict == "approve")
        blocking |= {each.id for report in approvals for each in secrets_in_the_way(report)}
    return blocking
