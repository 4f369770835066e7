"""What a review that was played would have taken in another order of its calls: a model over its chain of calls."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from _latencies import Work
from _mix import Played, Step

from review_advisor.policy.surfaces import Role, Surface

HARNESS_SECONDS = 0.4
"""Export, ledger, imports and start, measured (``harness_time.py``)."""
LISTED_TOKENS = 300
"""The answer of a first look: the points that the advisor would object to."""
REPORT_TOKENS = 1_000
"""What a ruling's prompt has beside the change: the executor's report."""


@dataclass(frozen=True, slots=True)
class Order:
    """Which calls wait for which. The default is the order of fa025c7.

    ``places``: calls at a time. ``look``: the advisor looks at the change while the executor works (which takes no
    place), and rules when the report has come, with the change in the cache; ``again`` is the share of its reading and
    thinking that it then does once more. ``judge`` is the share of its reading, thinking and writing that the judge
    does. Three hold only where ``Played.free``: the executor waits for the plan no longer than ``patience`` seconds,
    with ``look_plans`` the look is the plan, and with ``unseen`` the advisor judges without the report, and once more
    if that has findings.
    """

    places: int = 1
    patience: float = math.inf
    look: bool = False
    again: float = 1.0
    look_plans: bool = False
    unseen: bool = False
    surfaces: bool = False
    judge: float = 1.0
    harness: float = HARNESS_SECONDS

    def waited(self, played: Played) -> float:
        """Seconds from the beginning of the review to its outcome."""
        each = [self._surface(played, steps) for steps in _surfaces(played.steps).values()]
        return self.harness + (max(each) if self.surfaces else sum(each))

    def alone(self, played: Played) -> float:
        """Seconds of the executor's first attempts, with as many calls at a time and nobody else."""
        firsts = _surfaces(step for step in played.steps if step.role is Role.EXECUTOR and step.attempt == 0)
        each = [_at_places([step.alone for step in steps], self.places) for steps in firsts.values()]
        return max(each) if self.surfaces else sum(each)

    def usd(self, played: Played) -> float:
        """What the review costs."""
        return sum(work.usd for step in played.steps for work in self._works(played, step)) + played.consults_usd

    def _surface(self, played: Played, steps: list[Step]) -> float:
        planned = sum(work.seconds for step in steps if _plans(step) for work in self._works(played, step))
        starts = min(planned, self.patience) if played.free else planned
        parts = [self._part(played, part, starts, planned) for part in _parts(steps)]
        return _at_places(parts, self.places, starts)

    def _part(self, played: Played, steps: list[Step], starts: float, planned: float) -> float:
        """Seconds of a part. Its judge waits for the plan, and for what the judge itself does beside the executor."""
        ends = starts
        for step in steps:
            if step.role is Role.EXECUTOR:
                ends += step.seconds
                continue
            works = self._works(played, step)
            if self._begins_early(played, step):
                ends = max(ends, starts + works[0].seconds)
                works = works[1:]
            ends = max(ends, planned) + sum(work.seconds for work in works)
        return ends - starts

    def _begins_early(self, played: Played, step: Step) -> bool:
        judges_first = step.role is Role.POST_VERIFY and step.attempt == 0
        return judges_first and (self.look or (self.unseen and played.free))

    def _works(self, played: Played, step: Step) -> tuple[Work, ...]:
        """The calls that this order makes in place of one that was played."""
        if self.look_plans and played.free and _plans(step):
            return ()
        work = step.work if step.role is not Role.POST_VERIFY else _scaled(step.work, self.judge)
        if not self._begins_early(played, step):
            return (work,)
        change = max(0, work.prompt - REPORT_TOKENS)
        again = replace(_scaled(work, self.again), answer=work.answer, cached=change)
        if self.look:
            return replace(work, prompt=change, answer=LISTED_TOKENS + self._planned_in(played)), again
        unseen = replace(work, prompt=change)
        return (unseen, again) if played.found else (unseen,)

    def _planned_in(self, played: Played) -> int:
        """Tokens of the plan that a look gives besides."""
        return sum(step.work.answer for step in played.steps if _plans(step)) if self.look_plans and played.free else 0


def _scaled(work: Work, share: float) -> Work:
    return replace(
        work,
        files=round(work.files * share),
        thinking=round(work.thinking * share),
        answer=round(work.answer * share),
    )


def _plans(step: Step) -> bool:
    return step.role is Role.PRE_FLIGHT


def _surfaces(steps: Iterable[Step]) -> dict[Surface, list[Step]]:
    return {surface: list(its) for surface, its in groupby(steps, lambda step: step.surface)}


def _parts(steps: Iterable[Step]) -> Iterator[list[Step]]:
    judged = sorted((step for step in steps if not _plans(step)), key=lambda step: step.part)
    return (list(its) for _, its in groupby(judged, lambda step: step.part))


def _at_places(seconds: Sequence[float], places: int, starts: float = 0.0) -> float:
    """When the last of these ends, begun in their order from ``starts`` on, so many at a time."""
    free = [starts] * places
    for each in seconds:
        heapq.heappush(free, heapq.heappop(free) + each)
    return max(free)
