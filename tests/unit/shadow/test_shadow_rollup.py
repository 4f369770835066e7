"""What a period of shadows says to a person and to a program."""

from dataclasses import replace
from typing import get_args

import pytest

from review_advisor.ledger.shadow_rollup import NOTHING_IN_SHADOW, ShadowOfRun, ShadowRollup, ShadowSums, shadow_text
from review_advisor.policy.shadow_rules import ShadowPart

SUMS = ShadowSums(
    shadow="opusJudge",
    part="judge",
    setup="judge: hydraflow-review-advisor",
    reviews=12,
    agreed=7,
    would_veto=2,
    would_veto_known=2,
    would_veto_reverted=1,
    would_pass=1,
    would_pass_known=1,
    would_pass_settled=0,
    differs=0,
    lost=2,
    capped=1,
    broken_off=1,
    missed=0,
    calls=20,
    unpriced=1,
    cost_usd=3.25,
)


def test_nothing_in_shadow_is_said() -> None:
    assert shadow_text(ShadowRollup()) == NOTHING_IN_SHADOW
    assert ShadowRollup().as_json()["parts"] == []
    assert ShadowRollup().as_json()["mode"]["reviews"] == 0


def test_a_lost_answer_is_no_agreement_and_no_case_of_a_share() -> None:
    assert SUMS.compared == 10
    assert "agreed             7 of 10 (70%, 95% interval 40% to 89%)" in shadow_text(ShadowRollup((SUMS,)))


def test_the_text_says_what_became_of_the_reviews_and_what_is_unknown() -> None:
    text = shadow_text(ShadowRollup((SUMS,)))
    assert "12 reviews, 20 calls, 3.25 USD, and 1 call unknown" in text
    assert "would have vetoed  2 of 10 (20%, 95% interval 6% to 51%); of 2 with a known fate, 1 were reverted" in text
    assert "would have passed  1 of 10" in text
    assert "lost               2; at its own cap 1, broken off 1" in text


EXECUTOR = replace(
    SUMS, part="executor", setup="executor", would_pass=0, would_pass_known=0, differs=3, missed=4, agreed=5
)
SURFACE = replace(SUMS, part="surface", setup="surface; on adr_review", would_pass=0, would_pass_known=0, agreed=8)


def test_an_executor_vetoes_nothing_it_would_have_rejected_or_approved() -> None:
    text = shadow_text(ShadowRollup((EXECUTOR,)))
    assert "would have rejected  2 of 10 (20%, 95% interval 6% to 51%); of 2 with a known fate, 1 were reverted" in text
    assert "would have approved  3 of 10" in text
    assert "missed               4 critical or high findings" in text
    assert "vetoed" not in text
    assert "passed" not in text
    assert "differs" not in text


def test_a_surface_can_only_have_stopped_what_was_approved() -> None:
    text = shadow_text(ShadowRollup((SURFACE,)))
    assert "would have stopped  2 of 10" in text
    assert not any(word in text for word in ("vetoed", "passed", "rejected", "differs"))


WHOLE = replace(
    SUMS,
    part="review",
    setup="review; model small",
    approved=6,
    changes_requested=3,
    escalated=1,
    missed=2,
    found=1,
    reviews_usd=9.5,
    reviews_unpriced=1,
)


def test_a_whole_review_says_what_it_concluded_found_and_cost_beside_the_real_ones() -> None:
    text = shadow_text(ShadowRollup((WHOLE,)))
    assert "3.25 USD, and 1 call unknown; the reviews themselves 9.50 USD (of 1 unknown)" in text
    assert "would have stopped   2 of 10" in text
    assert "would have approved  1 of 10" in text
    assert "it concluded         6 approved, 3 changes requested, 1 escalated" in text
    assert "missed               2 critical or high findings" in text
    assert "found besides        1 critical or high finding" in text
    assert ShadowRollup((WHOLE,)).as_json()["parts"][0]["reviews_usd"] == 9.5


def test_a_part_of_a_review_is_not_held_against_the_cost_of_all() -> None:
    assert "the reviews themselves" not in shadow_text(ShadowRollup((replace(SUMS, reviews_usd=9.5),)))


def test_one_of_a_review_says_its_outcome_and_what_only_it_found_on_one_line_each() -> None:
    one = ShadowOfRun(
        "run-1",
        "terse",
        "review",
        "review",
        "finished",
        "would_veto",
        0.5,
        0,
        outcome="changes_requested",
        besides="high a.py:1 One\nhigh b.py:2 Two\x1b[31m",
    )
    assert one.words == "terse (review): would have stopped (changes requested), 0.50 USD"
    first, second = one.found
    assert first == "high a.py:1 One"
    assert "\x1b" not in second


@pytest.mark.parametrize("part", get_args(ShadowPart))
def test_no_review_is_in_no_line(part: ShadowPart) -> None:
    """Whatever a ledger holds, the lines of a shadow come to its reviews."""
    sums = replace(SUMS, part=part, differs=1, reviews=13)
    counts = [int(line.split()[-1]) for line in _counted(shadow_text(ShadowRollup((sums,))))]
    assert sum(counts) == sums.reviews


def _counted(text: str) -> list[str]:
    """The lines with a share or the lost ones, each up to its count."""
    lines = [line.partition(";")[0].partition(" of ")[0] for line in text.splitlines()]
    return [line for line in lines if line.startswith(("  agreed", "  would", "  differs", "  lost"))]


def test_json_has_the_counts_and_the_intervals() -> None:
    (told,) = ShadowRollup((SUMS,)).as_json()["parts"]
    assert (told["part"], told["shadow"], told["reviews"], told["compared"], told["cost_usd"]) == (
        "judge",
        "opusJudge",
        12,
        10,
        3.25,
    )
    low, high = told["intervals"]["would_veto"]
    assert 0.0 < low < 0.2 < high < 1.0
