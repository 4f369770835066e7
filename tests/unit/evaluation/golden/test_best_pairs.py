"""The best pairs are the best: held against every pairing there is."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.lab.matching import best_pairs

Worth = dict[tuple[int, int], int]
SMALL = st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 4)), st.integers(1, 9), max_size=20)


def by_trying_all(worth: Worth) -> int:
    """The most that any pairing of four rows with five columns, or with nothing, is worth."""
    places = permutations([*range(5), *[None] * 4], 4)
    return max(
        sum(worth.get((row, column), 0) for row, column in enumerate(place) if column is not None)
        for place in set(places)
    )


@given(SMALL)
def test_no_pairing_is_worth_more(worth: Worth) -> None:
    pairs = best_pairs(4, 5, worth)
    assert sum(worth[pair] for pair in pairs) == by_trying_all(worth)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)


@pytest.mark.parametrize("rows, columns", [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_where_nothing_may_be_paired_nothing_is(rows: int, columns: int) -> None:
    assert best_pairs(rows, columns, {}) == []


def test_a_row_gives_way_to_one_that_has_no_other_column() -> None:
    assert best_pairs(2, 2, {(0, 0): 9, (0, 1): 8, (1, 0): 5}) == [(0, 1), (1, 0)]
