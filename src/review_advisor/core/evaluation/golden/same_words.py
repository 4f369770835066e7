"""How alike a text is to others by its words, without the words that every text has: the likeness of ADR-0127."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, sqrt

from review_advisor.core.evaluation.text_clusters import terms_of

Terms = Mapping[str, int]
_WORD = re.compile(r"\w+")
_COMMON = frozenset(
    """
    a an and are as at be been being but by can cannot could does do for from had has have how if in into is it its may
    might must no not of on one only or other should so such than that the their them then there these they this those
    to too under was were what when where which while who why will with would you your
    """.split()  # noqa: SIM905 (a list of words reads best as words)
)


LONGEST = 2_000
"""Characters of a text whose words count: what a remark is about stands at its beginning."""


class KnownTexts:
    """Texts that many others are held against: whatever does not depend on those is counted once."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [_counted(each) for each in texts]
        having = Counter(term for terms in counted for term in terms)
        self._texts = len(texts)
        alone = {term: self._weight(number) for term, number in having.items()}
        self._squares = [_square(terms, alone) for terms in counted]
        # Where the other text has a term as well, it is less rare.
        self._weights = {term: self._weight(number + 1) for term, number in having.items()}
        self._places: dict[str, list[tuple[int, int, float]]] = {term: [] for term in having}
        for place, terms in enumerate(counted):
            for term, number in terms.items():
                self._places[term].append((place, number, number * number * (alone[term] - self._weights[term])))

    def alike(self, text: str) -> tuple[float, ...]:
        """The likeness of ``text`` to each: from 0, no word in common, to 1, the same words.

        A word counts the more, the fewer of these texts have it. No further text makes a difference.
        """
        mine = _counted(text)
        square = _square(mine, {term: self._weight(1) for term in mine} | self._weights)
        both, squares = [0.0] * self._texts, list(self._squares)
        for term, times in mine.items():
            weight = times * self._weights.get(term, 0.0)
            for place, number, rarer in self._places.get(term, ()):
                both[place] += weight * number
                squares[place] -= rarer
        return tuple(
            sqrt(min(1.0, common / sqrt(square * its))) if common else 0.0
            for common, its in zip(both, squares, strict=True)
        )

    def _weight(self, having: int) -> float:
        """The square of how rare a term is that so many of these texts have, the other one among them."""
        return float((log((2 + self._texts) / (1 + having)) + 1) ** 2)


def _square(terms: Terms, weights: Mapping[str, float]) -> float:
    return sum(number * number * weights[term] for term, number in terms.items())


def _counted(text: str) -> Terms:
    telling = (word for word in _WORD.findall(text[:LONGEST]) if word.casefold() not in _COMMON)
    return Counter(terms_of(" ".join(telling)))
