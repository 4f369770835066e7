"""The events of one part, taken one after the other in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeVar

from review_advisor.core.outcome.events import CallEnded, CallStarted, PartEnded
from review_advisor.core.outcome.replayed.replayed_advice import Unsound
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.roster.advisor import VOICES

Kind = TypeVar("Kind", bound=Step)
OUT_OF_PLACE = "an event is missing, appears twice or is out of place"


class CutShort(Exception):  # noqa: N818 (what happened to the part)
    """The events of the part end here, because a stop ended the review."""


class StepsInOrder:
    """What is left of a part's events. ``stopped``: a stop ended the review, so that they may end anywhere."""

    def __init__(self, steps: Sequence[Step], *, stopped: bool) -> None:
        self._steps = deque(steps)
        self._stopped = stopped
        self._attempt = 0

    def _next(self) -> Step | None:
        return self._steps[0] if self._steps else None

    def _next_but(self, kind: type[Step]) -> Step | None:
        """The next event that is not of this kind."""
        return next((each for each in self._steps if not isinstance(each, kind)), None)

    def _is_over(self) -> bool:
        """Whether nobody judges any more: the part ends here, or its inline members speak before it does."""
        told = self._next()
        speaks = isinstance(told, CallStarted | CallEnded) and told.advisor == VOICES
        return speaks or isinstance(told, PartEnded)

    def _may_be_cut_short(self) -> None:
        """Raise ``CutShort`` where a stop ended the review at this place."""
        if self._stopped and not self._steps:
            raise CutShort

    def _take(self, kind: type[Kind]) -> Kind:
        """The next event, which has to be of this kind and of the present attempt."""
        self._may_be_cut_short()
        told = self._next()
        if not isinstance(told, kind) or told.attempt != self._attempt:
            raise Unsound(OUT_OF_PLACE)
        self._steps.popleft()
        return told

    def _every(self, kind: type[Kind]) -> list[Kind]:
        found = []
        while isinstance(self._next(), kind):
            found.append(self._take(kind))
        return found
