"""``outcome.json``: the whole review as one document, computed from its events and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from pydantic import TypeAdapter

from review_advisor.core.answers.committed_secrets import CommittedSecret
from review_advisor.core.answers.findings import Finding, merged
from review_advisor.core.facts.guidelines import GuidelineFact
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.outcome.cost import RoleCost, ShadowCost, role_costs, unpriced_calls
from review_advisor.core.outcome.coverage import FileCoverage, coverage
from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    Consulted,
    Ended,
    Event,
    PartEnded,
    PolicyFrozen,
    ReviewEnded,
)
from review_advisor.core.outcome.outcomes import EXIT_CODES, Outcome
from review_advisor.core.outcome.pre_existing import confirmed_findings
from review_advisor.core.outcome.questions import unanswered, who
from review_advisor.core.outcome.surface_records import PartRecord, Stream, SurfaceRecord, surface_records
from review_advisor.core.policy.policy import Policy
from review_advisor.core.policy.scope import WHOLE, Scope
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.roles.transcript import Attempt

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
    held; None also in a document that was written before this was kept. ``unpriced`` is how many calls did not report
    their cost, or not that of each of their models. ``guidelines`` are the team's own rules that apply to the change.
    ``shadows`` is what ran in shadow after the end, and what it cost: the one field that follows from no event.
    ``secrets`` are all those on added lines, which everybody is shown masked.
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
    shadows: tuple[ShadowCost, ...] = ()
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
