"""``outcome.json``: the whole review as one document, computed from its events and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter

from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.outcome.cost import RoleCost, role_costs
from review_advisor.core.outcome.coverage import FileCoverage, coverage
from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    Consulted,
    Event,
    KnowledgeStored,
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
    Verified,
)
from review_advisor.core.outcome.outcomes import EXIT_CODES, Outcome
from review_advisor.core.outcome.rulings import Ruling
from review_advisor.core.policy.policy import Policy
from review_advisor.core.policy.scope import WHOLE, Scope
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.roles.answers import ReviewPlan
from review_advisor.core.roles.evidence import CheckedReport, Finding
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.transcript import Attempt

SCHEMA_VERSION: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class Flags:
    """What a reader must not overlook. ``lost``: ``surface/role`` of answers that did not come."""

    degraded: bool
    advisor_disabled: tuple[str, ...]
    lost: tuple[str, ...]
    recovered: bool
    exhausted: bool


@dataclass(frozen=True, slots=True)
class PartRecord:
    """One part of a surface: its reports, consults, judgements and rulings, in order.

    ``blind`` is what the executor said of the diff alone, before all reports; None where it was not asked.
    """

    shard: int
    reports: tuple[CheckedReport, ...]
    consults: tuple[ConsultNote, ...]
    post_verify: tuple[Attempt, ...]
    rulings: tuple[Ruling, ...]
    ended: PartEnded | None
    repairs: tuple[Repaired, ...] = ()
    blind: BlindJudged | None = None


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
    ``base_ref`` names its base branch; None also in a document that was written before this was kept.
    """

    schema_version: Literal[1]
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


Kind = TypeVar("Kind")


class _Stream:
    """Events by their kind, in order: a review has many, and nearly every field of the document asks for some."""

    def __init__(self, events: Iterable[object]) -> None:
        self._by_kind: dict[type, list[Any]] = {}
        for event in events:
            self._by_kind.setdefault(type(event), []).append(event)

    def only(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The events of one kind."""
        return tuple(self._by_kind.get(kind, ()))


def outcome_document(events: Sequence[Event]) -> OutcomeDocument:
    """The document of a review whose stream begins with ``PolicyFrozen`` and ends with ``ReviewEnded``."""
    first, last = events[0], events[-1]
    if not isinstance(first, PolicyFrozen) or not isinstance(last, ReviewEnded):
        raise TypeError("a review's events begin with PolicyFrozen and end with ReviewEnded")
    stream = _Stream(events)
    surfaces = _surfaces(first.policy, events, stream)
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
    )


def _repair(first: PolicyFrozen, surfaces: Iterable[SurfaceRecord]) -> SuggestedRepair | None:
    for surface in surfaces:
        for part in surface.parts:
            if part.ended is not None and part.ended.repaired:
                made = next(each for each in reversed(part.repairs) if each.result == "accepted")
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


def _flags(policy: Policy, stream: _Stream) -> Flags:
    ended, calls = stream.only(PartEnded), stream.only(CallEnded)
    unseen = any(each.report is None for each in stream.only(BlindJudged))
    return Flags(
        degraded=unseen or any(part.degraded for part in ended),
        advisor_disabled=policy.advisor_disabled,
        lost=tuple(dict.fromkeys(_question(call) for call in calls if _is_lost(call, calls))),
        recovered=any(part.recovered for part in ended),
        exhausted=any(part.exhausted for part in ended),
    )


def _question(call: CallEnded) -> str:
    return f"{call.surface.value}/{call.role.value}{' (blind)' if call.blind else ''}"


def _same_question(one: CallEnded, other: CallEnded) -> bool:
    same = (one.surface, one.role, one.shard, one.attempt) == (other.surface, other.role, other.shard, other.attempt)
    return same and one.blind is other.blind


def _is_lost(call: CallEnded, calls: Sequence[CallEnded]) -> bool:
    """Lost or refused for good: no repair ask brought the answer after all."""
    if call.ended not in ("lost", "refused", "cut_short"):
        return False
    return not any(_same_question(call, other) and other.ended == "answered" for other in calls)


def _surfaces(policy: Policy, events: Iterable[Event], stream: _Stream) -> tuple[SurfaceRecord, ...]:
    steps: dict[Surface, list[Step]] = {row.surface: [] for row in policy.surfaces}
    for event in events:
        if isinstance(event, Step) and event.surface in steps:
            steps[event.surface].append(event)
    ended: dict[Surface, SurfaceEnded] = {}
    for each in stream.only(SurfaceEnded):
        ended.setdefault(each.surface, each)
    return tuple(_surface(surface, its, ended.get(surface)) for surface, its in steps.items())


def _surface(surface: Surface, steps: Sequence[Step], ended: SurfaceEnded | None) -> SurfaceRecord:
    stream = _Stream(steps)
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
    stream = _Stream(steps)
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
    )


def _findings(surfaces: Iterable[SurfaceRecord]) -> tuple[Finding, ...]:
    """The findings of each part's last report, each id once."""
    found: dict[str, Finding] = {}
    for surface in surfaces:
        for part in surface.parts:
            for finding in part.reports[-1].findings if part.reports else ():
                found.setdefault(finding.id, finding)
    return tuple(found.values())


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
