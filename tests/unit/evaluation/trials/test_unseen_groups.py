"""What groups that nobody saw could be like."""

import pytest

from review_advisor.core.evaluation.trials.measures import ReviewSums
from review_advisor.core.evaluation.trials.unseen_groups import UNSEEN, with_unseen_groups


def test_unseen_groups_are_of_average_size_and_cost_nothing_more() -> None:
    groups = [
        ReviewSums(reviews=2, decidable=2, correct=1, usd=3),
        ReviewSums(reviews=4, decidable=4, correct=1, usd=5),
    ]

    best, worst = with_unseen_groups(groups)

    assert best.decidable == worst.decidable == pytest.approx(6 + 3 * UNSEEN)
    assert (best.correct, worst.correct) == pytest.approx((2 + 3 * UNSEEN, 2))
    assert (best.reviews, best.usd) == (worst.reviews, worst.usd) == (6, 8)


def test_what_some_groups_have_is_averaged_over_those() -> None:
    best, worst = with_unseen_groups([ReviewSums(clean=2, alarmed=1), ReviewSums(), ReviewSums(), ReviewSums()])

    assert best.clean == worst.clean == pytest.approx(2 + 2 * UNSEEN)
    assert (best.alarmed, worst.alarmed) == pytest.approx((1, 1 + 2 * UNSEEN))


def test_what_no_group_has_no_unseen_one_has() -> None:
    assert with_unseen_groups([ReviewSums(reviews=1)]) == (ReviewSums(reviews=1), ReviewSums(reviews=1))
    assert with_unseen_groups([]) == (ReviewSums(), ReviewSums())
