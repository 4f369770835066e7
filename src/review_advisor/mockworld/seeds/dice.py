"""Chance, from a seed. Only ``Random.random`` is drawn from: Python promises its sequence for good."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")


class Dice:
    """All chance of one world."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random  # noqa: S311 (a simulation wants to be repeated, not secret)

    def chance(self, probability: float) -> bool:
        """True in that share of cases."""
        return self._random() < probability

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, things: Sequence[Thing]) -> Thing:
        """One of them."""
        return things[int(self._random() * len(things))]

    def weighted(self, things: Sequence[tuple[Thing, float]]) -> Thing:
        """One of them, by weight."""
        total = 0.0
        for _, weight in things:
            total += weight
        at = self._random() * total
        for thing, weight in things:
            at -= weight
            if at < 0:
                return thing
        return things[-1][0]
