"""What a hostile change may make a model say, or its CLI do: no form of a no, and no way to end, buys an approval.

Each cell is a stream of the CLI, read as a real one is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product

import pytest

from review_advisor.agents.answers import PostVerifyResult, ReviewReport
from review_advisor.agents.calls import Cause, Lost, LostReason
from review_advisor.agents.claude import meaning
from review_advisor.agents.claude_stream import decode
from review_advisor.agents.replies import checked_reply
from review_advisor.policy.surfaces import Authority
from review_advisor.review.rulings import Move, Standing, rule
from review_advisor.safety.children import Exit
from review_advisor.safety.fence import legible

DEEP = "[" * 3_000 + "]" * 3_000
JUDGES_NO: dict[str, bytes] = {
    "plain": b'{"verdict": "VETO", "reasoning": "RCE"}',
    "nested by 3,000 levels": f'{{"verdict": "VETO", "reasoning": "RCE", "x": {DEEP}}}'.encode(),
    "of 5,000 digits": b'{"verdict": "VETO", "reasoning": "RCE", "x": ' + b"9" * 5_000 + b"}",
    "in bytes that are no UTF-8": b'{"verdict": "VETO", "reasoning": "RCE \xff"}',
    "as a JSON string": json.dumps('{"verdict": "VETO", "reasoning": "RCE"}').encode(),
    "in a list": b'[{"verdict": "VETO", "reasoning": "RCE"}]',
    "with an invisible character": '{"verdict": "VE\u200bTO", "reasoning": "RCE"}'.encode(),
    "in Markdown": b'{"verdict": "_VETO_", "reasoning": "RCE"}',
    "in another word": b'{"verdict": "REJECT", "reasoning": "RCE"}',
    "under another key": b'{"decision": "VETO", "reasoning": "RCE"}',
    "twice under one key": b'{"verdict": "VETO", "verdict": "APPROVE", "reasoning": "RCE"}',
    "in a disagreement of unknown weight": b'{"verdict": "APPROVE", "disagreements": [{"severity": "critical"}]}',
}
FINDING = {"path": "a.py", "line": 1, "category": "c", "title": "RCE", "confidence": 1, "evidence": "eval(x)"}
EXECUTORS_NO: dict[str, bytes] = {
    "plain": b'{"verdict": "reject", "summary": "RCE", "confidence": 1}',
    "request_changes": b'{"verdict": "request_changes", "summary": "RCE", "confidence": 1}',
    "no": b'{"verdict": "no", "summary": "RCE", "confidence": 1}',
    **{
        f"a finding of severity {json.dumps(severity)}": json.dumps(
            {"verdict": "approve", "summary": "s", "confidence": 1, "findings": [{**FINDING, "severity": severity}]}
        ).encode()
        for severity in (None, 1, ["critical"], "catastrophic", "critical")
    },
    "a finding that is a sentence": b'{"verdict": "approve", "summary": "s", "confidence": 1, "findings": ["RCE"]}',
}
YES = {
    PostVerifyResult: b'{"verdict": "APPROVE", "reasoning": "fine"}',
    ReviewReport: b'{"verdict": "approve", "summary": "fine", "confidence": 1}',
}
WAYS_ON = ("the result", "then a yes", "then a crash", "then nothing", "then the server's error")
CELLS = [
    *((PostVerifyResult, form, way) for form, way in product(JUDGES_NO, WAYS_ON)),
    *((ReviewReport, form, way) for form, way in product(EXECUTORS_NO, WAYS_ON)),
]


def used(said: bytes) -> bytes:
    block = b'{"type": "tool_use", "id": "1", "name": "StructuredOutput", "input": ' + said + b"}"
    return b'{"type": "assistant", "message": {"id": "1", "model": "m", "content": [' + block + b"]}}"


def result(said: bytes) -> bytes:
    return b'{"type": "result", "subtype": "success", "is_error": false, "structured_output": ' + said + b"}"


TAKEN = b'{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "1"}]}}'
FAILED = [
    b'{"type": "assistant", "message": {"model": "<synthetic>"}, "error": "server_error"}',
    b'{"type": "result", "subtype": "success", "is_error": true}',
]


def read(model: type[PostVerifyResult | ReviewReport], said: bytes, way: str) -> PostVerifyResult | ReviewReport | Lost:
    """What the review is told of a call that said this and went on in this way."""
    rest = {"the result": [result(said)], "then a yes": [used(YES[model]), TAKEN, result(YES[model])]}
    rest["then the server's error"] = FAILED
    reply = meaning(decode([used(said), TAKEN, *rest.get(way, [])]), Exit(-9 if way == "then a crash" else 0))
    return checked_reply(model, legible(reply)).answer


def approves(answer: PostVerifyResult | ReviewReport | Lost) -> bool:
    """Whether an approval may come of it, of an executor at once or of a judge by the ruling."""
    if isinstance(answer, ReviewReport):
        return answer.verdict == "approve"
    standing = Standing(
        executor="approve",
        authority=Authority.VETO,
        guarded=False,
        fail_as_veto=False,
        retry_budget=1,
        retries_used=0,
        rejection_retries_used=0,
    )
    return rule(standing, answer).move is Move.ACCEPT


@pytest.mark.parametrize("model,form,way", CELLS)
def test_a_no_in_any_form_and_on_any_way_approves_nothing(
    model: type[PostVerifyResult | ReviewReport], form: str, way: str
) -> None:
    said = (JUDGES_NO if model is PostVerifyResult else EXECUTORS_NO)[form]
    assert not approves(read(model, said, way))


@pytest.mark.parametrize("model", YES)
def test_a_clear_yes_is_one(model: type[PostVerifyResult | ReviewReport]) -> None:
    assert approves(read(model, YES[model], "the result"))
    assert approves(read(model, YES[model], "then a yes"))


@pytest.mark.parametrize("code", [-9, 0, 1])
@pytest.mark.parametrize("model", YES)
@pytest.mark.parametrize("whole", [used, result])
def test_half_a_line_approves_nothing(
    whole: Callable[[bytes], bytes], model: type[PostVerifyResult | ReviewReport], code: int
) -> None:
    line = whole(b'{"verdict": "VETO", "reasoning": "reject"}')
    for end in range(1, len(line)):
        reply = meaning(decode([line[:end]]), Exit(code))
        assert isinstance(reply, Lost)
        assert reply.cause is Cause.CONTENT
        assert not approves(checked_reply(model, legible(reply)).answer)


OPEN = b'{"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "2", "name": "Read"}]}}'


@pytest.mark.parametrize("code", [-9, -11, 0, 1, 134])
def test_a_file_that_kills_the_cli_when_it_is_read_buys_nothing(code: int) -> None:
    lost = meaning(decode([OPEN]), Exit(code))
    assert isinstance(lost, Lost)
    assert (lost.reason, approves(lost)) == (LostReason.CRASHED_AT_WORK, False)
