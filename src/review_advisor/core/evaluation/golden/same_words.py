"""How alike a text is to others by its words, without the words that every text has: the likeness of ADR-0127."""

from __future__ import annotations

import re
from collections.abc import Sequence

from review_advisor.core.evaluation.text_clusters import likeness, weights

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


def alike_by_words(text: str, others: Sequence[str]) -> tuple[float, ...]:
    """The likeness of ``text`` to each other one: from 0, no word in common, to 1, the same words.

    A word counts the more, the fewer of these texts have it. No further text makes a difference.
    """
    mine, *its = weights([_telling_words(each) for each in (text, *others)])
    return tuple(likeness(mine, each) for each in its)


def _telling_words(text: str) -> str:
    return " ".join(word for word in _WORD.findall(text[:LONGEST]) if word.casefold() not in _COMMON)
