"""What is tried again after an outage: a call that met a rate limit, and a judge before its approval is degraded."""

from __future__ import annotations

from dataclasses import dataclass

WAIT_SECONDS = 60.0
BUSY_TRIES = 3
"""The pauses are 15, 30 and 60 seconds: limits are per minute, so the last try comes after a whole quiet one."""
MOST_BUSY_TRIES = 20


@dataclass(frozen=True, slots=True)
class OutageRules:
    """How long post-verify is waited for before it is asked once more, and which models may judge in its place.

    Without a wait it is not asked again. ``fallback_models`` are asked in their order, each once.
    ``busy_tries``: how often any call is made again that a rate limit or a failing server refused (``brake``).
    """

    wait_seconds: float = 0.0
    fallback_models: tuple[str, ...] = ()
    busy_tries: int = 0


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
