"""What the CLI hands to the consult hook, as our values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review_advisor.agents.calls import ConsultReply
from review_advisor.agents.claude import ConsultAsked, ConsultOver, read_event

ANSWER: list[dict[str, Any]] = [{"type": "text", "text": "It is."}]


def over(**response: Any) -> ConsultReply:
    told = {"hook_event_name": "PostToolUse", "tool_use_id": "t1", "tool_response": response}
    event = read_event(json.dumps(told).encode())
    assert isinstance(event, ConsultOver)
    return event.reply


def before(asked: object, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", "tool_use_id": "t1", "tool_input": asked, **more}


def test_a_question_is_read_whatever_stands_beside_it() -> None:
    told = before({"prompt": "Which?", "model": "haiku", "run_in_background": True}, cwd="/tmp", session_id="s")
    assert read_event(json.dumps(told).encode()) == ConsultAsked("t1", "Which?")


def test_an_answer_is_read_with_its_model_its_tokens_and_its_time() -> None:
    content = [*ANSWER, {"type": "text", "text": "Really."}]
    said = over(
        status="completed",
        content=content,
        resolvedModel="claude-opus-5-5",
        totalTokens=120,
        totalDurationMs=171,
        totalToolUseCount=0,
    )
    assert said == ConsultReply(True, "It is.\nReally.", "", "claude-opus-5-5", 120, 171)


@pytest.mark.parametrize("uses", [1, 7, None, "0", -1, False], ids=repr)
def test_the_tokens_of_an_advisor_that_used_tools_are_unknown(uses: object) -> None:
    """The CLI counts the last of its requests alone, and that is no total."""
    said = over(status="completed", content=ANSWER, totalTokens=120, totalToolUseCount=uses)
    assert (said.answered, said.tokens) == (True, None)


@pytest.mark.parametrize("value", [0, 1, 10**12])
def test_a_count_of_tokens_is_read(value: int) -> None:
    assert over(status="completed", content=ANSWER, totalTokens=value, totalToolUseCount=0).tokens == value


@pytest.mark.parametrize(
    "value", [-1, 10**12 + 1, 10**400, "120", "", 1.5, float("nan"), float("inf"), True, None, [120], {"tokens": 120}]
)
def test_tokens_that_can_be_no_count_are_unknown(value: object) -> None:
    assert over(status="completed", content=ANSWER, totalTokens=value, totalToolUseCount=0).tokens is None


def test_hostile_numbers_do_not_cost_the_answer() -> None:
    numbers = {"totalTokens": "NaN", "totalDurationMs": -5, "totalToolUseCount": 0, "harnessNoteCount": 10**30}
    said = over(status="completed", content=ANSWER, **numbers, harnessTailCount="1")
    assert said == ConsultReply(True, "It is.")


@pytest.mark.parametrize(
    "before_it,after_it,reply", [(1, 0, "B"), (1, 1, "B"), (2, 1, "B"), (0, 0, "note\nB\nnote")], ids=repr
)
def test_the_clis_own_notes_are_no_part_of_the_advice(before_it: int, after_it: int, reply: str) -> None:
    """The real CLI puts such a note before the words of an advisor that has used tools."""
    words = ["note"] * max(before_it, 1) + ["B"] + ["note"] * (after_it if before_it else 1)
    content = [{"type": "text", "text": each} for each in words]
    assert (
        over(status="completed", content=content, harnessNoteCount=before_it, harnessTailCount=after_it).reply == reply
    )


@pytest.mark.parametrize(
    "event",
    [
        {"hook_event_name": "PostToolUseFailure", "error": "it broke"},
        {"hook_event_name": "PostToolUseFailure"},
        {"hook_event_name": "PostToolUse", "tool_response": {"status": "async_launched", "content": ANSWER}},
        {"hook_event_name": "PostToolUse", "tool_response": {"status": "completed", "content": []}},
        {"hook_event_name": "PostToolUse", "tool_response": "completed"},
        {"hook_event_name": "PostToolUse"},
    ],
    ids=["failure", "failure without words", "background", "empty", "a text", "nothing"],
)
def test_no_answer_is_a_failed_consult_with_a_reason(event: dict[str, Any]) -> None:
    read = read_event(json.dumps({**event, "tool_use_id": "t1"}).encode())
    assert isinstance(read, ConsultOver)
    assert not read.reply.answered
    assert read.reply.reason


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"hook_event_name": "PreToolUse"}',
        json.dumps(before(3)).encode(),
        json.dumps(before({}, tool_use_id=7)).encode(),
        json.dumps(before({}, hook_event_name="Stop")).encode(),
    ],
)
def test_what_is_no_event_of_a_consult_is_refused(said: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_event(said)
