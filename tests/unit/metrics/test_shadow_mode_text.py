"""What a period of reviews in shadow mode says to a person and to a program."""

from review_advisor.ledger.kpis import ShadowModeSums, WouldHave, shadow_mode_text

SUMS = ShadowModeSums(
    passed=WouldHave(reviews=30, closed=25, merged=24, reverted=1),
    blocked=WouldHave(reviews=8, closed=2, merged=2, reverted=2),
    escalated=WouldHave(reviews=3),
    did_not_end=1,
    cost_usd=12.3,
    unpriced=2,
    wall_ms=95_000,
)


def test_the_text_says_what_would_have_been_and_what_became_of_it() -> None:
    assert shadow_mode_text(SUMS).splitlines() == [
        "shadow mode: 42 reviews, 12.30 USD, and 2 calls unknown, median 95 s",
        "  would have passed     30; of 25 seen closed, 24 were merged and 1 reverted",
        "  would have blocked    8; of 2 seen closed, 2 were merged and 2 reverted",
        "  would have escalated  3",
        "  did not run to an end 1",
    ]


def test_without_a_review_in_shadow_mode_nothing_is_said_of_it() -> None:
    assert shadow_mode_text(ShadowModeSums()) == ""


def test_json_has_the_sums_and_how_many_there_were() -> None:
    figures = SUMS.as_json()
    assert (figures["reviews"], figures["blocked"]["reverted"], figures["did_not_end"]) == (42, 2, 1)
