"""How outcomes join: the worst wins, and each has its exit code."""

from itertools import permutations

import pytest

from review_advisor.review.rulings import EXIT_CODES, Outcome, worst

FROM_BEST_TO_WORST = [Outcome.APPROVED, Outcome.CHANGES_REQUESTED, Outcome.ESCALATED, Outcome.STOPPED]


@pytest.mark.parametrize("number", range(1, 5))
def test_the_worst_of_several_outcomes_wins_whatever_their_order(number: int) -> None:
    for some in permutations(FROM_BEST_TO_WORST, number):
        assert worst(some) is max(some, key=FROM_BEST_TO_WORST.index)


def test_a_review_of_nothing_did_not_run() -> None:
    assert worst([]) is Outcome.STOPPED


def test_each_outcome_has_its_exit_code() -> None:
    assert [EXIT_CODES[each] for each in FROM_BEST_TO_WORST] == [0, 10, 11, 12]
