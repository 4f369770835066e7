"""What recorded and literal streams of the CLI mean."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from review_advisor.agents.calls import (
    LOSSES,
    Answered,
    AuthenticationFailedError,
    Cause,
    CreditExhaustedError,
    Lost,
    LostReason,
    ModelForbiddenError,
    ModelUnknownError,
)
from review_advisor.agents.claude import meaning
from review_advisor.agents.claude_stream import StreamSummary, decode
from review_advisor.safety.children import EndedBy, Exit
from review_advisor.safety.stop import Stop, Usage

RECORDED = Path(__file__).parent.parent / "adapters" / "recorded"
DONE = Exit(0)
FAILED = Exit(1)


def recorded(name: str) -> StreamSummary:
    return decode((RECORDED / f"{name}.jsonl").read_bytes().split(b"\n"))


def literal(*events: dict[str, Any]) -> StreamSummary:
    return decode(json.dumps(event).encode() for event in events)


def result(**more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, **more}


def assistant(error: str | None = None, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"id": "m1", "model": "<synthetic>" if error else "claude-x", "content": []}
    return {"type": "assistant", "message": message, **({"error": error} if error else {}), **more}


def reason(summary: StreamSummary, exit_: Exit = FAILED) -> LostReason:
    outcome = meaning(summary, exit_)
    assert isinstance(outcome, Lost), outcome
    return outcome.reason


# --- recorded ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["answer", "tool_failures", "consult", "consults_past_the_cap"])
def test_an_answer_is_what_the_structured_output_says(name: str) -> None:
    outcome = meaning(recorded(name), DONE)
    assert isinstance(outcome, Answered)
    assert outcome.value["verdict"] == "approve"
    assert outcome.receipt.resolved_model == "claude-sonnet-5-5"
    assert outcome.receipt.usage.cost_usd
    assert outcome.receipt.turns == recorded(name).turns > 0


@pytest.mark.parametrize("exit_", [DONE, FAILED])
@pytest.mark.parametrize(
    "name",
    [
        "credit_gone",
        "credit_gone_402",
        "limit_long",
        "consult_credit_gone",
        "consult_credit_gone_402",
        "consult_limit_long",
    ],
)
def test_an_empty_account_is_a_stop_whatever_the_exit_code(name: str, exit_: Exit) -> None:
    with pytest.raises(CreditExhaustedError) as stopped:
        meaning(recorded(name), exit_)
    assert stopped.value.resume_at is None
    assert stopped.value.receipt.session_id


def test_a_limit_that_says_when_it_lifts_is_a_stop_with_the_time() -> None:
    with pytest.raises(CreditExhaustedError) as stopped:
        meaning(recorded("limit_with_time"), FAILED)
    assert stopped.value.resume_at == datetime.fromtimestamp(1_795_000_000, UTC)


def test_retries_of_an_earlier_request_do_not_make_a_long_limit_short() -> None:
    summary = recorded("recovered_retry")
    assert summary.retries_since_answer == 0
    with pytest.raises(CreditExhaustedError):
        meaning(summary, FAILED)


@pytest.mark.parametrize("name", ["unauthorized", "forbidden", "no_credential", "consult_unauthorized"])
def test_a_refused_credential_is_a_stop(name: str) -> None:
    with pytest.raises(AuthenticationFailedError):
        meaning(recorded(name), DONE)


@pytest.mark.parametrize("name", ["forbidden", "consult_forbidden"])
def test_a_credential_that_may_not_be_used_for_a_model_is_a_stop_that_is_about_both(name: str) -> None:
    with pytest.raises(ModelForbiddenError) as stopped:
        meaning(recorded(name), DONE)
    assert "or may not use this model" in stopped.value.detail
    assert stopped.value.in_consult is (name == "consult_forbidden")


@pytest.mark.parametrize("name", ["model_not_found", "consult_model_not_found"])
def test_a_model_that_does_not_exist_is_a_stop(name: str) -> None:
    with pytest.raises(ModelUnknownError) as stopped:
        meaning(recorded(name), DONE)
    assert "The model does not exist" in stopped.value.detail
    assert stopped.value.in_consult is (name == "consult_model_not_found")


def test_a_short_limit_costs_a_consult_and_nothing_else() -> None:
    assert isinstance(meaning(recorded("consult_limit_short"), DONE), Answered)


def test_a_limit_within_a_consult_that_says_when_it_lifts_is_a_stop_with_the_time() -> None:
    words = "API Error: Request rejected (429) · Claude AI usage limit reached|1795000000"
    said = {"id": "m1", "model": "<synthetic>", "content": [{"type": "text", "text": words}]}
    retried = {"type": "tool_progress", "parent_tool_use_id": "t1", "subagent_retry": {"attempt": 1}}
    failed = {**assistant("rate_limit", parent_tool_use_id="t1"), "message": said}
    with pytest.raises(CreditExhaustedError) as stopped:
        meaning(literal(retried, failed, result(structured_output={"n": 1})), DONE)
    assert stopped.value.resume_at == datetime.fromtimestamp(1_795_000_000, UTC)


def test_all_answers_of_a_call_are_handed_on() -> None:
    outcome = meaning(recorded("two_answers"), DONE)
    assert isinstance(outcome, Answered)
    assert [said["verdict"] for said in outcome.every_answer] == ["VETO", "APPROVE"]
    assert outcome.value["verdict"] == "APPROVE"


@pytest.mark.parametrize("ended_by", [None, *EndedBy])
def test_an_answer_is_handed_on_however_its_call_ended(ended_by: EndedBy | None) -> None:
    block = {"type": "tool_use", "id": "1", "name": "StructuredOutput", "input": {"verdict": "VETO"}}
    said = {"type": "assistant", "message": {"id": "m1", "model": "m", "content": [block]}}
    outcome = meaning(literal(said), Exit(1, ended_by))
    assert isinstance(outcome, Lost)
    assert outcome.said == ({"verdict": "VETO"},)


def test_an_answer_of_a_subagent_is_none_of_the_call() -> None:
    block = {"type": "tool_use", "id": "1", "name": "StructuredOutput", "input": {"verdict": "VETO"}}
    said = {"type": "assistant", "parent_tool_use_id": "t", "message": {"id": "m1", "model": "m", "content": [block]}}
    assert meaning(literal(said), FAILED).said == ()


LATE = Exit(-15, EndedBy.DEADLINE)


def used(identity: str, name: str = "Read") -> dict[str, Any]:
    block = {"type": "tool_use", "id": identity, "name": name, "input": {}}
    return {"type": "assistant", "message": {"id": identity, "model": "m", "content": [block]}}


def gave(identity: str) -> dict[str, Any]:
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": identity}]}}


def partial(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": {"type": kind}, **more}


RETRY = {"type": "system", "subtype": "api_retry"}
DEADLINES: dict[str, tuple[StreamSummary, bool, LostReason]] = {
    "nothing heard": (recorded("nothing_heard"), True, LostReason.SILENT),
    "a message on its way": (recorded("at_work"), True, LostReason.TIMEOUT),
    "heard a moment ago": (recorded("nothing_heard"), False, LostReason.TIMEOUT),
    "a tool call open": (literal(used("1")), True, LostReason.TIMEOUT),
    "a consult open": (literal(used("1", "Agent")), True, LostReason.TIMEOUT),
    "all tool calls done": (literal(used("1"), gave("1")), True, LostReason.SILENT),
    "one of two tool calls done": (literal(used("1"), used("2"), gave("1")), True, LostReason.TIMEOUT),
    "a whole message": (literal(partial("message_start"), partial("message_stop")), True, LostReason.SILENT),
    "tried again": (literal(partial("message_start"), RETRY), True, LostReason.SILENT),
    "a subagent's message": (literal(partial("message_start", parent_tool_use_id="t")), True, LostReason.SILENT),
}


@pytest.mark.parametrize("summary,quiet,expected", DEADLINES.values(), ids=DEADLINES)
def test_a_deadline_is_an_outage_only_if_nothing_was_heard_and_nothing_was_open(
    summary: StreamSummary, quiet: bool, expected: LostReason
) -> None:
    outcome = meaning(summary, LATE, quiet=quiet)
    assert isinstance(outcome, Lost)
    assert outcome.reason is expected


ENDS: dict[str, tuple[Exit, tuple[dict[str, Any], ...], LostReason]] = {
    "killed for its memory": (Exit(-9), (), LostReason.CRASH),
    "out of heap": (Exit(134), (), LostReason.CRASH),
    "exit 0 without a result": (DONE, (), LostReason.TRUNCATED),
    "an error without a class": (FAILED, (result(subtype="error_during_execution", is_error=True),), LostReason.CRASH),
}


@pytest.mark.parametrize("tool", ["Read", "Agent", "StructuredOutput"])
@pytest.mark.parametrize("exit_,last,calm", ENDS.values(), ids=ENDS)
def test_a_crash_is_an_outage_only_if_no_tool_call_was_open(
    exit_: Exit, last: tuple[dict[str, Any], ...], calm: LostReason, tool: str
) -> None:
    assert reason(literal(used("1", tool), *last), exit_) is LostReason.CRASHED_AT_WORK
    assert reason(literal(used("1", tool), used("2"), gave("1"), *last), exit_) is LostReason.CRASHED_AT_WORK
    assert reason(literal(used("1", tool), gave("1"), partial("message_start"), *last), exit_) is calm
    assert LOSSES[calm].cause is Cause.OUTAGE


OUTAGES: dict[str, tuple[Exit, tuple[dict[str, Any], ...]]] = {
    **{name: (exit_, last) for name, (exit_, last, _) in ENDS.items()},
    "silence": (Exit(-15, EndedBy.DEADLINE), ()),
    "the server's error": (FAILED, (assistant("server_error"), result(is_error=True))),
    "a short limit": (
        FAILED,
        ({"type": "system", "subtype": "api_retry"}, result(is_error=True, api_error_status=429)),
    ),
}


@pytest.mark.parametrize("exit_,events", OUTAGES.values(), ids=OUTAGES)
@pytest.mark.parametrize("line", [b"out of memory", b'{"type": "assistant", "message": {"content": [{"verdict": "VET'])
def test_no_loss_is_an_outage_after_a_line_that_nobody_could_read(
    exit_: Exit, events: tuple[dict[str, Any], ...], line: bytes
) -> None:
    told = [json.dumps(each).encode() for each in events]
    calm = meaning(decode(told), exit_, quiet=True)
    lost = meaning(decode([line, *told]), exit_, quiet=True)
    assert isinstance(calm, Lost)
    assert isinstance(lost, Lost)
    assert calm.cause is not Cause.CONTENT
    assert (lost.cause, lost.reason) == (Cause.CONTENT, LostReason.INVALID_ANSWER)


def test_noise_beside_an_answer_costs_nothing() -> None:
    told = [b"a warning", json.dumps(result(structured_output={"n": 1})).encode()]
    assert isinstance(meaning(decode(told), DONE), Answered)


def test_structured_output_as_a_json_string_is_an_answer() -> None:
    outcome = meaning(literal(result(structured_output='{"n": 1}')), DONE)
    assert isinstance(outcome, Answered)
    assert outcome.value == {"n": 1}


@pytest.mark.parametrize(
    "error_class,status,expected",
    [
        ("unknown", 400, LostReason.BAD_REQUEST),
        ("unknown", None, LostReason.BAD_REQUEST),
        ("unknown", 503, LostReason.SERVER_ERROR),
        ("invalid_request", 422, LostReason.BAD_REQUEST),
        ("invalid_request", 413, LostReason.TOO_LONG),
        ("a new class", None, LostReason.BAD_REQUEST),
        ("server_error", None, LostReason.SERVER_ERROR),
        ("overloaded", 529, LostReason.SERVER_ERROR),
    ],
)
def test_only_what_is_known_to_be_the_other_sides_failure_is_an_outage(
    error_class: str, status: int | None, expected: LostReason
) -> None:
    failed = result(is_error=True, api_error_status=status)
    assert reason(literal(assistant(error_class), failed)) is expected


def test_every_loss_has_a_cause_and_only_these_are_outages_or_rate_limits() -> None:
    assert set(LOSSES) == set(LostReason)
    assert {reason for reason, loss in LOSSES.items() if loss.cause is Cause.OUTAGE} == {
        LostReason.CRASH,
        LostReason.SILENT,
        LostReason.TRUNCATED,
        LostReason.SERVER_ERROR,
        LostReason.TOLERATED_RATE_LIMIT,
    }
    limits = {reason for reason, loss in LOSSES.items() if loss.cause is Cause.RATE_LIMIT}
    assert limits == {LostReason.RATE_LIMITED}


IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "a negative cost": {"total_cost_usd": -5.0},
    "a cost without end": {"total_cost_usd": 1e300},
    "a cost of 400 digits": {"total_cost_usd": 10**400},
    "a cost that is no number": {"total_cost_usd": float("nan")},
    "a model's negative cost": {"modelUsage": {"m": {"costUSD": -0.01}}},
    "negative tokens": {"modelUsage": {"m": {"inputTokens": -1}}},
    "400 digits of tokens": {"modelUsage": {"m": {"outputTokens": 10**400}}},
}


@pytest.mark.parametrize("said", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_call_that_used_what_no_call_can_use_is_lost_and_pays_nothing_back(said: dict[str, Any]) -> None:
    outcome = meaning(literal(result(structured_output={"n": 1}, **said)), DONE)
    assert isinstance(outcome, Lost)
    assert (outcome.reason, outcome.receipt.usage, outcome.receipt.by_model) == (
        LostReason.IMPOSSIBLE_USAGE,
        Usage(),
        (),
    )


def test_without_a_result_impossible_tokens_of_a_message_are_none() -> None:
    said = {"type": "assistant", "message": {"id": "1", "model": "m", "usage": {"input_tokens": 10**400}}}
    assert meaning(literal(said), FAILED).receipt.usage == Usage()


@pytest.mark.parametrize(
    "name,expected",
    [
        ("limit_short", LostReason.RATE_LIMITED),
        ("server_error", LostReason.SERVER_ERROR),
        ("overloaded", LostReason.SERVER_ERROR),
        ("bad_request", LostReason.BAD_REQUEST),
        ("request_timeout", LostReason.SERVER_ERROR),
        ("stalled", LostReason.SERVER_ERROR),
        ("truncated_api_stream", LostReason.SERVER_ERROR),
        ("prompt_too_long", LostReason.TOO_LONG),
        ("request_too_large", LostReason.TOO_LONG),
        ("output_limit", LostReason.OUTPUT_LIMIT),
        ("empty_reply", LostReason.NO_STRUCTURED_OUTPUT),
        ("text_only", LostReason.NO_STRUCTURED_OUTPUT),
        ("invalid_answers", LostReason.INVALID_ANSWER),
        ("refusal", LostReason.MODEL_REFUSED),
        ("money_spent", LostReason.CALL_BUDGET),
        ("turns_spent", LostReason.CALL_BUDGET),
        ("nothing_heard", LostReason.TRUNCATED),
        ("at_work", LostReason.TRUNCATED),
    ],
)
def test_a_failure_is_a_lost_answer(name: str, expected: LostReason) -> None:
    assert reason(recorded(name), DONE) is expected
    ended = recorded(name).result is not None
    assert reason(recorded(name), FAILED) is (expected if ended else LostReason.CRASH)


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: str(path.stem))
def test_a_stream_cut_anywhere_never_invents_an_answer(path: Path) -> None:
    whole = path.read_bytes()
    for end in range(0, whole.rindex(b'{"', 0, len(whole) - 1), 997):
        try:
            outcome = meaning(decode(whole[:end].split(b"\n")), DONE)
        except Stop:
            continue
        assert isinstance(outcome, Lost)


# --- literal ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ended_by,expected",
    [
        (EndedBy.DEADLINE, LostReason.TIMEOUT),
        (EndedBy.OBSERVER, LostReason.UNGUARDED_CONSULT),
        (EndedBy.OVERFLOW, LostReason.OUTPUT_LIMIT),
        (EndedBy.REQUEST, LostReason.CRASH),
    ],
)
def test_a_call_that_we_ended_is_lost_even_with_an_answer(ended_by: EndedBy, expected: LostReason) -> None:
    assert reason(recorded("answer"), Exit(0, ended_by)) is expected


@pytest.mark.parametrize(
    "code,expected,said",
    [
        (0, LostReason.TRUNCATED, "without a result"),
        (1, LostReason.CRASH, "exit code 1 before its result: error: unknown option"),
        (-9, LostReason.CRASH, "killed by signal 9"),
    ],
)
def test_without_a_result_there_is_no_answer(code: int, expected: LostReason, said: str) -> None:
    outcome = meaning(literal(assistant()), Exit(code, stderr_tail="warning\nerror: unknown option\n"))
    assert isinstance(outcome, Lost)
    assert outcome.reason is expected
    assert said in outcome.detail


@pytest.mark.parametrize("words", ["Credit balance is too low", "Not logged in", "limit reached|1795000000"])
def test_words_in_a_successful_result_are_not_believed(words: str) -> None:
    summary = literal(result(result=words, structured_output={"summary": words}))
    assert isinstance(meaning(summary, DONE), Answered)
    assert reason(literal(result(result=words))) is LostReason.NO_STRUCTURED_OUTPUT


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_structured_output_that_is_no_object_is_missing(value: object) -> None:
    assert reason(literal(result(structured_output=value))) is LostReason.NO_STRUCTURED_OUTPUT


def test_the_last_of_two_results_counts() -> None:
    first, second = result(structured_output={"n": 1}), result(structured_output={"n": 2})
    outcome = meaning(literal(first, second), DONE)
    assert isinstance(outcome, Answered)
    assert outcome.value == {"n": 2}
    assert reason(literal(first, result())) is LostReason.NO_STRUCTURED_OUTPUT


def test_a_success_subtype_does_not_outweigh_is_error() -> None:
    summary = literal(result(is_error=True, structured_output={"n": 1}))
    assert reason(summary, DONE) is LostReason.CRASH
    unsaid = result(structured_output={"n": 1})
    del unsaid["is_error"]
    assert reason(literal(unsaid), DONE) is LostReason.CRASH


@pytest.mark.parametrize("subtype", ["model_fallback", "model_refusal_fallback"])
def test_an_answer_of_another_model_is_lost(subtype: str) -> None:
    swapped = {"type": "system", "subtype": subtype}
    assert reason(literal(swapped, result(structured_output={"n": 1})), DONE) is LostReason.MODEL_REFUSED


@pytest.mark.parametrize(
    "error_class",
    [
        "authentication_failed",
        "oauth_org_not_allowed",
        "account_on_hold",
        "verification_required",
        "cloud_credential_error",
    ],
)
def test_every_class_of_refused_credential_is_a_stop(error_class: str) -> None:
    with pytest.raises(AuthenticationFailedError):
        meaning(literal(assistant(error_class), result(is_error=True)), FAILED)


def test_not_logged_in_without_a_class_is_a_refused_credential() -> None:
    with pytest.raises(AuthenticationFailedError):
        meaning(literal(result(is_error=True, result="Not logged in · Please run /login")), FAILED)


def test_an_error_the_main_loop_recovered_from_is_over() -> None:
    summary = literal(assistant("billing_error"), assistant(), result(is_error=True, subtype="error_max_turns"))
    assert reason(summary) is LostReason.CALL_BUDGET


def test_a_consult_that_found_the_account_empty_stops_even_a_call_that_timed_out() -> None:
    with pytest.raises(CreditExhaustedError):
        meaning(literal(assistant("billing_error", parent_tool_use_id="t1")), Exit(-15, EndedBy.DEADLINE))


def test_a_consult_that_failed_otherwise_costs_nothing_but_the_advice() -> None:
    summary = literal(assistant("server_error", parent_tool_use_id="t1"), result(structured_output={"n": 1}))
    assert isinstance(meaning(summary, DONE), Answered)


def test_an_answer_of_a_model_with_tools_that_were_not_offered_does_not_count() -> None:
    summary = recorded("answer")
    offered = {"Task", "Glob", "Grep", "Read", "StructuredOutput"}
    assert isinstance(meaning(summary, DONE, (), offered), Answered)
    lost = meaning(summary, DONE, (), offered - {"Grep"})
    assert isinstance(lost, Lost)
    assert lost.reason is LostReason.UNEXPECTED_TOOLS
    assert "Grep" in lost.detail
