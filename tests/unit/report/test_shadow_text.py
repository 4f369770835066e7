"""What a reader is told of the shadows of a review."""

from dataclasses import replace

from review_advisor.github.sections import account
from review_advisor.mockworld.world import MockWorld
from review_advisor.review.document import ShadowCost
from review_advisor.review.report import report_text, shadow_words

ENDED = ShadowCost("other", "finished", 0.25, calls=2, unpriced=1)
RUNNING = ShadowCost("more", "running", 1.0)


def test_what_ran_and_what_it_cost_is_said_and_what_is_unknown() -> None:
    assert shadow_words([ENDED, RUNNING]) == (
        "other finished, 2 calls, 0.2500 USD, and 1 call unknown; more did not end, and counts as 1.00 USD"
    )
    assert shadow_words([]) == ""


def test_report_and_comment_have_one_line_of_it_and_else_not_a_word() -> None:
    document = MockWorld().review()
    shadowed = replace(document, shadows=(ENDED,))
    assert "shadow" not in report_text(document)
    assert not any("shadow" in each for each in account(document))
    assert sum("shadow" in line for line in report_text(shadowed).splitlines()) == 1
    assert sum("shadow" in each for each in account(shadowed)) == 1
