"""One review's events in an order that no timing changes: those of each part together, one part after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise

from review_advisor.core.outcome.events import CallEnded, CallStarted, Event
from review_advisor.core.outcome.steps.happened import OfCall


@dataclass(slots=True, eq=False)
class Lane:
    """The events of one of several pieces of work that are done side by side. They wait for all lanes before it.

    ``after`` is the lane that comes next; ``around`` is that of the work which handed these pieces out, if any.
    """

    around: Lane | None
    held: list[Event] = field(default_factory=list)
    is_next: bool = False
    is_over: bool = False
    after: Lane | None = None


class EventStream:
    """Hands each event to ``tell`` once its turn has come. Used from several threads, of which one at a time tells.

    The events of work that is done side by side come out in the order of the work, and the calls are numbered in that
    order, from 1. So the same answers make the same stream, whichever came first.
    """

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._lock = threading.RLock()
        self._here = threading.local()
        self._numbers: dict[int, int] = {}

    def record(self, event: Event) -> None:
        """Take one event of the work that this thread does."""
        with self._lock:
            self._pass_on(getattr(self._here, "lane", None), event)

    def lanes(self, count: int) -> tuple[Lane, ...]:
        """A lane for each piece of work that this thread hands to others, in the order of their events."""
        around: Lane | None = getattr(self._here, "lane", None)
        made = tuple(Lane(around, is_next=place == 0) for place in range(count))
        for lane, after in pairwise(made):
            lane.after = after
        return made

    @contextmanager
    def within(self, lane: Lane) -> Iterator[None]:
        """While this thread does the work of ``lane``; afterwards the lane is over."""
        outside = getattr(self._here, "lane", None)
        self._here.lane = lane
        try:
            yield
        finally:
            self._here.lane = outside
            with self._lock:
                self._end(lane)

    def _end(self, lane: Lane) -> None:
        lane.is_over = True
        following: Lane | None = lane
        while following is not None and following.is_next and following.is_over:
            following = following.after
            if following is not None:
                following.is_next = True
                held, following.held = following.held, []
                for event in held:
                    self._pass_on(following, event)

    def _pass_on(self, lane: Lane | None, event: Event) -> None:
        if lane is None:
            self._tell(self._numbered(event))
        elif lane.is_next:
            self._pass_on(lane.around, event)
        else:
            lane.held.append(event)

    def _numbered(self, event: Event) -> Event:
        if not isinstance(event, OfCall) or not event.number:
            return event
        number = self._numbers.setdefault(event.number, len(self._numbers) + 1)
        if isinstance(event, CallStarted | CallEnded) and event.asks_again:
            asks_again = self._numbers[event.asks_again]
            if (number, asks_again) != (event.number, event.asks_again):
                return replace(event, number=number, asks_again=asks_again)
            return event
        return event if number == event.number else replace(event, number=number)
