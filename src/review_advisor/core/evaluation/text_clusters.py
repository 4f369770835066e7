"""Which findings say the same, by their words alone: for recorded reviews that have no places.

The likeness of two texts is the root of the cosine of their TF-IDF weights over words and pairs of words. A name such
as ``readAll`` counts as its parts and as a whole. Clusters join by average likeness. Nothing here reads a label.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt

Weights = Mapping[str, float]
Cluster = tuple[int, ...]
"""The places of findings that say the same, in order."""
_NAME = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class Joined:
    """Two clusters became one at this likeness; ``one`` and ``other`` are the first places in them."""

    likeness: float
    one: int
    other: int


def weights(texts: Sequence[str]) -> tuple[Weights, ...]:
    """The weights of each text: a term counts the more, the fewer of ``texts`` have it. Each has the length one."""
    counted = [Counter(terms_of(text)) for text in texts]
    having = Counter(term for terms in counted for term in terms)
    rarity = {term: log((1 + len(texts)) / (1 + number)) + 1 for term, number in having.items()}
    weighed = [{term: number * rarity[term] for term, number in terms.items()} for terms in counted]
    lengths = [sqrt(sum(weight * weight for weight in each.values())) for each in weighed]
    return tuple(
        {term: weight / length for term, weight in each.items()} for each, length in zip(weighed, lengths, strict=True)
    )


def likeness(one: Weights, other: Weights) -> float:
    """From 0, no term in common, to 1, the same terms."""
    few, many = sorted((one, other), key=len)
    return sqrt(min(1.0, sum(weight * many.get(term, 0.0) for term, weight in few.items())))


def joined(texts: Sequence[Weights], floor: float) -> tuple[Joined, ...]:
    """How clusters join, the most alike first, while they are alike by ``floor`` on average."""
    alike = {
        one: {other: likeness(texts[one], texts[other]) for other in range(len(texts)) if other != one}
        for one in range(len(texts))
    }
    sizes = dict.fromkeys(alike, 1)
    steps: list[Joined] = []
    while len(alike) > 1:
        closest, one, other = max(
            (alike[one][other], -one, -other) for one in alike for other in alike[one] if one < other
        )
        if closest < floor:
            break
        steps.append(Joined(closest, -one, -other))
        _join(alike, sizes, -one, -other)
    return tuple(steps)


def _join(alike: dict[int, dict[int, float]], sizes: dict[int, int], one: int, other: int) -> None:
    """The cluster ``other`` becomes a part of ``one``."""
    mine, its = sizes[one], sizes.pop(other)
    gone = alike.pop(other)
    for third, its_own in alike.items():
        its_own.pop(other)
        if third != one:
            alike[one][third] = its_own[one] = (mine * its_own[one] + its * gone[third]) / (mine + its)
    sizes[one] = mine + its


def clusters(number: int, steps: Sequence[Joined], at: float) -> tuple[Cluster, ...]:
    """The clusters of ``number`` findings that were joined at the likeness ``at`` or above."""
    members = {place: [place] for place in range(number)}
    for step in steps:
        if step.likeness >= at:
            members[step.one] += members.pop(step.other)
    return tuple(tuple(sorted(each)) for each in members.values())


def terms_of(text: str) -> list[str]:
    """Its words, each part of a name and the name, and each pair of words that follow one another."""
    parts = [[part.lower() for part in _PART.findall(name)] for name in _NAME.findall(text)]
    words = [part for name in parts for part in name]
    whole = ["".join(name) for name in parts if len(name) > 1]
    return [*words, *whole, *(f"{first} {second}" for first, second in pairwise(words))]
