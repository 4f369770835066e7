"""What recorded and literal streams of the CLI mean."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from review_advisor.adapters.claude.exits import EndedBy, Exit
from review_advisor.adapters.claude.meaning import meaning
from review_advisor.adapters.claude.stream import StreamSummary, decode
from review_advisor.core.roles.calls import (
    Answered,
    AuthenticationFailedError,
    CreditExhaustedError,
    Lost,
    LostReason,
    Stop,
)

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


@pytest.mark.parametrize("exit_", [DONE, FAILED])
@pytest.mark.parametrize(
    "name", ["credit_gone", "credit_gone_402", "limit_long", "consult_credit_gone", "consult_credit_gone_402"]
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


@pytest.mark.parametrize(
    "name,expected",
    [
        ("limit_short", LostReason.RATE_LIMITED),
        ("server_error", LostReason.SERVER_ERROR),
        ("overloaded", LostReason.SERVER_ERROR),
        ("bad_request", LostReason.SERVER_ERROR),
        ("request_timeout", LostReason.SERVER_ERROR),
        ("stalled", LostReason.SERVER_ERROR),
        ("truncated_api_stream", LostReason.SERVER_ERROR),
        ("model_not_found", LostReason.MODEL_NOT_FOUND),
        ("prompt_too_long", LostReason.TOO_LONG),
        ("request_too_large", LostReason.TOO_LONG),
        ("output_limit", LostReason.TRUNCATED),
        ("empty_reply", LostReason.NO_STRUCTURED_OUTPUT),
        ("text_only", LostReason.NO_STRUCTURED_OUTPUT),
        ("invalid_answers", LostReason.INVALID_ANSWER),
        ("refusal", LostReason.MODEL_REFUSED),
        ("money_spent", LostReason.CALL_BUDGET),
        ("turns_spent", LostReason.CALL_BUDGET),
    ],
)
def test_a_failure_is_a_lost_answer(name: str, expected: LostReason) -> None:
    assert reason(recorded(name), FAILED) is expected
    assert reason(recorded(name), DONE) is expected


def test_every_recorded_stream_has_its_meaning_tested() -> None:
    names = {path.stem for path in RECORDED.glob("*.jsonl")}
    source = Path(__file__).read_text()
    assert names
    assert {name for name in names if f'"{name}"' not in source} == set()


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
        (EndedBy.OVERFLOW, LostReason.CRASH),
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
