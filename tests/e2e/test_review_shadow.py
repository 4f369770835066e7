"""A second judge runs in shadow with the real CLI: asked after the outcome, with another effort, and without effect."""

from __future__ import annotations

from tests.e2e.review_answers import CODE_FILE, code, confirm, report, veto
from tests.e2e.review_world import EXECUTOR, POST_VERIFY, ReviewWorld

from review_advisor.review.rulings import Outcome

SHADOW = """
[[shadow]]
id = "secondJudge"
percent = 100
effort = "low"
"""


def test_a_veto_in_shadow_is_asked_with_its_own_effort_and_the_approval_stands(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, report())
    world.says(POST_VERIFY, confirm(), veto("it loses data"))
    done = world.review(config=SHADOW)
    assert done.end == (Outcome.APPROVED, 0)
    real, shadow = world.of(POST_VERIFY)
    assert real.body["output_config"]["effort"] != shadow.body["output_config"]["effort"] == "low"
    (cost,) = done.document.shadows
    assert (cost.shadow, cost.status, cost.calls) == ("secondJudge", "finished", 1)
    assert cost.usd > 0
    assert "in shadow, without effect: secondJudge finished, 1 call" in done.text("report.txt")
