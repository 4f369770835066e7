"""A whole review with the real CLI in which the harness consults the advisor, and the advice is merged."""

from __future__ import annotations

from tests.e2e.review_answers import CODE_FILE, code, confirm, report
from tests.e2e.review_world import EXECUTOR, MID_FLIGHT, POST_VERIFY, ReviewWorld, fences
from tests.e2e.stub_api import several, structured, tool_use

from review_advisor.agents.findings import finding_id
from review_advisor.review.events import Disposed, Escalated, Recommended
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

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
    assert "+price_1 = 1 * 3" in fences(consult)["DIFF"]
    assert {"Read", "Grep", "Glob"} <= set(consult.tools)
    assert not {"Edit", "Write", "Bash", "Agent", "Task"} & set(consult.tools)
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


def test_an_advisor_reads_the_tree_and_the_finding_that_it_brings_rejects(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    doubtful = report()
    world.says(EXECUTOR, report(confidence=0.5), doubtful)
    brought = {
        "path": CODE_FILE,
        "line": 1,
        "severity": "high",
        "category": "rounding",
        "title": "prices are tripled",
        "confidence": 0.9,
        "evidence": "price_1 = 1 * 3",
    }
    verdict = {"does": "change_verdict", "verdict": "reject"}
    said = {"action": "reject it", "rationale": "money", "changes": [verdict], "findings": [brought]}
    world.says(MID_FLIGHT, several(tool_use("Read", file_path=CODE_FILE)), structured(said))
    world.says(POST_VERIFY, confirm())
    done = world.review(config=ATTRITION)
    assert world.asked == ["executor", "mid_flight", "mid_flight", "executor", "post_verify"]
    assert "price_1 = 1 * 3" in world.of(MID_FLIGHT)[1].tool_results[0]
    (found,) = done.document.findings
    assert (found.title, found.severity, found.raised_by) == ("prices are tripled", "high", "mid_flight")
    assert done.document.outcome is Outcome.CHANGES_REQUESTED
    assert unsound(done.document.events) is None
