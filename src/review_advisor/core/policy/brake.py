"""How a rate limit slows all calls of a review down, instead of losing the one that met it."""

from __future__ import annotations

from dataclasses import dataclass, replace

FIRST_PAUSE_SECONDS = 15.0
LONGEST_PAUSE_SECONDS = 240.0
_PLACE_SECONDS = 1.0
"""How long a call waits that finds all places taken, before it looks again."""


@dataclass(frozen=True, slots=True)
class Brake:
    """How many calls may run at a time, and the moment before which none may start. All calls of a review share it.

    ``most`` is how many run while nothing limits them, ``pause`` how long the next pause is.
    """

    most: int
    places: int
    not_before: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS

    def pulled(self, began: float, now: float) -> Brake:
        """After a call that ``began`` then met a rate limit: half as many at a time, after a pause.

        Calls that began before the last pause was over met the same limit, so they pull it no further.
        """
        if began < self.not_before:
            return self
        longer = min(LONGEST_PAUSE_SECONDS, 2 * self.pause)
        return replace(self, places=max(1, self.places // 2), not_before=now + self.pause, pause=longer)

    def eased(self, began: float) -> Brake:
        """After a call that ``began`` then got its answer: one more at a time, and a short pause the next time."""
        if began < self.not_before or self.places == self.most:
            return self
        return replace(self, places=self.places + 1, pause=FIRST_PAUSE_SECONDS)

    def delay(self, now: float, running: int) -> float:
        """How long a call waits before it looks again whether it may start beside ``running`` others; 0 to start."""
        if now < self.not_before:
            return self.not_before - now
        return _PLACE_SECONDS if running >= self.places else 0.0
