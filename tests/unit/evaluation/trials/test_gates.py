"""Whether advised reviews may ship: four answers, each with its reason."""

from random import Random

import pytest

from review_advisor.lab.gates import Condition, GateAnswer, GateVerdict, Sampled, cost_gate, sampled, ship_gate
from review_advisor.lab.trials import ReviewSums

ADVISOR, EXECUTOR, PAIRED = "advisor-only", "executor-only", "paired"


def arms(groups: int = 400, **share_and_usd: tuple[float, float]) -> dict[str, Sampled]:
    """Arms of which in each group so large a share of ten reviews is correct, more or less; each has its price."""
    sums = {
        name.replace("_", "-"): {
            f"g{place}": ReviewSums(reviews=10, decidable=10, correct=10 * share + (place % 3 - 1) * 0.2, usd=10 * usd)
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
        PAIRED: {f"g{place}": ReviewSums(reviews=1, decidable=1, correct=place % 2, usd=0.05) for place in range(20)},
        ADVISOR: {
            f"g{place}": ReviewSums(reviews=1, decidable=1, correct=(place + 1) % 2, usd=0.2) for place in range(20)
        },
    }
    verdict = ship_gate(sampled(by_group, 400, Random(5).randrange), PAIRED, ADVISOR)

    assert [each.answer for each in verdict.conditions] == ["undecided", "pass"]
    assert "the sample cannot resolve it" in verdict.conditions[0].why
    assert verdict.answer == "undecided"


def test_nine_repositories_decide_nothing() -> None:
    verdict = ship_gate(arms(9, paired=(0.8, 0.05), advisor_only=(0.8, 0.2)), PAIRED, ADVISOR)

    assert verdict.answer == "undecided"
    assert "9 groups are too few" in verdict.conditions[0].why
    one = ship_gate(arms(1, paired=(0.8, 0.05), advisor_only=(0.8, 0.2)), PAIRED, ADVISOR)
    assert "1 group is too few" in one.conditions[0].why


@pytest.mark.every_case
@pytest.mark.parametrize("groups,one,other", [(10, 0.90, 0.97), (20, 0.90, 0.97), (60, 0.97, 1.0)])
def test_an_arm_that_is_worse_by_more_than_the_bound_seldom_passes_as_good(
    groups: int, one: float, other: float
) -> None:
    """The arms err independently. An interval of 95% may be wrong in one direction in 2.5 of 100 samples."""
    passed = 0
    for seed in range(100):
        chance = Random(seed)
        told = sampled(
            {
                name: {
                    f"g{n}": ReviewSums(reviews=1, decidable=1, correct=chance.random() < share, usd=usd)
                    for n in range(groups)
                }
                for name, share, usd in ((PAIRED, one, 0.01), (ADVISOR, other, 1.0))
            },
            100,
            chance.randrange,
        )
        quality = [
            gate.conditions[0] for gate in (ship_gate(told, PAIRED, ADVISOR), cost_gate(told, PAIRED, [ADVISOR]))
        ]
        passed += any(each.answer == "pass" for each in quality)

    assert passed <= 3


def test_ten_cases_on_which_both_arms_are_right_do_not_show_that_one_is_as_good() -> None:
    right = {f"g{n}": ReviewSums(reviews=1, decidable=1, correct=1, usd=0.1) for n in range(10)}
    verdict = ship_gate(sampled({PAIRED: right, ADVISOR: right}, 100, Random(5).randrange), PAIRED, ADVISOR)

    assert verdict.conditions[0].answer == "undecided"
    assert "95% from -27.8 points to +27.8 points" in verdict.conditions[0].why


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
    told[EXECUTOR] = sampled(
        {EXECUTOR: {"g0": ReviewSums(reviews=4_000, decidable=4_000, usd=0.01)}}, 400, Random(5).randrange
    )[EXECUTOR]

    assert cost_gate(told, PAIRED, [EXECUTOR, ADVISOR]).against == ADVISOR


def test_an_unknown_price_is_no_low_price() -> None:
    told = arms(paired=(0.8, 0.05), advisor_only=(0.8, 0.2))
    unpriced = sampled(
        {PAIRED: {"g0": ReviewSums(reviews=4_000, decidable=4_000, correct=400, unpriced=1)}}, 400, Random(5).randrange
    )

    for verdict in (ship_gate(told | unpriced, PAIRED, ADVISOR), cost_gate(told | unpriced, PAIRED, [ADVISOR])):
        assert verdict.answer == "not_applicable"
        assert verdict.conditions[-1].why.endswith("cost is not known")


def test_a_single_model_of_unknown_cost_may_be_the_cheapest() -> None:
    """One lost review of the cheap model must not leave only the dear one to be cheaper than."""
    told = arms(paired=(0.8, 0.05), executor_only=(0.8, 0.03), advisor_only=(0.8, 0.2))
    assert cost_gate(told, PAIRED, [EXECUTOR, ADVISOR]).answer == "fail"

    lost = {f"g{n}": ReviewSums(reviews=10, decidable=10, correct=8, usd=0.3, unpriced=n == 0) for n in range(400)}
    told |= sampled({EXECUTOR: lost}, 400, Random(5).randrange)
    verdict = cost_gate(told, PAIRED, [EXECUTOR, ADVISOR])

    assert verdict.answer == "not_applicable"
    assert verdict.conditions[-1].why == "what a review of executor-only cost is not known"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("lost", [1, 320])
@pytest.mark.parametrize("silent", [PAIRED, ADVISOR, EXECUTOR])
def test_a_lost_review_leaves_nothing_to_compare_whoever_was_to_make_it(silent: str, lost: int) -> None:
    """An outage costs nothing and finds nothing: it must neither pass the other arm nor fail its own."""
    told = arms(paired=(0.8, 0.05), executor_only=(0.8, 0.06), advisor_only=(0.8, 0.2))
    outage = {f"g{n}": ReviewSums(reviews=10, decidable=10, correct=8, usd=0.3, lost=n < lost) for n in range(400)}
    told |= sampled({silent: outage}, 400, Random(5).randrange)
    other = silent if silent != PAIRED else EXECUTOR

    for conditions in (
        ship_gate(told, PAIRED, other).conditions,
        cost_gate(told, PAIRED, [EXECUTOR, ADVISOR]).conditions,
    ):
        assert [(each.answer, each.why) for each in conditions] == [
            ("not_applicable", f"{lost} of 4000 reviews by {silent} got no answer")
        ]


@pytest.mark.parametrize("beside", ["pass", "undecided", "not_applicable"])
def test_a_sure_failure_decides_whatever_stands_beside_it(beside: GateAnswer) -> None:
    conditions = tuple(Condition("it is asked", each, "it is so") for each in (beside, "fail"))

    assert GateVerdict("ship", PAIRED, ADVISOR, conditions).answer == "fail"


def test_what_is_surely_behind_fails_although_a_price_is_not_known() -> None:
    told = arms(paired=(0.1, 0.05), advisor_only=(0.9, 0.2))
    behind = {f"g{n}": ReviewSums(reviews=10, decidable=10, correct=1, usd=0.3, unpriced=n == 0) for n in range(400)}
    told |= sampled({PAIRED: behind}, 400, Random(5).randrange)

    verdict = ship_gate(told, PAIRED, ADVISOR)

    assert [each.answer for each in verdict.conditions] == ["fail", "not_applicable"]
    assert verdict.answer == "fail"
