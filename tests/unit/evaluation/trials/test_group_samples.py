"""How far a measure can be from the true one."""

from random import Random

import pytest

from review_advisor.lab.gates import (
    FEW_GROUPS,
    UNSEEN,
    Estimate,
    Sampled,
    difference,
    estimate,
    ratio,
    sampled,
    tail,
    with_unseen_groups,
)
from review_advisor.lab.sampling import TAIL, Middle
from review_advisor.lab.trials import MEASURES, ReviewSums, correct_share, usd_per_review
from review_advisor.ledger.kpis import wilson

CORRECT = MEASURES[0]
BY_NAME = {each.name: each for each in MEASURES}


def one_arm(by_group: dict[str, ReviewSums], times: int = 200) -> Sampled:
    return sampled({"arm": by_group}, times, Random(3).randrange)["arm"]


def halves(groups: int, *, turned: bool = False) -> dict[str, ReviewSums]:
    return {
        f"g{n}": ReviewSums(reviews=4, decidable=4, correct=4 * ((n + turned) % 2), usd=1 + turned)
        for n in range(groups)
    }


def test_a_group_is_drawn_whole() -> None:
    """Four reviews of a group say the same: the interval is that of 30 cases, not of 120."""
    by_group = one_arm(halves(30), 800)
    by_case = one_arm({f"{n}": ReviewSums(reviews=1, decidable=1, correct=n % 2) for n in range(120)}, 800)

    assert _width(estimate(by_group, CORRECT)) > 1.7 * _width(estimate(by_case, CORRECT))


def _width(found: Estimate) -> float:
    assert found.interval is not None
    return found.interval.high - found.interval.low


def test_arms_are_compared_in_the_same_samples() -> None:
    """Two arms that agree in each group differ by nothing in every sample: only unseen groups can part them."""
    both = sampled({"one": halves(200), "two": halves(200)}, 200, Random(3).randrange)

    apart = difference(both["one"], both["two"], correct_share)
    assert apart.value == 0.0
    assert _width(apart) == pytest.approx(2 * 0.0188, abs=0.0002)
    assert ratio(both["one"], both["two"], usd_per_review) == Estimate(1.0, Middle(1.0, 1.0))


@pytest.mark.parametrize("groups", [10, 20, 60])
def test_what_never_differed_in_few_groups_may_differ(groups: int) -> None:
    """As for a share: none of so many groups reaches as far as Wilson's interval."""
    right = {f"g{n}": ReviewSums(reviews=1, decidable=1, correct=1, usd=1) for n in range(groups)}
    both = sampled({"one": right, "two": right}, 200, Random(3).randrange)

    apart = difference(both["one"], both["two"], correct_share).interval
    never = wilson(0, groups)
    assert apart is not None
    assert never is not None
    assert (-apart.low, apart.high) == pytest.approx((never[1], never[1]))


@pytest.mark.parametrize(
    "name,rarely",
    [
        ("correct", ReviewSums(reviews=1, decidable=1)),
        ("false_alarms", ReviewSums(reviews=1, clean=1)),
        ("obeyed", ReviewSums(reviews=1, hostile=1)),
        ("recall", ReviewSums(reviews=1, missed=1)),
        ("precision", ReviewSums(reviews=1, judged=1, wrong=1)),
    ],
)
@pytest.mark.parametrize("of_them", [6, 20])
def test_never_in_a_few_groups_is_not_never_however_many_others_there_are(
    name: str, rarely: ReviewSums, of_them: int
) -> None:
    """Twenty groups, of which some have what the share is of: hostile cases, or labels, or findings."""
    others = ReviewSums(reviews=1)
    groups = {f"g{n:02}": rarely if n < of_them else others for n in range(20)}

    found = estimate(one_arm(groups), BY_NAME[name])
    never = wilson(0, of_them)

    assert found.value == 0.0
    assert found.interval is not None
    assert never is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.0, never[1]))


def test_always_in_a_few_groups_is_not_always() -> None:
    groups = {f"g{n:02}": ReviewSums(reviews=1, hostile=n < 6, obeyed=n < 6) for n in range(60)}

    found = estimate(one_arm(groups), BY_NAME["obeyed"])
    always = wilson(6, 6)

    assert found.interval is not None
    assert always is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((always[0], 1.0))


def test_more_reviews_of_the_same_groups_say_nothing_about_others() -> None:
    once, often = (
        estimate(one_arm({f"g{n}": ReviewSums(reviews=times, clean=times) for n in range(12)}), BY_NAME["false_alarms"])
        for times in (1, 20)
    )

    assert once.value == often.value == 0.0
    assert _width(once) == pytest.approx(_width(often))


def test_no_wrong_finding_in_few_reviews_is_not_never_one() -> None:
    silent = {f"g{n}": ReviewSums(reviews=3, judged=3) for n in range(10)}

    found = estimate(one_arm(silent), BY_NAME["wrong_per_review"])

    assert found.value == 0.0
    assert found.interval is not None
    assert found.interval.high == pytest.approx(0.28, abs=0.01)


def test_what_a_correct_review_costs_is_not_known_from_ten_correct_ones() -> None:
    right = {f"g{n}": ReviewSums(reviews=1, decidable=1, correct=1, usd=1) for n in range(10)}

    found = estimate(one_arm(right), BY_NAME["usd_per_correct"])

    assert found.value == 1.0
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((1.0, 1.38), abs=0.01)


@pytest.mark.parametrize("groups,student", [(FEW_GROUPS, 2.262157), (40, 2.022691), (1_000, 1.962341)])
def test_of_fewer_groups_an_interval_reaches_further_out(groups: int, student: float) -> None:
    from statistics import NormalDist

    outside = NormalDist().cdf(-student * (groups / (groups - 1)) ** 0.5)

    assert tail(groups) == pytest.approx(outside, rel=0.002)
    assert tail(groups) < TAIL
    assert tail(1) == 0.0


def test_what_many_samples_cannot_tell_has_no_interval() -> None:
    """One group in three has a price at all, so that one sample in hundreds has none: that is too rare to matter."""
    rarely = {f"g{n}": ReviewSums(reviews=1, told=1 if n == 0 else 0) for n in range(3)}

    assert estimate(one_arm(rarely, 300), BY_NAME["precision"]) == Estimate(1.0, None)


def test_no_group_gives_no_number() -> None:
    assert estimate(one_arm({}, 10), CORRECT) == Estimate(None, None)


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
