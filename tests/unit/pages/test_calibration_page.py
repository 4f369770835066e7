"""What is plotted of a calibration: kinds with labels enough, and no more points than a reader can see."""

from __future__ import annotations

from review_advisor.lab.pages import MOST_PLOTTED, MOST_POINTS, calibration_json
from review_advisor.ledger.kind_records import ConfidencePair, FindingKind


def of_kind(category: str, many: int) -> list[ConfidencePair]:
    kind = FindingKind("executor", "m", "pr_review", category)
    return [ConfidencePair(f"p#{n}", kind, n / many, n % 2 == 0, "people") for n in range(many)]


def test_all_findings_come_first_and_then_the_kinds_with_the_most_labels() -> None:
    told = calibration_json([*of_kind("rare", 29), *of_kind("often", 60), *of_kind("some", 30)])["calibration"]

    kinds = [(each["kind"], each["labels"]) for each in told["plots"]]
    every, often, some = ("all", 119), ("executor / m / pr_review / often", 60), ("executor / m / pr_review / some", 30)
    assert kinds == [every, often, some], "a wider kind that is all findings is not told twice"


def test_further_kinds_are_counted() -> None:
    told = calibration_json([each for n in range(20) for each in of_kind(f"kind {n}", 30)])["calibration"]

    assert (len(told["plots"]), told["further"]) == (MOST_PLOTTED, 21 - MOST_PLOTTED)


def test_a_long_curve_is_thinned_and_keeps_its_end() -> None:
    (plot,) = calibration_json(of_kind("bug", 997))["calibration"]["plots"]

    assert len(plot["curve"]) <= MOST_POINTS + 1
    assert plot["curve"][-1][1] == 1.0
