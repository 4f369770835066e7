"""Whether advised reviews may ship: four answers, each with its reason."""

from random import Random

import pytest

from review_advisor.core.evaluation.trials.gates import cost_gate, ship_gate
from review_advisor.core.evaluation.trials.group_samples import Sampled, sampled
from review_advisor.core.evaluation.trials.measures import ReviewSums

ADVISOR, EXECUTOR, PAIRED = "advisor-only", "executor-only", "paired"


def arms(groups: int = 40, **share_and_usd: tuple[float, float]) -> dict[str, Sampled]:
    """Arms of which in each group so large a share of ten reviews is correct, more or less; each has its price."""
    sums = {
        name.replace("_", "-"): {
            f"g{place}": ReviewSums(reviews=10, correct=10 * share + (place % 3 - 1) * 0.2, usd=10 * usd)
            for place in range(groups)
        }
        for name, (share, usd) in share_and_usd.items()
    }
    return sampled(sums, 400, Random(5).randrange)


def test_as_good_as_the_advisor_for_a_quarter_of_its_cost_ships() -> None:
    verdict = ship_gate(arms(paired=(0.8, 0.05), advisor_only=(0.8, 0.2)), PAIRED, ADVISOR)

    assert verdict.answer == "pass"
    assert verdict.advice == ""


def test_four_points_behind_the_advisor_is_not_as_good() -> None:
    verdict = ship_gate(arms(paired=(0.76, 0.05), advisor_only=(0.8, 0.2)), PAIRED, ADVISOR)

    assert [each.answer for each in verdict.conditions] == ["fail", "pass"]
    assert verdict.answer == "fail"
    assert verdict.advice == "Tune the thresholds of paired, or use advisor-only alone."


def test_a_third_of_the_advisors_cost_is_too_much() -> None:
    assert ship_gate(arms(paired=(0.8, 0.07), advisor_only=(0.8, 0.2)), PAIRED, ADVISOR).answer == "fail"


def test_what_the_sample_cannot_resolve_is_undecided() -> None:
    by_group = {
        PAIRED: {f"g{place}": ReviewSums(reviews=1, correct=place % 2, usd=0.05) for place in range(20)},
        ADVISOR: {f"g{place}": ReviewSums(reviews=1, correct=(place + 1) % 2, usd=0.2) for place in range(20)},
    }
    verdict = ship_gate(sampled(by_group, 400, Random(5).randrange), PAIRED, ADVISOR)

    assert [each.answer for each in verdict.conditions] == ["undecided", "pass"]
    assert "the sample cannot resolve it" in verdict.conditions[0].why
    assert verdict.answer == "undecided"


def test_nine_repositories_decide_nothing() -> None:
    verdict = ship_gate(arms(9, paired=(0.8, 0.05), advisor_only=(0.8, 0.2)), PAIRED, ADVISOR)

    assert verdict.answer == "undecided"
    assert "9 groups are too few" in verdict.conditions[0].why


@pytest.mark.parametrize(
    "told,advisor,why",
    [
        (arms(paired=(0.8, 0.05)), None, "no arm is the advisor alone"),
        (arms(paired=(0.8, 0.05), advisor_only=(0.8, 0.0)), ADVISOR, "the other costs nothing"),
        (
            sampled(
                {PAIRED: {"g": ReviewSums(reviews=2)}, ADVISOR: {"g": ReviewSums(reviews=3)}}, 10, Random(5).randrange
            ),
            ADVISOR,
            "the arms did not review the same cases",
        ),
    ],
)
def test_where_there_is_nothing_to_compare_with_the_gate_does_not_apply(
    told: dict[str, Sampled], advisor: str | None, why: str
) -> None:
    verdict = ship_gate(told, PAIRED, advisor)

    assert verdict.answer == "not_applicable"
    assert why in [each.why for each in verdict.conditions]


def test_advice_pays_if_a_correct_review_costs_less_than_with_the_cheapest_model_alone() -> None:
    told = arms(paired=(0.8, 0.05), executor_only=(0.6, 0.06), advisor_only=(0.8, 0.2))
    verdict = cost_gate(told, PAIRED, [EXECUTOR, ADVISOR])

    assert (verdict.answer, verdict.against) == ("pass", EXECUTOR)


def test_advice_that_passes_the_ship_gate_may_cost_more_than_a_cheap_model_alone() -> None:
    told = arms(paired=(0.8, 0.05), executor_only=(0.8, 0.03), advisor_only=(0.8, 0.2))

    assert ship_gate(told, PAIRED, ADVISOR).answer == "pass"
    assert cost_gate(told, PAIRED, [EXECUTOR, ADVISOR]).answer == "fail"


def test_a_model_that_is_never_correct_is_not_the_cheapest() -> None:
    told = arms(paired=(0.8, 0.05), executor_only=(0.0, 0.0001), advisor_only=(0.8, 0.2))
    told[EXECUTOR] = sampled({EXECUTOR: {"g0": ReviewSums(reviews=400, usd=0.01)}}, 400, Random(5).randrange)[EXECUTOR]

    assert cost_gate(told, PAIRED, [EXECUTOR, ADVISOR]).against == ADVISOR


def test_an_unknown_price_is_no_low_price() -> None:
    told = arms(paired=(0.8, 0.05), advisor_only=(0.8, 0.2))
    unpriced = sampled({PAIRED: {"g0": ReviewSums(reviews=400, correct=400, unpriced=1)}}, 400, Random(5).randrange)

    for verdict in (ship_gate(told | unpriced, PAIRED, ADVISOR), cost_gate(told | unpriced, PAIRED, [ADVISOR])):
        assert verdict.answer == "not_applicable"
        assert verdict.conditions[-1].why == "what a review cost is not known"
