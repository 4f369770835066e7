"""The run folder of ``advisor-harness`` holds what the events know, says what they do not, and nothing else."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.scenarios.five_stories import (
    STORIES,
    a_veto_then_a_recovery,
    an_approval_after_consults,
    answers_that_do_not_come,
    judged_blind_with_something_learned,
    three_parts_and_an_escalation,
)

from review_advisor.ledger.artifacts import council_verdict, roster_version
from review_advisor.mockworld.agents import (
    Line,
    approve,
    change,
    credit_gone,
    finding,
    garbage,
    guidance,
    learned,
    lost,
    plan,
    reject,
    text_only,
    veto,
    vote,
)
from review_advisor.mockworld.world import INSTRUCTIONS, MockWorld, edited
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, Consulted
from review_advisor.review.rulings import Outcome
from review_advisor.review.votes import asked_as
from review_advisor.tasks.harness_run import harness_run, status_of

Story = Callable[[MockWorld], object]
EVENT: TypeAdapter[CallEnded | Consulted] = TypeAdapter(CallEnded | Consulted)
SECURITY = Advisor("security", "You look for holes.", on="finish")
COUNCIL = Roster((ADR_ADVISOR, SECURITY))
LINES = {
    *("session_events.jsonl", "advisor_consults.jsonl", "advisor_guidance.jsonl", "memory_proposals.jsonl"),
    "malformed_blocks.jsonl",
}
WHOLE = {"version_manifest.json", "outcome.json"}
ALWAYS = {*LINES, *WHOLE, "task.md", "policy.json", "not_kept.md"}


def told(story: Story) -> OutcomeDocument:
    world = MockWorld()
    story(world)
    return world.review()


def folder(story: Story) -> dict[str, str]:
    return harness_run(told(story).events)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def outcome(files: dict[str, str]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(files["outcome.json"])
    return read


def checked(files: dict[str, str]) -> None:
    """The folder has the names of advisor-harness, and ``outcome.json`` comes last."""
    turns = [name for name in files if name not in ALWAYS]
    assert [
        name for name in turns if not re.fullmatch(r"(executor|advisor)_turn_\d+\.(raw\.json|final\.md)", name)
    ] == []
    assert list(files)[-1] == "outcome.json", "it stands only where all others do"
    assert set(files) >= ALWAYS


@pytest.mark.one_in(3)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_run_folder_is_of_its_schema_however_far_the_review_came(story: Story) -> None:
    events = told(story).events
    for number in range(1, len(events) + 1):
        files = harness_run(events[:number])
        checked(files)
        over = number == len(events)
        said = outcome(files)
        assert (said["status"] == "running") is not over
        assert (said["completed_at"] is None) is not over
        assert ("run_completed" in files["session_events.jsonl"]) is over


def test_the_outcome_has_exactly_the_keys_of_the_format() -> None:
    said = outcome(folder(an_approval_after_consults))
    assert list(said) == [
        *("run_id", "status", "executor_backend", "advisor_backend", "executor_session_id", "executor_turn_count"),
        *("advisor_consult_count", "advisor_guidance_count", "memory_proposal_count", "malformed_block_count"),
        *("malformed_blocks", "max_turns", "max_advisor_calls", "executor_done", "version_manifest", "completed_at"),
    ]
    assert (said["run_id"], said["status"]) == ("run-1", "completed")
    assert (said["executor_backend"], said["advisor_backend"]) == ("sonnet", "opus")
    assert (said["executor_turn_count"], said["advisor_consult_count"], said["advisor_guidance_count"]) == (1, 3, 2)
    assert (said["max_turns"], said["max_advisor_calls"]) == (2, 5)
    assert said["executor_done"] == {"status": "completed", "summary": "looks right"}


def test_a_question_and_its_guidance_name_one_another() -> None:
    files = folder(an_approval_after_consults)
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
    assert folder(an_approval_after_consults) == files, "the same run again is the same folder"


def test_the_story_is_told_in_the_formats_words() -> None:
    kinds = [line["type"] for line in lines(folder(a_veto_then_a_recovery)["session_events.jsonl"])]
    assert kinds == [
        *("run_started", "executor_turn", "veto", "retry"),
        *("executor_turn", "advisor_consult", "advisor_guidance", "run_completed"),
    ]
    turns = [line.get("turn") for line in lines(folder(a_veto_then_a_recovery)["session_events.jsonl"])]
    assert turns == [None, 1, 1, 1, 2, 2, 2, None]


def test_the_first_line_says_who_works_for_whom_and_on_what() -> None:
    events = told(a_veto_then_a_recovery).events
    named = [
        replace(event, session_id=f"{event.role.value} {event.attempt}") if isinstance(event, CallEnded) else event
        for event in events
    ]
    begun = lines(harness_run(named)["session_events.jsonl"])[0]
    assert (begun["type"], begun["run_id"], begun["task"]) == ("run_started", "run-1", "Review pr-7: Add a value")
    assert (begun["executor_backend"], begun["advisor_backend"]) == ("sonnet", "opus")
    assert begun["executor_session_id"] == "executor 1"


def test_every_call_and_every_consult_is_a_turn_with_what_is_kept_of_it() -> None:
    document = told(a_veto_then_a_recovery)
    files = harness_run(document.events)
    calls = [event for event in document.events if isinstance(event, CallEnded)]
    consults = [event for event in document.events if isinstance(event, Consulted)]
    by_executor = sum(call.role is Role.EXECUTOR for call in calls)
    raw = {name: json.loads(text) for name, text in files.items() if name.endswith(".raw.json")}
    assert len([name for name in raw if name.startswith("executor_turn_")]) == by_executor
    assert len([name for name in raw if name.startswith("advisor_turn_")]) == len(calls) - by_executor + len(consults)
    kept = [EVENT.validate_python(each["raw_artifacts"]) for each in raw.values()]
    assert all(event in kept for event in (*calls, *consults))
    for role, number in (("executor", by_executor), ("advisor", len(raw) - by_executor)):
        turns = [int(name.split("_")[2].split(".")[0]) for name in raw if name.startswith(role)]
        assert sorted(turns) == list(range(1, number + 1))
    for name, text in files.items():
        if name.endswith(".json") and name != "policy.json":
            assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
    assert json.loads(files["executor_turn_2.final.md"])["summary"] == "seven is noted"
    assert json.loads(files["advisor_turn_2.final.md"])["verdict"] == "VETO"


def test_what_is_not_kept_is_said_and_not_made_up() -> None:
    document = told(answers_that_do_not_come)
    files = harness_run(document.events)
    said = files["not_kept.md"]
    missing = re.findall(r"^\| (\S+\.\w+) \|", said, re.MULTILINE)
    assert set(missing) & set(files) == set()
    for name in files:
        if name.endswith(".raw.json"):
            turn = name.removesuffix(".raw.json")
            assert {f"{turn}.{kind}" for kind in ("prompt.md", "stdout.txt", "stderr.txt")} <= set(missing)
            assert (f"{turn}.final.md" in missing) is (f"{turn}.final.md" not in files)
    assert "| executor_turn_1.final.md | no answer stood |" in said
    first = next(event for event in document.events if isinstance(event, CallEnded) and event.role is Role.EXECUTOR)
    prompt = f"a prompt of {first.prompt_characters} characters, sha256 {first.prompt_sha256}"
    assert f"| executor_turn_1.prompt.md | {prompt} |" in said


def test_answers_that_could_not_be_read_are_malformed_blocks() -> None:
    files = folder(answers_that_do_not_come)
    blocks = lines(files["malformed_blocks.jsonl"])
    assert [(block["tag"], block["turn"]) for block in blocks] == [("ADVISOR_GUIDANCE", 0), ("EXECUTOR_DONE", 1)]
    assert (outcome(files)["malformed_blocks"], outcome(files)["malformed_block_count"]) == (blocks, 2)
    assert outcome(files)["status"] == "completed", "the executor was asked again, and answered"


def test_knowledge_is_a_memory_proposal_of_unknown_type() -> None:
    (row,) = lines(folder(judged_blind_with_something_learned)["memory_proposals.jsonl"])
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
    rows = lines(folder(taught)["memory_proposals.jsonl"])
    assert [row["source_finding"] for row in rows] == [known.id, ""]


def test_the_manifest_proves_the_policy_that_lies_beside_it() -> None:
    document = told(an_approval_after_consults)
    files = harness_run(document.events)
    manifest = json.loads(files["version_manifest.json"])
    assert manifest == outcome(files)["version_manifest"]
    policy = manifest["policy_files"]["routing_policy"]
    assert policy == {"path": "policy.json", "sha256": hashlib.sha256(files["policy.json"].encode()).hexdigest()}
    assert json.loads(files["policy.json"])["budgets"]["max_consults"] == document.policy.budgets.max_consults
    assert set(manifest["prompt_versions"].values()) == {INSTRUCTIONS.version}


def test_a_title_is_one_line_of_the_task() -> None:
    def story(world: MockWorld) -> None:
        world.source.stated = replace(world.source.stated, title="Add\n\n# a value")

    assert folder(story)["task.md"].splitlines()[0].endswith(": Add # a value")
    assert len(folder(story)["task.md"].splitlines()) == 1


# --- how it ended ----------------------------------------------------------------------------------------------------


def asked(role: Role, *replies: Line) -> Story:
    return lambda world: world.agents.script(role, *replies)


def too_many_questions(world: MockWorld) -> None:
    world.change(edited("src/auth/login.py"))
    world.agents.script(Role.EXECUTOR, approve().after_asking(*(f"Question {n}?" for n in range(6))))


def told_to_stop(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking("Delete it?"))
    world.agents.script(Role.MID_FLIGHT, guidance("do not", stop=True))


def no_judge_under_the_guard(world: MockWorld) -> None:
    world.change(edited(".claude/settings.json"))
    world.agents.script(Role.POST_VERIFY, lost())


@pytest.mark.parametrize(
    "story, status",
    [
        (asked(Role.EXECUTOR, approve()), "completed"),
        (three_parts_and_an_escalation, "max_turns_reached"),
        (asked(Role.POST_VERIFY, *[veto("no")] * 4), "max_turns_reached"),
        (too_many_questions, "advisor_call_limit_reached"),
        (told_to_stop, "advisor_stop_signal"),
        (no_judge_under_the_guard, "advisor_failed"),
        (asked(Role.PRE_FLIGHT, credit_gone()), "advisor_failed"),
        (asked(Role.EXECUTOR, credit_gone()), "executor_failed"),
        (asked(Role.EXECUTOR, lost()), "executor_failed"),
        (asked(Role.EXECUTOR, garbage(), garbage()), "malformed_block"),
        (asked(Role.EXECUTOR, text_only(), text_only()), "malformed_block"),
    ],
)
def test_every_end_has_its_status(story: Story, status: str) -> None:
    assert status_of(told(story).events) == status


def test_a_part_that_there_was_no_money_to_read_stopped_without_done() -> None:
    def dear(world: MockWorld) -> None:
        three_parts_and_an_escalation(world)
        world.agents.script(Role.PRE_FLIGHT, plan().costing(100.0))

    document = told(dear)
    assert document.outcome is Outcome.ESCALATED
    assert status_of(document.events) == "executor_stopped_without_done"


def test_a_question_that_the_cap_refused_is_an_alert_and_no_consult() -> None:
    files = folder(too_many_questions)
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


def test_each_vote_of_a_council_is_a_line_and_the_manifest_has_the_rosters_version() -> None:
    document = told(a_council_votes)
    files = harness_run(document.events)
    cast = [line for line in lines(files["session_events.jsonl"]) if line["type"] == "council_vote"]
    assert [(each["advisor"], each["turn"], json.loads(each["vote"]["calls"])["approve"]) for each in cast] == [
        (asked_as(ADR_ADVISOR), 1, 95),
        (SECURITY.id, 1, 40),
    ]
    verdict = council_verdict(document)
    assert verdict is not None
    version = json.loads(files["version_manifest.json"])["roster_version"]
    assert version == verdict["roster_version"] != roster_version(DEFAULT_ROSTER)


def test_what_advice_changes_in_a_report_is_a_line_with_the_diff() -> None:
    files = folder(advice_is_merged)
    merge = next(line for line in lines(files["session_events.jsonl"]) if line["type"] == "merge")
    assert (merge["recommendation"], merge["turn"]) == ("r1", 1)
    assert merge["conflict"] == "the advice leaves a rejection without a finding"
    assert [(each["before"], each["after"]) for each in merge["diff"]] == [("approve", "reject")]


def test_what_does_not_begin_with_a_policy_is_no_run() -> None:
    with pytest.raises(TypeError):
        harness_run(told(a_veto_then_a_recovery).events[1:])
