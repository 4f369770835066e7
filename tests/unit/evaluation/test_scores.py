"""How findings are counted: one to one, and of all pull requests at once."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from review_advisor.lab.recorded_reviews import Score, pooled, strict

NONE: frozenset[int] = frozenset()
BOTH = frozenset({0, 1})
ORDERS = list(permutations(range(3)))


def test_a_finding_that_says_two_golden_comments_counts_for_one() -> None:
    assert strict([BOTH], 2) == Score(right=1, shown=1, golden=2)


def test_a_second_finding_for_the_same_comment_is_wrong() -> None:
    assert strict([frozenset({0}), frozenset({0})], 1) == Score(right=1, shown=2, golden=1)


def test_a_finding_gives_way_where_it_has_another_comment() -> None:
    assert strict([BOTH, frozenset({0})], 2).right == 2


@pytest.mark.parametrize("matches", list(product((NONE, frozenset({0}), frozenset({1, 2}), BOTH), repeat=3)))
def test_no_pairing_has_more_pairs(matches: tuple[frozenset[int], ...]) -> None:
    pairings = ([comment in said for said, comment in zip(matches, order, strict=True)] for order in ORDERS)
    assert strict(matches, 3).right == max(map(sum, pairings))


def test_shares_are_of_all_pull_requests_at_once() -> None:
    together = pooled([Score(1, 1, 1), Score(0, 3, 1)])
    assert (together.precision, together.recall, together.percents[2]) == (0.25, 0.5, 33.3)


def test_of_nothing_nothing_is_right() -> None:
    assert Score().percents == (0.0, 0.0, 0.0)
