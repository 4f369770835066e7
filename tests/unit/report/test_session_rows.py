"""``advisor_session.jsonl``: one row for each call, and the verdict that was read from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.scenarios.five_stories import a_veto_then_a_recovery, answers_that_do_not_come, three_parts_and_an_escalation

from review_advisor.mockworld.agents import approve, finding, garbage, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded
from review_advisor.review.session_rows import session_rows


def told(story: Any) -> Any:
    world = MockWorld()
    story(world)
    return world.review()


def test_a_row_holds_what_the_call_said_of_itself() -> None:
    document = told(a_veto_then_a_recovery)
    calls = [event for event in document.events if isinstance(event, CallEnded)]
    rows = session_rows(document)
    assert len(rows) == len(calls)
    for row, call in zip(rows, calls, strict=True):
        verdict = row.pop("verdict")
        assert verdict in (None, "approve", "reject", "APPROVE", "VETO")
        assert row == {
            "ts": call.at.isoformat(),
            "run_id": "run-1",
            "label": document.label,
            "surface": "pr_review",
            "role": call.role.value,
            "advisor": call.role.value,
            "call": call.number,
            "asks_again": 0,
            "attempt": call.attempt,
            "shard": 0,
            "authority": "veto",
            "model": call.requested_model,
            "resolved_model": call.resolved_model,
            "session_id": call.session_id,
            "ended": "answered",
            "error": None,
            "turns": call.turns,
            "duration_ms": round(call.duration_seconds * 1000),
            "prompt_chars": call.prompt_characters,
            "prompt_sha256": call.prompt_sha256,
            "tokens_in": call.usage.input_tokens,
            "tokens_cache_read": call.usage.cache_read_tokens,
            "tokens_cache_written": call.usage.cache_write_tokens,
            "tokens_out": call.usage.output_tokens,
            "cost_usd": call.usage.cost_usd,
        }


def test_each_call_has_the_verdict_of_its_own_attempt() -> None:
    rows = session_rows(told(a_veto_then_a_recovery))
    said = [(row["role"], row["attempt"], row["verdict"]) for row in rows]
    assert [each for each in said if each[0] != "pre_flight"] == [
        ("executor", 0, "approve"),
        ("post_verify", 0, "VETO"),
        ("executor", 1, "approve"),
        ("post_verify", 1, "APPROVE"),
    ]
    assert {each[2] for each in said if each[0] == "pre_flight"} == {None}


def test_a_call_on_the_diff_alone_has_its_own_verdict() -> None:
    """The executor rejects by the diff alone, and approves once it has read what is said of the change."""

    def judged_alone_first(world: MockWorld) -> None:
        world.rules = replace(world.rules, metadata_blind=True)
        world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 3")), approve())

    rows = [row for row in session_rows(told(judged_alone_first)) if row["role"] == "executor"]
    assert [row["verdict"] for row in rows] == ["reject", "approve"]


def test_a_question_that_is_asked_again_names_the_first_call() -> None:
    rows = session_rows(told(lambda world: world.agents.script(Role.EXECUTOR, garbage(), approve())))
    asked = [(row["call"], row["asks_again"]) for row in rows if row["role"] == "executor"]
    assert asked == [(2, 0), (3, 2)]


def test_a_call_without_an_answer_has_no_verdict_and_says_why() -> None:
    document = told(answers_that_do_not_come)
    for row in session_rows(document):
        assert (row["ended"] == "answered") is (row["error"] is None)
        assert row["ended"] == "answered" or row["verdict"] is None
    lost = [event for event in document.events if isinstance(event, CallEnded) and event.ended != "answered"]
    assert lost
    assert [row["error"] for row in session_rows(document) if row["error"]] == [each.reason for each in lost]


def test_parts_and_durations_are_told_as_they_were() -> None:
    document = told(three_parts_and_an_escalation)
    first = next(event for event in document.events if isinstance(event, CallEnded))
    events = tuple(replace(e, duration_seconds=1.2345) if e is first else e for e in document.events)
    rows = session_rows(replace(document, events=events))
    assert rows[0]["duration_ms"] == 1234
    assert {row["shard"] for row in rows if row["role"] == "executor"} == {0, 1, 2}


def test_a_call_that_was_answered_has_no_error() -> None:
    assert {row["error"] for row in session_rows(MockWorld().review())} == {None}
