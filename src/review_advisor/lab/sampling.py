"""Samples of what was reviewed, and the middle of what they come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import NamedTuple

Draw = Callable[[int], int]
"""A number from 0 to below the one that is given, by chance; the same ones again for the same seed."""

TAIL = 0.025


class Middle(NamedTuple):
    """The middle 95% of what was drawn."""

    low: float
    high: float


def middle(values: Sequence[float], tail: float = TAIL) -> Middle:
    """From the value that 2.5% are below to the one that 2.5% are above, or another ``tail``."""
    ordered = sorted(values)
    cut = ceil(tail * len(ordered)) - 1
    return Middle(ordered[max(cut, 0)], ordered[-1 - max(cut, 0)])


def resamples(repositories: Sequence[str], times: int, draw: Draw) -> list[list[int]]:
    """So many samples of the places of pull requests: of each repository as many as it has, with repetitions."""
    strata: dict[str, list[int]] = {}
    for place, repository in enumerate(repositories):
        strata.setdefault(repository, []).append(place)
    return [[each[draw(len(each))] for each in strata.values() for _ in each] for _ in range(times)]
