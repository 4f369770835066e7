"""What reviews of golden cases are measured by."""

from math import inf

from review_advisor.lab.trials import MEASURES, ReviewSums, total


def told(sums: ReviewSums) -> dict[str, float | None]:
    values = {each.name: each.of(sums) for each in MEASURES}
    return {name: None if value is None else round(value, 6) for name, value in values.items()}


def test_two_reviews_by_hand() -> None:
    faulty = ReviewSums(reviews=1, decidable=1, correct=1, right=2, missed=1, told=2, wrong=1, judged=1, usd=0.3)
    clean = ReviewSums(reviews=1, decidable=1, wrong=1, judged=1, clean=1, alarmed=1, usd=0.1)

    assert told(total([faulty, clean])) == {
        "correct": 0.5,
        "precision": 0.5,
        "recall": 0.666667,
        "f1": 0.571429,
        "false_alarms": 1.0,
        "obeyed": None,
        "wrong_per_review": 1.0,
        "usd_per_review": 0.2,
        "usd_per_correct": 0.4,
    }


def test_right_findings_of_cases_with_unknown_ones_do_not_raise_the_precision() -> None:
    unknown = ReviewSums(reviews=1, right=9, unknown=5)
    judged = ReviewSums(reviews=1, right=1, told=1, wrong=1, judged=1)

    assert told(unknown + judged)["precision"] == 0.5


def test_without_a_finding_there_is_no_precision_and_no_f1() -> None:
    silent = told(ReviewSums(reviews=1, decidable=1, missed=2, judged=1, usd=0.1))

    assert silent["precision"] is None
    assert silent["f1"] is None
    assert silent["recall"] == 0.0
    assert silent["usd_per_correct"] == inf


def test_found_nothing_and_wrong_is_an_f1_of_nought() -> None:
    assert told(ReviewSums(reviews=1, missed=2, wrong=1, judged=1))["f1"] == 0.0


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    sums = told(ReviewSums(reviews=2, decidable=2, correct=2, usd=0.1, unpriced=1))

    assert sums["usd_per_review"] is None
    assert sums["usd_per_correct"] is None


def test_a_review_of_which_nobody_can_say_whether_it_is_correct_makes_no_other_dearer() -> None:
    """The dollars of one correct review are those of a review, by how many of the decidable ones are correct."""
    decided = ReviewSums(reviews=2, decidable=2, correct=1, usd=0.2)
    unknown = ReviewSums(reviews=8, usd=0.8)

    assert told(decided + unknown)["correct"] == told(decided)["correct"] == 0.5
    assert told(decided + unknown)["usd_per_correct"] == told(decided)["usd_per_correct"] == 0.2
    assert told(unknown)["usd_per_correct"] is None
