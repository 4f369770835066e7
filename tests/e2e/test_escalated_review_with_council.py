"""One review with the real CLI in which everybody takes part, from the command line to the page that people read.

The executor asks a declared advisor by its id, the review consults its advisor on a doubted finding, the advice is
merged, the executor goes on with it, and a council of three judges, of which one member is lost to an outage.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.e2e.browser.reader import Reader
from tests.e2e.review_answers import CODE_FILE, boom, code, guidance, report
from tests.e2e.review_world import (
    EXECUTOR,
    MID_FLIGHT,
    POST_VERIFY,
    Reviewed,
    ReviewWorld,
    fences,
    role_of,
)
from tests.e2e.stub_api import Reply, Request, consult, forever, structured

from review_advisor.agents.findings import finding_id
from review_advisor.review.events import Consulted, Disposed, Escalated, Recommended, Voted
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

ATTRITION = '[escalation]\nprofile = "attrition"\n'
DECLARED = {"security": "on: finish", "tester": "on: finish", "dataSteward": "scopes: [migrations]"}
NAME = re.compile(r"In this review you are the advisor (\S+)\.")
DOUBTED = finding_id(CODE_FILE, "rounding", "price_1 = 1 * 3")
QUESTION = json.dumps({"question": "May this run twice?", "advisor": "dataSteward"})
SEES, VOTES, TOO_SURE = "what-{}-sees-alone", "{} looked and agrees", "The executor's own words"
DROPPED = f"'about rounding' at {CODE_FILE}:1: low -> dropped"
LOST = "tester did not judge (lost: server_error)"


def member_of(request: Request) -> str:
    (name,) = set(NAME.findall(request.prompt))
    return str(name)


def has_seen_the_report(request: Request) -> bool:
    return "Before you saw the executor's report" in request.prompt


def stated(recommendation: str) -> dict[str, object]:
    return {"dispositions": [{"recommendation": recommendation, "disposition": "applied", "reason": "as it says"}]}


class Agents:
    """What each of them says, whenever the CLI asks."""

    def __init__(self) -> None:
        self.turns = [
            consult(QUESTION, subagent_type="dataSteward"),
            report("approve", "rounding", summary=TOO_SURE, **stated("r1")),
            report("approve", summary=TOO_SURE, **stated("r2")),
        ]

    def __call__(self, request: Request) -> Reply | None:
        match role_of(request):
            case role if role is EXECUTOR:
                return self.turns.pop(0)
            case role if role is MID_FLIGHT and request.role == "advisor":
                return guidance("It may run twice.")
            case role if role is MID_FLIGHT:
                drop = {"does": "drop", "finding": DOUBTED}
                return structured({"action": "Drop it.", "rationale": "These are whole cents.", "changes": [drop]})
        member = member_of(request)
        if member == "tester":
            return forever(boom(529))
        if not has_seen_the_report(request):
            return report("approve", SEES.format(member))
        calls = json.dumps({"approve": 90, "request_changes": 5, "block": 0, "_tool": "approve"})
        return structured({"verdict": "APPROVE", "reasoning": VOTES.format(member), "calls": calls})


def test_a_doubted_finding_is_advised_on_merged_and_judged_by_a_council_that_loses_a_member(
    world: ReviewWorld, reader: Reader
) -> None:
    for name, speaks in DECLARED.items():
        world.repo.write(f".review-advisor/advisors/{name}.md", f"---\nid: {name}\n{speaks}\n---\nYou are {name}.\n")
    world.repo.write(".review-advisor.toml", ATTRITION)
    world.repo.commit("declare advisors, and let the review consult them")
    world.change({CODE_FILE: code(3)})
    agents = Agents()
    world.api.script(agents)
    done = world.review(jobs=3)
    assert agents.turns == []
    assert done.text("report.txt").splitlines()[0] == "APPROVED (DEGRADED: not verified by tester)"
    assert unsound(done.document.events) is None
    the_advice_came_in_order(done)
    each_was_asked_what_concerns_it(world)
    the_files_tell_it(done)
    people_read_it(world, reader)


def the_advice_came_in_order(done: Reviewed) -> None:
    events = done.document.events
    told = [(each.advisor, each.asked_by, each.note.status) for each in events if isinstance(each, Consulted)]
    assert told == [("dataSteward", "executor", "answered"), ("mid_flight", "harness", "answered")]
    (due,) = [each for each in events if isinstance(each, Escalated)]
    assert [(reason.kind.value, reason.subject) for reason in due.reasons] == [("low_confidence", DOUBTED)]
    (merge,) = [each for each in events if isinstance(each, Recommended)]
    assert [(each.what, each.before, each.after) for each in merge.merged.diff] == [(DOUBTED, "low", "dropped")]
    ends = [(each.recommendation, each.disposition) for each in events if isinstance(each, Disposed)]
    assert ends == [("r1", "applied"), ("r2", "applied")]
    assert [each.advisor for each in events if isinstance(each, Voted)] == ["post_verify", "security"]
    assert done.end == (Outcome.APPROVED, 0)
    assert done.document.flags.degraded
    assert done.document.flags.lost == ("pr_review/post_verify/tester",)


def each_was_asked_what_concerns_it(world: ReviewWorld) -> None:
    steward, advisor = world.of(MID_FLIGHT)
    assert "You are dataSteward." in steward.system
    assert "You are dataSteward." not in advisor.system
    packet = fences(advisor)["QUESTION"]
    assert all(told in packet for told in ("about rounding", "0.40", "It may run twice."))
    assert "+price_1 = 1 * 3" in fences(advisor)["DIFF"]

    *_, first, goes_on = world.of(EXECUTOR)
    assert "Drop it." not in json.dumps(first.body)
    assert goes_on.prompt.startswith(first.prompt.rstrip()), "the continuation is paid for once"
    assert all(told in fences(goes_on)["GUIDANCE"] for told in ("It may run twice.", "Drop it.", "whole cents"))
    assert "about rounding" in fences(goes_on)["REPORT"]

    judges = world.of(POST_VERIFY)
    assert [member_of(each) for each in judges].count("tester") == 3, "the CLI asks three times"
    for judge in judges:
        member, said = member_of(judge), json.dumps(judge.body)
        others = {"hydraflow-review-advisor", *DECLARED} - {member}
        assert not any(form.format(other) in said for other in others for form in (SEES, VOTES)), member
        assert not any(f"You are {other}." in said for other in others), member
        assert (TOO_SURE in said) == (SEES.format(member) in said) == has_seen_the_report(judge), member
    after = [member_of(each) for each in judges if has_seen_the_report(each)]
    assert sorted(after) == ["hydraflow-review-advisor", "security"]


def the_files_tell_it(done: Reviewed) -> None:
    shown = " ".join(done.text("report.txt").split())
    assert f"recommendation r2: {DROPPED}" in shown
    assert f"Blind spot: {LOST}." in shown
    assert LOST in json.loads(done.text("council.json"))["blind_spots"]
    (file,) = done.folder.rglob(".advisor/*.json")
    log = json.loads(file.read_text(encoding="utf-8"))
    consults = [each for each in log["advisor_calls"] if each["role"] == "mid_flight"]
    assert [(each["advisor"], each["disposition"]) for each in consults] == [
        ("dataSteward", "applied"),
        ("mid_flight", "applied"),
    ]
    judged = [(each["advisor"], each["reason"]) for each in log["advisor_calls"] if each["role"] == "post_verify"]
    assert judged == [*[("post_verify", "")] * 2, *[("security", "")] * 2, ("tester", "server_error")]
    assert log["final_answer"].startswith("approved: the judgement of tester is missing")


def people_read_it(world: ReviewWorld, reader: Reader) -> None:
    shown = said(world, "runs", "show", "run_")
    assert f"recommendation r2: {DROPPED}" in shown
    assert "because     the judgement of tester is missing" in shown
    assert re.search(r"^flags +degraded$", shown, re.MULTILINE)
    assert re.search(r" post_verify +tester +.* lost +server_error ", shown)
    sums = said(world, "rollup", "--advice")
    assert re.search(r"^low_confidence +1$", sums, re.MULTILINE)
    assert re.search(r"^applied +2$", sums, re.MULTILINE)
    assert re.search(r"^tester +1 +0 +0$", sums, re.MULTILINE)
    assert re.search(r"^degraded_share +100.0%", sums, re.MULTILINE)
    site = world.root / "site"
    said(world, "ui", "--out", str(site), "--run", "run_")
    page = reader.opens(site.as_uri())
    page.wait_for_selector(".timeline")
    read = " ".join(page.locator("main").inner_text().split())
    assert DROPPED in read
    assert "gone low about rounding" in read, "what the advice changed"
    assert "pr_review/post_verify/tester" in read
    assert f"Blind spot: {LOST}." in read
    assert reader.finds_barriers() == []


def said(world: ReviewWorld, *command: str) -> str:
    """What a verb that reads the ledger prints."""
    ledger = world.root / "artefacts" / "ledger" / "ledger.sqlite3"
    script = Path(sys.executable).with_name("review-advisor")
    asked = [str(script), *command, "--ledger", str(ledger)]
    done = subprocess.run(asked, cwd=world.repo.path, env=world.environ(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
