"""What a look at a review after its end reads of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.scenarios.five_stories import (
    a_veto_then_a_recovery,
    an_approval_after_consults,
    answers_that_do_not_come,
    judged_blind_with_something_learned,
)

from review_advisor.mockworld.agents import (
    approve,
    change,
    finding,
    guidance,
    learned,
    reject,
    vote,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.votes import asked_as
from review_advisor.tasks.review_texts import review_texts

Story = Callable[[MockWorld], object]
SECURITY = Advisor("security", "You look for holes.", on="finish")
COUNCIL = Roster((ADR_ADVISOR, SECURITY))


def told(story: Story) -> OutcomeDocument:
    world = MockWorld()
    story(world)
    return world.review()


def texts(story: Story) -> dict[str, str]:
    return review_texts(told(story).events)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("until, outcome", [(5, "unfinished"), (None, "approved")])
def test_the_outcome_says_how_the_review_ended(until: int | None, outcome: str) -> None:
    files = review_texts(told(a_veto_then_a_recovery).events[:until])
    said = json.loads(files["outcome.json"])
    assert (said["run_id"], said["outcome"], said["completed_at"] is None) == ("run-1", outcome, until is not None)
    assert ("run_completed" in files["session_events.jsonl"]) is (until is None)


def test_a_question_and_its_guidance_name_one_another() -> None:
    files = texts(an_approval_after_consults)
    consults, given = lines(files["advisor_consults.jsonl"]), lines(files["advisor_guidance.jsonl"])
    assert [row["question"] for row in consults] == ["May seven repeat?", "And eight?", "And nine?"]
    assert (consults[0]["context"], consults[0]["options"], consults[0]["turn"]) == ("value = 7", ["yes", "no"], 1)
    assert [(row["guidance"], row["consult_id"]) for row in given] == [
        ("seven may repeat", consults[0]["id"]),
        ("nine may not", consults[2]["id"]),
    ]
    identities = [row["id"] for row in (*consults, *given)]
    assert len(set(identities)) == len(identities)
    assert all(re.fullmatch(r"adv_(consult|guidance)_[0-9a-f]{12}", each) for each in identities)
    assert texts(an_approval_after_consults) == files, "the same run again has the same texts"


def test_the_lines_tell_what_happened_in_order() -> None:
    kinds = [line["type"] for line in lines(texts(a_veto_then_a_recovery)["session_events.jsonl"])]
    assert kinds == [
        *("run_started", "executor_turn", "veto", "retry"),
        *("executor_turn", "advisor_consult", "advisor_guidance", "run_completed"),
    ]
    turns = [line.get("turn") for line in lines(texts(a_veto_then_a_recovery)["session_events.jsonl"])]
    assert turns == [None, 1, 1, 1, 2, 2, 2, None]


def test_each_call_and_each_consult_is_a_turn_with_its_answer_if_there_is_one() -> None:
    files = texts(a_veto_then_a_recovery)
    assert json.loads(files["executor_turn_2.final.md"])["summary"] == "seven is noted"
    assert json.loads(files["advisor_turn_2.final.md"])["verdict"] == "VETO"
    assert "executor_turn_1.final.md" not in texts(answers_that_do_not_come)


def test_answers_that_could_not_be_read_are_malformed_blocks() -> None:
    files = texts(answers_that_do_not_come)
    blocks = lines(files["malformed_blocks.jsonl"])
    assert [(block["tag"], block["turn"]) for block in blocks] == [("ADVISOR_GUIDANCE", 0), ("EXECUTOR_DONE", 1)]


def test_knowledge_is_a_memory_proposal_of_unknown_type() -> None:
    (row,) = lines(texts(judged_blind_with_something_learned)["memory_proposals.jsonl"])
    assert row["content"].startswith("Values are numbered\n\n")
    assert (row["source_excerpt"], row["type"], row["confidence"], row["expires_at"]) == ("value = 7", None, None, None)


def test_a_proposal_names_the_finding_on_the_lines_that_it_quotes_and_no_other() -> None:
    def taught(world: MockWorld) -> None:
        world.rules = replace(world.rules, wiki_folder="docs/wiki")
        found = finding("src/app.py", 7, "value = 7", "medium")
        entries = (("Of the finding", "value = 7"), ("Of another line", "value = 5"))
        said = approve(found).teaching(*(learned(title, "src/app.py", quote) for title, quote in entries))
        world.agents.script(Role.EXECUTOR, said)

    (known,) = told(taught).findings
    rows = lines(texts(taught)["memory_proposals.jsonl"])
    assert [row["source_finding"] for row in rows] == [known.id, ""]


def test_a_title_is_one_line_of_the_task() -> None:
    def story(world: MockWorld) -> None:
        world.source.stated = replace(world.source.stated, title="Add\n\n# a value")

    assert texts(story)["task.md"].splitlines()[0].endswith(": Add # a value")
    assert len(texts(story)["task.md"].splitlines()) == 1


def too_many_questions(world: MockWorld) -> None:
    world.change(edited("src/auth/login.py"))
    world.agents.script(Role.EXECUTOR, approve().after_asking(*(f"Question {n}?" for n in range(6))))


def test_a_question_that_the_cap_refused_is_an_alert_and_no_consult() -> None:
    files = texts(too_many_questions)
    alerts = [line for line in lines(files["session_events.jsonl"]) if line["type"] == "alert"]
    assert len(lines(files["advisor_consults.jsonl"])) == 5
    refused = "All 5 consults of this review are used. Decide on your own, and say which question stayed open."
    assert [alert["reason"] for alert in alerts] == [f"a question was refused: {refused}"]


def a_council_votes(world: MockWorld) -> None:
    world.rules = replace(world.rules, roster=COUNCIL)
    for name, line in ((ADR_ADVISOR.id, vote(95)), (SECURITY.id, vote(40, 39, 0))):
        world.agents.script(Role.POST_VERIFY, line, advisor=name)


def advice_is_merged(world: MockWorld) -> None:
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    world.agents.script(
        Role.EXECUTOR, approve().sure(0.5), reject(finding("src/app.py", 3, "value = 3")).applying("r1")
    )
    world.agents.script(Role.MID_FLIGHT, guidance("reject it", change("change_verdict", verdict="reject")))


def test_each_vote_of_a_council_is_a_line() -> None:
    cast = [line for line in lines(texts(a_council_votes)["session_events.jsonl"]) if line["type"] == "council_vote"]
    assert [(each["advisor"], each["turn"], json.loads(each["vote"]["calls"])["approve"]) for each in cast] == [
        (asked_as(ADR_ADVISOR), 1, 95),
        (SECURITY.id, 1, 40),
    ]


def test_what_advice_changes_in_a_report_is_a_line_with_the_diff() -> None:
    files = texts(advice_is_merged)
    merge = next(line for line in lines(files["session_events.jsonl"]) if line["type"] == "merge")
    assert (merge["recommendation"], merge["turn"]) == ("r1", 1)
    assert merge["conflict"] == "the advice leaves a rejection without a finding"
    assert [(each["before"], each["after"]) for each in merge["diff"]] == [("approve", "reject")]


def test_what_does_not_begin_with_a_policy_is_no_run() -> None:
    with pytest.raises(TypeError):
        review_texts(told(a_veto_then_a_recovery).events[1:])
