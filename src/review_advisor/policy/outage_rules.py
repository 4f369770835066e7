"""How outages and rate limits are waited for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

WAIT_SECONDS = 60.0
"""After an outage the judge is asked once more: most outages are over by then."""


BUSY_TRIES = 3
"""The pauses are 15, 30 and 60 seconds: limits are per minute, so the last try comes after a whole quiet one."""


@dataclass(frozen=True, slots=True)
class OutageRules:
    """How long post-verify is waited for before it is asked once more, and which models may judge in its place.

    Without a wait it is not asked again. ``fallback_models`` are asked in their order, each once.
    ``busy_tries``: how often any call is made again that a rate limit or a failing server refused (``brake``).
    ``rate_limits``: what the loss of a judgement to a rate limit means for an approval, after those tries. The author
    of a change chooses its size and the number of pull requests, so it escalates; ``soft`` restores ADR-0059's rule.
    """

    wait_seconds: float = 0.0
    fallback_models: tuple[str, ...] = ()
    busy_tries: int = 0
    rate_limits: Literal["escalate", "soft"] = "escalate"


DEFAULT_OUTAGE_RULES = OutageRules(WAIT_SECONDS, busy_tries=BUSY_TRIES)


NO_SECOND_TRY = OutageRules()


@dataclass(frozen=True, slots=True)
class FurtherTry:
    """One more call for the same judgement: by which model, and how long to wait before it."""

    model: str
    wait_seconds: float


def further_tries(rules: OutageRules, model: str) -> tuple[FurtherTry, ...]:
    """What is tried after an outage took the answer of ``model``, in order."""
    again = (FurtherTry(model, rules.wait_seconds),) if rules.wait_seconds else ()
    return (*again, *(FurtherTry(each, 0.0) for each in fallbacks(rules, model)))


def fallbacks(rules: OutageRules, model: str) -> tuple[str, ...]:
    """The models that judge in the place of ``model``, each once."""
    return tuple(each for each in dict.fromkeys(rules.fallback_models) if each != model)


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
