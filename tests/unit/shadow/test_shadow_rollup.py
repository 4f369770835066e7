"""What a period of shadows says to a person and to a program."""

from review_advisor.core.shadow.shadow_rollup import NOTHING_IN_SHADOW, ShadowRollup, ShadowSums, shadow_text

SUMS = ShadowSums(
    shadow="opusJudge",
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


def test_json_has_the_counts_and_the_intervals() -> None:
    (told,) = ShadowRollup((SUMS,)).as_json()["parts"]
    assert (told["shadow"], told["reviews"], told["compared"], told["cost_usd"]) == ("opusJudge", 12, 10, 3.25)
    low, high = told["intervals"]["would_veto"]
    assert 0.0 < low < 0.2 < high < 1.0
