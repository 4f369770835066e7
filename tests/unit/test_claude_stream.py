"""The CLI's stream, folded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.claude_stream import StreamReader, StreamSummary, decode
from review_advisor.safety.stop import Usage

RECORDED = Path(__file__).parent.parent / "adapters" / "recorded"


def recorded(name: str) -> StreamSummary:
    return decode((RECORDED / f"{name}.jsonl").read_bytes().split(b"\n"))


def lines(*events: dict[str, Any]) -> list[bytes]:
    return [json.dumps(event).encode() for event in events]


def used(tool: str, identity: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": identity, "name": tool, "input": {"file_path": "/tree/a.py"}}
    return {"type": "assistant", "message": {"id": identity, "model": "m", "content": [block]}}


def gave(identity: str, is_error: bool, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": identity, "is_error": is_error}
    return {"type": "user", "message": {"content": [block]}, **more}


def test_the_first_event_says_what_runs() -> None:
    summary = recorded("answer")
    assert set(summary.tools) == {"Task", "Glob", "Grep", "Read", "StructuredOutput"}
    assert summary.resolved_model == "claude-sonnet-5-5"


def test_usage_is_per_model_and_in_total() -> None:
    summary = recorded("consult")
    assert {entry.model: entry.usage.input_tokens for entry in summary.by_model} == {
        "claude-sonnet-5-5": 200,
        "claude-opus-5-5": 100,
    }
    assert summary.usage.input_tokens == 300
    assert summary.usage.output_tokens == 60
    assert summary.usage.cost_usd == pytest.approx(sum(entry.usage.cost_usd or 0 for entry in summary.by_model))


def test_without_a_result_the_messages_tell_the_usage_and_no_cost() -> None:
    body = (RECORDED / "consult.jsonl").read_bytes().split(b"\n")
    summary = decode(line for line in body if b'"type": "result"' not in line and b'"type":"result"' not in line)
    assert summary.result is None
    assert summary.usage.input_tokens == 300
    assert summary.usage.cost_usd is None


def test_the_main_loops_own_tokens_are_told_apart_from_its_consults() -> None:
    assert recorded("consult").own_usage == Usage(200, 40)
    body = (RECORDED / "consult.jsonl").read_bytes().split(b"\n")
    killed = decode(line for line in body if b'"type": "result"' not in line and b'"type":"result"' not in line)
    main, consults = {entry.model: entry.usage for entry in killed.by_model}.values()
    assert killed.own_usage == main
    assert consults.input_tokens == 100


def finished(own: Any) -> dict[str, Any]:
    return {"type": "result", "usage": own, "modelUsage": {"m": {"inputTokens": 9, "outputTokens": 5}}}


@pytest.mark.parametrize(
    "events, known",
    [
        ([finished({"input_tokens": 7, "output_tokens": 2})], Usage(7, 2)),
        ([finished({})], None),
        ([finished(None)], None),
        ([finished({"input_tokens": 0, "output_tokens": 0})], None),
        ([finished({"input_tokens": 5}), finished({"input_tokens": 2})], None),
    ],
    ids=["told", "empty", "absent", "nothing", "two results: the last tells its own turns only"],
)
def test_tokens_of_the_main_loop_that_nobody_told_are_unknown(
    events: list[dict[str, Any]], known: Usage | None
) -> None:
    summary = decode(lines(*events))
    assert (summary.own_usage, summary.usage) == (known, Usage(9, 5))


def test_a_started_subagent_is_reported_at_its_line() -> None:
    reader = StreamReader()
    seen = [reader.feed(line) for line in (RECORDED / "consult.jsonl").read_bytes().split(b"\n")]
    (started,) = [task for task in seen if task is not None]
    assert started.subagent_type == "hydraflow-review-advisor"
    assert started.prompt is not None
    assert started.prompt.startswith("<!-- HYDRAFLOW_MID_FLIGHT")
    assert not started.is_backgrounded


def test_the_longest_run_of_failed_tools_is_counted() -> None:
    assert recorded("tool_failures").tool_failures == 2


@pytest.mark.parametrize(
    "name, turns",
    [
        ("answer", 1),
        ("tool_failures", 5),
        ("turns_spent", 3),
        ("credit_gone", 0),
        ("consult", 2),
        ("text_only", 2),
        ("consults_past_the_cap", 2),
    ],
)
def test_a_turn_is_a_message_of_the_main_loop(name: str, turns: int) -> None:
    assert recorded(name).turns == turns


def test_the_turns_of_a_call_that_was_killed_are_counted_too() -> None:
    begun = (RECORDED / "tool_failures.jsonl").read_bytes().splitlines()
    before_its_end = [line for line in begun if b'"type":"result"' not in line]
    assert decode(before_its_end).turns == 5


def test_denied_consults_refused_answers_and_the_advisors_own_tools_are_no_tool_failures() -> None:
    summary = decode(
        lines(
            *(used("Read", "1"), gave("1", True)),
            *(used("Agent", "2"), gave("2", True)),
            *(used("StructuredOutput", "3"), gave("3", True)),
            gave("9", True, parent_tool_use_id="2"),
            *(used("Grep", "4"), gave("4", True)),
            *(used("Read", "5"), gave("5", False)),
            *(used("Read", "6"), gave("6", True)),
        )
    )
    assert summary.tool_failures == 2
    assert recorded("consults_past_the_cap").tool_failures == 0
    assert recorded("invalid_answers").tool_failures == 0


@pytest.mark.parametrize(
    "garbage",
    [b"not json", b"[1]", b"\xff\xfe", b"3", b'{"type": "result"', b"[" * 100_000, b'{"n": ' + b"9" * 5_000 + b"}"],
    ids=["words", "list", "bytes", "number", "half", "deep", "huge number"],
)
def test_garbage_changes_nothing(garbage: bytes) -> None:
    body = (RECORDED / "answer.jsonl").read_bytes().split(b"\n")
    clean, dirty = decode(body), decode([garbage, *body, garbage])
    assert dirty.result == clean.result
    assert dirty.usage == clean.usage


DEEP = "[" * 20_000 + "]" * 20_000
READ: dict[str, tuple[bytes, Any]] = {
    "nested by 20,000 levels": (f'{{"verdict": "VETO", "x": {DEEP}, "y": "]"}}'.encode(), "VETO"),
    "with 5,000 digits": (b'{"verdict": "VETO", "x": ' + b"9" * 5_000 + b"}", "VETO"),
    "with bytes that are no UTF-8": (b'{"verdict": "VETO", "x": "\xff\xfe"}', "VETO"),
    "with a line break in a text": (b'{"verdict": "VETO", "x": "a\tb"}', "VETO"),
    "with two verdicts": (b'{"verdict": "VETO", "verdict": "APPROVE"}', ["VETO", "APPROVE"]),
    "as a JSON string": (b'"{\\"verdict\\": \\"VETO\\"}"', "VETO"),
}


@pytest.mark.parametrize("said,verdict", READ.values(), ids=READ)
def test_an_answer_is_read_whatever_python_thinks_of_its_json(said: bytes, verdict: object) -> None:
    used = b'{"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "StructuredOutput", "input": '
    done = b'{"type": "result", "is_error": false, "structured_output": '
    summary = decode([used + said + b"}]}}", done + said + b"}"])
    assert [answer["verdict"] for answer in summary.answers] == [verdict, verdict]
    assert summary.result is not None
    assert summary.result.structured_output == summary.answers[1]
    assert not summary.unreadable


@pytest.mark.parametrize("said", [["x"], 3, "words", False, [{"verdict": "VETO"}]])
def test_an_answer_of_any_type_is_one(said: object) -> None:
    block = {"type": "tool_use", "id": "1", "name": "StructuredOutput", "input": said}
    given = {"type": "assistant", "message": {"content": [block]}}
    summary = decode(lines(given, {"type": "result", "structured_output": said}))
    assert summary.answers == (said, said)
    assert summary.result is not None
    assert summary.result.structured_output is None


@pytest.mark.parametrize("said", [None, {}, ""])
def test_nothing_is_no_answer(said: object) -> None:
    assert decode(lines({"type": "result", "structured_output": said})).answers == ()


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: str(path.stem))
def test_every_recorded_line_can_be_read(path: Path) -> None:
    assert not recorded(path.stem).unreadable


@pytest.mark.parametrize("line", [b"not json", b"[1]", b"3", b'{"type": "result"', b"[" * 100_000])
def test_a_line_that_is_no_event_is_remembered(line: bytes) -> None:
    assert decode([line]).unreadable


def test_blank_lines_say_nothing() -> None:
    assert not decode([b"", b"  ", b"\r"]).unreadable


_ODD_PLAIN: list[Any] = [None, True, 0, -1, 2.5, float("nan"), float("inf"), "", "x", [], {}, [None]]
_ODD_NESTED: list[Any] = [
    [{"type": "tool_use"}],
    {"content": 3},
    {"content": [{"type": "tool_result"}], "usage": []},
    {"id": "m", "model": "m", "usage": {"input_tokens": "x"}},
    {"m": None},
    {"m": {"inputTokens": None, "costUSD": "x"}},
    ["x", 3],
]
_KEYS = [
    *("subtype", "message", "error", "result", "structured_output", "usage", "modelUsage", "is_error", "tools"),
    *("total_cost_usd", "prompt", "tool_use_id", "parent_tool_use_id", "errors", "api_error_status"),
]
_values = st.sampled_from([*_ODD_PLAIN, *_ODD_NESTED])
_keys = st.sampled_from(_KEYS)
_events = st.dictionaries(_keys, _values, max_size=6).flatmap(
    lambda event: st.sampled_from(["system", "assistant", "user", "result"]).map(lambda kind: {**event, "type": kind})
)


@given(st.lists(_events, max_size=6))
def test_no_event_of_the_wrong_shape_breaks_the_reader(events: list[dict[str, Any]]) -> None:
    decode(json.dumps(event).encode() for event in events)


def test_failures_and_readings_count_from_the_last_answered_consult() -> None:
    stuck = (
        *(used("Read", "1"), gave("1", True)),
        *(used("Read", "2"), gave("2", True)),
    )
    asked = (used("Agent", "3"), gave("3", False))
    denied = (used("Agent", "4"), gave("4", True))
    assert (decode(lines(*stuck)).failures_unadvised, decode(lines(*stuck)).readings_unadvised) == (2, 2)
    assert decode(lines(*stuck, *denied)).failures_unadvised == 2
    assert decode(lines(*stuck, *asked)).failures_unadvised == 0
    assert decode(lines(*stuck, *asked)).readings_unadvised == 0
    assert decode(lines(*stuck, *asked)).tool_failures == 2
    again = (used("Grep", "5"), gave("5", True))
    assert decode(lines(*stuck, *asked, *again)).failures_unadvised == 1


def test_pings_alone_are_silence() -> None:
    reader = StreamReader()
    for _ in range(3):
        reader.feed(json.dumps({"type": "stream_event", "event": {"type": "ping"}}).encode())
    assert reader.signs_of_work == 0
    reader.feed(json.dumps({"type": "stream_event", "event": {"type": "message_start"}}).encode())
    assert reader.signs_of_work == 1


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}


def read_of(path: str, *content: dict[str, Any], is_error: bool = False, parent: str | None = None) -> list[bytes]:
    """A use of Read on ``path`` and what it gave back."""
    use = {"type": "tool_use", "id": path, "name": "Read", "input": {"file_path": path}}
    result = {"type": "tool_result", "tool_use_id": path, "is_error": is_error, "content": list(content)}
    return lines(
        {"type": "assistant", "parent_tool_use_id": parent, "message": {"id": path, "model": "m", "content": [use]}},
        {"type": "user", "parent_tool_use_id": parent, "message": {"content": [result]}},
    )


@pytest.mark.parametrize(
    "told, opened",
    [
        (read_of("a.png", IMAGE), ("a.png",)),
        (read_of("/tree/b/../a.png", IMAGE), ("a.png",)),
        (read_of("./b//a.png", {"type": "text", "text": "a picture"}, IMAGE), ("b/a.png",)),
        (read_of("/trees/a.png", IMAGE), ("/trees/a.png",)),
        (read_of("a.png", {"type": "text", "text": "no such file"}), ()),
        (read_of("a.png", IMAGE, is_error=True), ()),
        (read_of("a.png", IMAGE, parent="consult"), ()),
        (read_of("a.png", IMAGE)[:1], ()),
        (read_of("a.png", IMAGE)[1:], ()),
        (read_of("a.png", IMAGE) * 2, ("a.png",)),
    ],
)
def test_a_file_counts_as_opened_once_the_main_loop_was_given_it_as_a_picture(
    told: list[bytes], opened: tuple[str, ...]
) -> None:
    assert decode([*lines({"type": "system", "subtype": "init", "cwd": "/tree"}), *told]).opened == opened
