"""The journal: every event goes to every subscriber, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from review_advisor.core.outcome.events import Event


class FanOut:
    """Hands each event to all subscribers, in the thread where it happened."""

    def __init__(self, subscribers: Sequence[Callable[[Event], None]]) -> None:
        self._subscribers = tuple(subscribers)

    def record(self, event: Event) -> None:
        """Give ``event`` to everyone."""
        for subscriber in self._subscribers:
            subscriber(event)
