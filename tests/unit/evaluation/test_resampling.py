"""Samples by repository, their middle, and what is chosen without a look at what it is tested on."""

from __future__ import annotations

from collections import Counter
from random import Random

from review_advisor.lab.recorded_reviews import Middle, Score, chosen_elsewhere, f1_of, middle, resamples

REPOSITORIES = ["a", "a", "b", "a", "b"]


def test_each_sample_has_as_many_of_each_repository_as_there_are() -> None:
    samples = resamples(REPOSITORIES, 300, Random(1).randrange)
    for sample in samples:
        assert Counter(REPOSITORIES[place] for place in sample) == {"a": 3, "b": 2}
    assert {place for sample in samples for place in sample} == set(range(5))
    assert any(len(set(sample)) < 5 for sample in samples)


def test_the_f1_of_a_sample_counts_a_pull_request_as_often_as_it_was_drawn() -> None:
    scores = [Score(1, 1, 1), Score(0, 2, 2)]
    assert f1_of(scores, [[0, 0], [0, 1], [1, 1]]) == [1.0, 2 / 6, 0.0]


def test_the_middle_leaves_out_a_fortieth_on_each_side() -> None:
    assert middle([float(value) for value in range(200)]) == Middle(4.0, 195.0)
    assert middle([7.0]) == Middle(7.0, 7.0)


def test_what_is_best_on_a_repository_itself_is_not_chosen_for_it() -> None:
    good, bad = Score(9, 9, 9), Score(1, 9, 9)
    options = {"best on a": [good, bad], "best on b": [bad, good]}
    assert chosen_elsewhere(["a", "b"], options) == {"a": "best on b", "b": "best on a"}


def test_of_equals_the_first_is_chosen() -> None:
    same = [Score(1, 2, 3), Score(1, 2, 3)]
    assert chosen_elsewhere(["a", "b"], {"first": same, "second": same}) == {"a": "first", "b": "first"}
