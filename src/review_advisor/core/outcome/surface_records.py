"""What the events of a review say of each of its surfaces, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from review_advisor.core.answers.answers import ReviewPlan
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.outcome.events import (
    BlindJudged,
    Consulted,
    Event,
    KnowledgeStored,
    PartEnded,
    Planned,
    Repaired,
    Reported,
    RoleSkipped,
    Ruled,
    SurfaceEnded,
    UnfoundedRejection,
    Verified,
)
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.rulings import Ruling
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.outcome.steps.voteless_events import Challenged
from review_advisor.core.policy.policy import Policy
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.transcript import Attempt


@dataclass(frozen=True, slots=True)
class PartRecord:
    """One part of a surface: its reports, consults, judgements and rulings, in order.

    ``blind`` is what the executor said of the diff alone, before all reports; None where it was not asked.
    ``unfounded`` are the rejections without a finding that stands, each of which was asked once more.
    ``challenges`` are the answers of the refuter.
    """

    shard: int
    reports: tuple[CheckedReport, ...]
    consults: tuple[ConsultNote, ...]
    post_verify: tuple[Attempt, ...]
    rulings: tuple[Ruling, ...]
    ended: PartEnded | None
    repairs: tuple[Repaired, ...] = ()
    blind: BlindJudged | None = None
    unfounded: tuple[UnfoundedRejection, ...] = ()
    challenges: tuple[Challenged, ...] = ()


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
        challenges=stream.only(Challenged),
    )
