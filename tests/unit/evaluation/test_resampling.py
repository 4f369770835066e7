"""Samples by repository, and their middle."""

from __future__ import annotations

from collections import Counter
from random import Random

from review_advisor.lab.sampling import Middle, middle, resamples

REPOSITORIES = ["a", "a", "b", "a", "b"]


def test_each_sample_has_as_many_of_each_repository_as_there_are() -> None:
    samples = resamples(REPOSITORIES, 300, Random(1).randrange)
    for sample in samples:
        assert Counter(REPOSITORIES[place] for place in sample) == {"a": 3, "b": 2}
    assert {place for sample in samples for place in sample} == set(range(5))
    assert any(len(set(sample)) < 5 for sample in samples)


def test_the_middle_leaves_out_a_fortieth_on_each_side() -> None:
    assert middle([float(value) for value in range(200)]) == Middle(4.0, 195.0)
    assert middle([7.0]) == Middle(7.0, 7.0)
