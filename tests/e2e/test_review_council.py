"""A whole review with the real CLI that a council judges, declared at the base and asked side by side."""

from __future__ import annotations

import json
import re

from tests.e2e.review_answers import CODE_FILE, boom, code, report
from tests.e2e.review_world import EXECUTOR, POST_VERIFY, ReviewWorld, fences, role_of
from tests.e2e.stub_api import Reply, Request, forever, structured

from review_advisor.review.events import Voted
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

MEMBERS = {
    "security": "You look for holes.",
    "tester": "You ask what is not tested.",
}
NAME = re.compile(r"In this review you are the advisor (\S+)\.")


def judged(approve: int, **beside: object) -> Reply:
    calls = json.dumps({"approve": approve, "request_changes": 5, "block": 0, "_tool": "approve"})
    return structured({"verdict": "APPROVE", "reasoning": "I looked and agree.", "calls": calls, **beside})


def test_a_council_of_three_with_one_member_lost_approves_and_names_the_blind_spot(world: ReviewWorld) -> None:
    for name, persona in MEMBERS.items():
        world.repo.write(f".review-advisor/advisors/{name}.md", f"---\nid: {name}\non: finish\n---\n{persona}\n")
    world.repo.commit("declare a council")
    world.change({CODE_FILE: code(3)})

    def reply(request: Request) -> Reply | None:
        if role_of(request) is not POST_VERIFY:
            return report()
        (name,) = set(NAME.findall(request.prompt))
        if name == "tester":
            return forever(boom(529))
        return judged(90) if request.prompt.count("Before you saw the executor's report") else report("approve", name)

    world.api.script(reply)
    done = world.review(jobs=3)
    assert done.end == (Outcome.APPROVED, 0)
    assert done.document.flags.degraded
    assert done.document.flags.lost == ("pr_review/post_verify/tester",)
    votes = [event.advisor for event in done.document.events if isinstance(event, Voted)]
    assert votes == ["post_verify", "security"]
    assert "Blind spot: tester did not judge (lost: server_error)." in " ".join(done.text("report.txt").split())
    assert unsound(done.document.events) is None
    (executor,) = world.of(EXECUTOR)
    asked = world.of(POST_VERIFY)
    own = [request for request in asked if "You will judge that review later." in request.prompt]
    assert len(own) == 2 + 3, "the CLI asks for the lost member three times"
    assert not any("the executor says approve" in request.prompt for request in own)
    assert {len(fences(request)) for request in own} == {len(fences(executor))}
    shown = [request for request in asked if "about security" in request.prompt]
    assert [NAME.findall(request.prompt)[0] for request in shown] == ["security"]


OWN = """---
id: security
on: finish
isInstanced: true
answer:
  properties:
    score: {type: integer, minimum: 0, maximum: 10}
    holes: {type: array}
  required: [score]
---
You look for holes.
"""
MAP = f'[[map]]\npaths = ["/{CODE_FILE}"]\nadvisors = ["security"]\nlenses = ["numbers"]\n'


def test_a_member_that_a_path_adds_gives_its_own_fields_and_a_word_on_each_finding(world: ReviewWorld) -> None:
    world.repo.write(".review-advisor/advisors/optional/security.md", OWN)
    world.repo.write(".review-advisor/lenses.toml", MAP)
    world.repo.commit("map a path to an advisor")
    world.change({CODE_FILE: code(3)})

    def reply(request: Request) -> Reply | None:
        if role_of(request) is not POST_VERIFY:
            return report("approve", "rounding")
        if "Before you saw the executor's report" not in request.prompt:
            return report("approve")
        if "security" not in NAME.findall(request.prompt):
            return judged(90)
        return judged(80, own={"score": 7, "holes": ["none"]}, instances=[{"_instance": "other", "opinion": "?"}])

    world.api.script(reply)
    done = world.review()
    assert done.end == (Outcome.APPROVED, 0)
    (vote,) = (event.vote for event in done.document.events if isinstance(event, Voted) and event.advisor == "security")
    assert json.loads(vote.own) == {"score": 7, "holes": ["none"]}
    told = " ".join(done.text("report.txt").split())
    assert "security adds: score 7" in told
    assert "Blind spot: security says nothing of" in told
    assert "no advisor has the lens numbers" in told
    assert json.loads(done.text("council.json"))["votes"][0]["advisors"][1]["score"] == 7
    assert unsound(done.document.events) is None
