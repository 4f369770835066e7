"""One review with the real CLI in which everybody takes part: a declared advisor by id, an escalation, a council."""

from __future__ import annotations

import json
import re

from tests.e2e.review_answers import CODE_FILE, boom, code, guidance, report
from tests.e2e.review_world import EXECUTOR, MID_FLIGHT, POST_VERIFY, ReviewWorld, role_of
from tests.e2e.stub_api import Reply, Request, consult, forever, structured

from review_advisor.core.answers.findings import finding_id
from review_advisor.core.outcome.events import Consulted, Voted
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.soundness import unsound
from review_advisor.core.outcome.steps.advice_events import Disposed, Escalated, Recommended

ATTRITION = '[escalation]\nprofile = "attrition"\n'
DECLARED = {
    "security": "on: finish",
    "tester": "on: finish",
    "dataSteward": "scopes: [migrations]",
}
NAME = re.compile(r"In this review you are the advisor (\S+)\.")
DOUBTED = finding_id(CODE_FILE, "rounding", "price_1 = 1 * 3")
QUESTION = json.dumps({"question": "May this run twice?", "advisor": "dataSteward"})


def stated(recommendation: str) -> dict[str, object]:
    return {"dispositions": [{"recommendation": recommendation, "disposition": "applied", "reason": "as it says"}]}


def test_a_declared_advisor_an_escalation_and_a_council_with_one_member_lost_in_one_review(world: ReviewWorld) -> None:
    for name, speaks in DECLARED.items():
        world.repo.write(f".review-advisor/advisors/{name}.md", f"---\nid: {name}\n{speaks}\n---\nYou are {name}.\n")
    world.repo.commit("declare advisors")
    world.change({CODE_FILE: code(3)})
    dropped = {"does": "drop", "finding": DOUBTED}
    turns = [
        consult(QUESTION, subagent_type="dataSteward"),
        report("approve", "rounding", **stated("r1")),
        report("approve", **stated("r2")),
    ]

    def reply(request: Request) -> Reply | None:
        role = role_of(request)
        if role is EXECUTOR:
            return turns.pop(0)
        if role is MID_FLIGHT and request.role == "advisor":
            return guidance("It may run twice.")
        if role is MID_FLIGHT:
            return structured({"action": "drop it", "rationale": "whole cents", "changes": [dropped]})
        (name,) = set(NAME.findall(request.prompt))
        if name == "tester":
            return forever(boom(529))
        if not request.prompt.count("Before you saw the executor's report"):
            return report("approve", name)
        calls = json.dumps({"approve": 90, "request_changes": 5, "block": 0, "_tool": "approve"})
        return structured({"verdict": "APPROVE", "reasoning": "I looked and agree.", "calls": calls})

    world.api.script(reply)
    done = world.review(config=ATTRITION, jobs=3)
    events = done.document.events
    assert turns == []
    assert unsound(events) is None

    told = [(each.advisor, each.asked_by, each.note.status) for each in events if isinstance(each, Consulted)]
    assert told == [("dataSteward", "executor", "answered"), ("mid_flight", "harness", "answered")]
    steward, advisor = world.of(MID_FLIGHT)
    assert "You are dataSteward." in steward.system
    assert "+price_1 = 1 * 3" in advisor.prompt

    (due,) = [each for each in events if isinstance(each, Escalated)]
    assert [(reason.kind.value, reason.subject) for reason in due.reasons] == [("low_confidence", DOUBTED)]
    (merge,) = [each for each in events if isinstance(each, Recommended)]
    assert [(each.what, each.before, each.after) for each in merge.merged.diff] == [(DOUBTED, "low", "dropped")]
    ends = [(each.recommendation, each.disposition) for each in events if isinstance(each, Disposed)]
    assert ends == [("r1", "applied"), ("r2", "applied")]

    assert [each.advisor for each in events if isinstance(each, Voted)] == ["post_verify", "security"]
    assert done.end == (Outcome.APPROVED, 0)
    assert done.document.flags.lost == ("pr_review/post_verify/tester",)
    assert len(world.of(POST_VERIFY)) >= 2 + 2 + 3
    shown = " ".join(done.text("report.txt").split())
    assert "low -> dropped" in shown
    assert "Blind spot: tester did not judge (lost: server_error)." in shown
    (file,) = done.folder.rglob(".advisor/*.json")
    log = json.loads(file.read_text(encoding="utf-8"))
    consults = [each for each in log["advisor_calls"] if each["role"] == "mid_flight"]
    assert [each["disposition"] for each in consults] == ["applied", "applied"]
