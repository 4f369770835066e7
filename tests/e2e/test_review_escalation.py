"""A whole review with the real CLI in which the harness consults the advisor, and the advice is merged."""

from __future__ import annotations

from tests.e2e.review_answers import CODE_FILE, code, confirm, report
from tests.e2e.review_world import EXECUTOR, MID_FLIGHT, POST_VERIFY, ReviewWorld
from tests.e2e.stub_api import structured

from review_advisor.core.answers.findings import finding_id
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.soundness import unsound
from review_advisor.core.outcome.steps.advice_events import Disposed, Escalated, Recommended

ATTRITION = '[escalation]\nprofile = "attrition"\n'
DOUBTED = finding_id(CODE_FILE, "rounding", "price_1 = 1 * 3")


def test_a_doubted_finding_is_put_to_the_advisor_and_its_advice_is_merged(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    raised = {
        "path": CODE_FILE,
        "line": 1,
        "severity": "medium",
        "category": "rounding",
        "title": "about rounding",
        "confidence": 0.9,
        "evidence": "price_1 = 1 * 3",
    }
    world.says(EXECUTOR, report("reject", "rounding"), report("reject", findings=[raised]))
    change = {"does": "raise", "finding": DOUBTED, "severity": "medium"}
    world.says(MID_FLIGHT, structured({"action": "raise it", "rationale": "money", "changes": [change]}))
    world.says(POST_VERIFY, confirm())
    done = world.review(config=ATTRITION)
    assert world.asked == ["executor", "mid_flight", "executor", "post_verify"]
    (consult,) = world.of(MID_FLIGHT)
    assert "+price_1 = 1 * 3" in consult.prompt
    assert "raise it" in world.of(EXECUTOR)[1].prompt
    events = done.document.events
    (due,) = [each for each in events if isinstance(each, Escalated)]
    assert [reason.subject for reason in due.reasons] == [DOUBTED]
    (merge,) = [each for each in events if isinstance(each, Recommended)]
    assert [(each.what, each.before, each.after) for each in merge.merged.diff] == [(DOUBTED, "low", "medium")]
    (end,) = [each for each in events if isinstance(each, Disposed)]
    assert end.disposition == "applied"
    assert done.document.outcome is Outcome.CHANGES_REQUESTED
    assert unsound(events) is None
