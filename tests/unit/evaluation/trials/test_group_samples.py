"""How far a measure can be from the true one."""

from random import Random

from review_advisor.core.evaluation.resampling import Middle
from review_advisor.core.evaluation.trials.group_samples import Estimate, difference, estimate, ratio, sampled
from review_advisor.core.evaluation.trials.measures import MEASURES, ReviewSums, correct_share, usd_per_review

CORRECT = MEASURES[0]


def halves(groups: int, *, turned: bool = False) -> dict[str, ReviewSums]:
    return {f"g{n}": ReviewSums(reviews=4, correct=4 * ((n + turned) % 2), usd=1 + turned) for n in range(groups)}


def test_a_group_is_drawn_whole() -> None:
    """Four reviews of a group say the same: the interval is that of 30 cases, not of 120."""
    by_group = sampled({"arm": halves(30)}, 800, Random(3).randrange)["arm"]
    by_case = sampled(
        {"arm": {f"{n}": ReviewSums(reviews=1, correct=n % 2) for n in range(120)}}, 800, Random(3).randrange
    )["arm"]

    assert _width(estimate(by_group, CORRECT)) > 1.7 * _width(estimate(by_case, CORRECT))


def _width(found: Estimate) -> float:
    assert found.interval is not None
    return found.interval.high - found.interval.low


def test_arms_are_compared_in_the_same_samples() -> None:
    """Two arms that agree in each group differ by nothing, in every sample."""
    both = sampled({"one": halves(20), "two": halves(20)}, 200, Random(3).randrange)

    assert difference(both["one"], both["two"], correct_share) == Estimate(0.0, Middle(0.0, 0.0))
    assert ratio(both["one"], both["two"], usd_per_review) == Estimate(1.0, Middle(1.0, 1.0))


def test_never_in_twenty_groups_is_not_never() -> None:
    never = sampled({"arm": {f"g{n}": ReviewSums(reviews=1) for n in range(20)}}, 200, Random(3).randrange)["arm"]

    found = estimate(never, CORRECT)

    assert found.value == 0.0
    assert found.interval is not None
    assert (found.interval.low, round(found.interval.high, 2)) == (0.0, 0.16)


def test_what_many_samples_cannot_tell_has_no_interval() -> None:
    """One group in three has a price at all, so that one sample in hundreds has none: that is too rare to matter."""
    rarely = {f"g{n}": ReviewSums(reviews=1, told=1 if n == 0 else 0) for n in range(3)}
    precision = MEASURES[1]

    assert estimate(sampled({"arm": rarely}, 300, Random(3).randrange)["arm"], precision) == Estimate(1.0, None)


def test_no_group_gives_no_number() -> None:
    assert estimate(sampled({"arm": {}}, 10, Random(3).randrange)["arm"], CORRECT) == Estimate(None, None)
