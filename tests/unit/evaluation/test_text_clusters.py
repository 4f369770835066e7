"""Which findings say the same, by their words alone."""

from __future__ import annotations

import pytest

from review_advisor.lab.recorded_reviews import clusters, joined, likeness, weights

TEXTS = [
    "readAll leaks the open file handle",
    "The file handle that read_all opens is leaked",
    "Division by zero when the list is empty",
    "An empty list leads to a division by zero",
    "Typo in a comment",
]


def found(texts: list[str], at: float) -> tuple[tuple[int, ...], ...]:
    return clusters(len(texts), joined(weights(texts), 0.0), at)


def test_findings_in_the_same_words_are_one() -> None:
    assert found(TEXTS, 0.4) == ((0, 1), (2, 3), (4,))


def test_a_name_counts_by_its_parts_however_it_is_written() -> None:
    camel, snake, other = weights(["readAllLines", "read_all_lines", "write"])
    assert likeness(camel, snake) > 0.7
    assert likeness(camel, other) == 0


def test_a_text_is_wholly_like_itself_and_one_without_words_like_none() -> None:
    one, same, empty, sign = weights(["a leak", "a leak", "", "?!"])
    assert likeness(one, same) == pytest.approx(1)
    assert likeness(one, empty) == likeness(empty, sign) == 0


def test_a_rare_word_tells_more_than_one_that_all_have() -> None:
    texts = weights(["the leak", "the end", "a leak", "the list", "the map"])
    assert likeness(texts[0], texts[2]) > likeness(texts[0], texts[1])


def test_a_cluster_joins_by_the_average_of_its_members() -> None:
    """The third is like the second only, so on average it is not like both."""
    chain = ["alpha beta gamma delta", "alpha beta gamma epsilon", "epsilon zeta eta theta"]
    of_two = weights(chain)
    near, far = likeness(of_two[1], of_two[2]), likeness(of_two[0], of_two[2])
    steps = joined(of_two, 0.0)
    assert [(step.one, step.other) for step in steps] == [(0, 1), (0, 2)]
    assert steps[1].likeness == pytest.approx((near + far) / 2)


@pytest.mark.parametrize("at", [0.0, 0.2, 0.5, 0.9, 1.1])
def test_every_finding_is_in_one_cluster(at: float) -> None:
    assert sorted(place for cluster in found(TEXTS, at) for place in cluster) == list(range(len(TEXTS)))


def test_below_the_floor_nothing_is_joined() -> None:
    assert joined(weights(TEXTS), 1.1) == ()
    assert joined((), 0.0) == ()
