"""How far a score of few pull requests can be from the true one: they are drawn again and again, by repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple, TypeVar

from review_advisor.core.evaluation.judged_change import Draw
from review_advisor.core.evaluation.scores import Score

TAIL = 0.025
Option = TypeVar("Option")


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


def f1_of(scores: Sequence[Score], samples: Sequence[Sequence[int]]) -> list[float]:
    """The F1 of each sample."""
    right = [each.right for each in scores]
    both = [each.shown + each.golden for each in scores]
    return [
        2 * sum(right[place] for place in sample) / (sum(both[place] for place in sample) or 1) for sample in samples
    ]


def chosen_elsewhere(repositories: Sequence[str], options: Mapping[Option, Sequence[Score]]) -> dict[str, Option]:
    """For each repository the option with the best F1 on all others: nothing is tuned on what it is tested on.

    ``options``: the scores of each, one for each pull request. The first of equals is chosen.
    """
    return {
        held_out: max(options, key=lambda option: _f1_without(held_out, repositories, options[option]))
        for held_out in dict.fromkeys(repositories)
    }


def _f1_without(held_out: str, repositories: Sequence[str], scores: Sequence[Score]) -> float:
    others = (score for score, repository in zip(scores, repositories, strict=True) if repository != held_out)
    return sum(others, Score()).f1
