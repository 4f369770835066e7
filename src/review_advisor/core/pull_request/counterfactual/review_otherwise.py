"""A stored review, decided once more under other rules: the same answers, the same functions that decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from review_advisor.core.outcome.cost import counted_money
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document
from review_advisor.core.outcome.ends import Ending, NotRun, join_parts, join_review, why_not_run
from review_advisor.core.outcome.events import (
    Event,
    PartEnded,
    PolicyFrozen,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    SurfaceEnded,
)
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.replayed.steps_in_order import Unsound
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.pull_request.counterfactual.other_prices import at_other_prices
from review_advisor.core.pull_request.counterfactual.other_rules import OtherRules, asked_otherwise
from review_advisor.core.pull_request.counterfactual.part_otherwise import STOPPED_ELSEWHERE, PartOtherwise
from review_advisor.core.pull_request.counterfactual.would_ask import Unknown, WantedQuestion, WouldAsk


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A review under other rules: its document, or None with each thing that its events cannot tell.

    ``questions`` would have to be asked to know it: those of the reason that has the most, as reasons overlap.
    """

    document: OutcomeDocument | None
    unknown: tuple[str, ...] = ()
    questions: tuple[WantedQuestion, ...] = ()


def decided_otherwise(document: OutcomeDocument, other: OtherRules) -> Otherwise:
    """What the answers of a stored review lead to under ``other`` rules. Asks nobody, and never raises for events."""
    first, *inner = document.events
    if not isinstance(first, PolicyFrozen) or not inner:
        return Otherwise(None, ("its events are not those of a review",))
    unknown: list[Unknown] = []
    told: list[Event] = inner
    if other.prices is not None:
        told, unpriced = at_other_prices(inner, other.prices)
        unknown += unpriced
    unknown += asked_otherwise(first, told, other, paid_before=counted_money(inner).usd)
    events: list[Event] = []
    try:
        events = _Review(first, told, other).events()
    except WouldAsk as asked:
        unknown.append(asked.unknown)
    except Unsound as doubt:
        unknown.append(Unknown(f"its events are not those of a review of this version: {doubt}"))
    if unknown:
        reasons = tuple(dict.fromkeys(each.why for each in unknown))
        return Otherwise(None, reasons, max((each.questions for each in unknown), key=len))
    return Otherwise(outcome_document(events))


class _Review:
    def __init__(self, first: PolicyFrozen, inner: Sequence[Event], other: OtherRules) -> None:
        self._first, self._inner, self._other = first, inner, other
        self._stop = next((each for each in inner if isinstance(each, ReviewStopped)), None)
        self._kept: dict[int, Event] = {id(each): each for each in inner if not isinstance(each, Step)}
        self._changed = False

    def events(self) -> list[Event]:
        """The events under the other rules, in their recorded order."""
        ends = self._surfaces()
        if self._stop is not None and self._changed:
            raise WouldAsk(STOPPED_ELSEWHERE)
        stop = None if self._stop is None else self._stop.detail
        due = join_review(ends, self._first.files, self._first.unsent, stop)
        last = self._inner[-1]
        if not isinstance(last, ReviewEnded):
            raise Unsound("a review has no end")
        if self._changed:
            self._kept[id(last)] = replace(last, outcome=due.outcome, because=due.because)
        first = replace(self._first, policy=self._other.policy(self._first.policy, self._first))
        return [first, *(self._kept[id(each)] for each in self._inner if id(each) in self._kept)]

    def _surfaces(self) -> list[Ending]:
        ends: list[Ending] = []
        for row in self._first.policy.surfaces:
            its = [each for each in self._inner if isinstance(each, Step) and each.surface is row.surface]
            so_far = join_review(ends, self._first.files, self._first.unsent, None)
            not_run = why_not_run(row, so_far, guarded=self._first.policy.guard.holds) if ends else None
            if not_run is not None:
                ending = not_run.ending
                self._leave_out(its, not_run)
            elif not its:
                continue
            elif [(each.role if isinstance(each, RoleSkipped) else None) for each in its] == [Role.EXECUTOR]:
                raise WouldAsk(f"{row.surface.value} would have run")
            else:
                ending = self._ran(row, its)
            if ending is None:
                continue
            self._told(row, ending)
            ends.append(ending)
            if ending.outcome is Outcome.STOPPED:
                break
        return ends

    def _ran(self, row: SurfacePolicy, its: Sequence[Step]) -> Ending | None:
        parts: dict[int, list[Step]] = {}
        for step in its:
            parts.setdefault(step.shard, []).append(step)
        ended: list[PartEnded] = []
        for shard in sorted(parts):
            part = PartOtherwise(self._first, row, self._other, parts[shard], stopped=self._stop is not None)
            end = part.otherwise()
            self._changed = self._changed or part.changed
            self._kept |= part.events  # type: ignore[arg-type]
            if end is None:
                self._kept |= {id(each): each for each in parts[shard]}  # type: ignore[misc]
                continue
            ended.append(end)
        return join_parts(ended) if len(ended) == len(parts) else None

    def _leave_out(self, its: Sequence[Step], not_run: NotRun) -> None:
        """One step says that a surface does not run; what it would have said and decided, it does not."""
        if not its:
            return
        if [(each.role if isinstance(each, RoleSkipped) else None) for each in its] == [Role.EXECUTOR]:
            self._kept |= {id(each): each for each in its}  # type: ignore[misc]
            return
        self._changed = True
        skipped = RoleSkipped(
            at=its[0].at,
            surface=its[0].surface,
            role=Role.EXECUTOR,
            because=(not_run.because,),
            disabled_by=not_run.disabled_by,
        )
        self._kept[id(its[0])] = skipped
        if not_run.ending is None:
            for each in self._inner:
                if isinstance(each, SurfaceEnded) and each.surface is its[0].surface:
                    del self._kept[id(each)]

    def _told(self, row: SurfacePolicy, ending: Ending) -> None:
        for each in self._inner:
            if isinstance(each, SurfaceEnded) and each.surface is row.surface and self._changed:
                self._kept[id(each)] = replace(each, outcome=ending.outcome, because=ending.because)
