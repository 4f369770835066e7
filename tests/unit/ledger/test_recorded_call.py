"""A recorded call is one line, whatever its words are, and nothing of it changes unnoticed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.agents.calls import AgentCall, Answered
from review_advisor.agents.kept_replies import RunNames
from review_advisor.agents.recordings import CallIdentity, read_recording, recorded_call, recording_line
from review_advisor.change.redaction import NO_SECRETS
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.stop import Receipt

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
NAMES = RunNames("run_20260105T120000Z_00000001", "00c0ffee00c0ffee")
TEXT = st.text(max_size=30) | st.sampled_from(["../../x", "a\nb", "a\r\nb", "\0", "\x85", "\u2028", '"}', "]]>", "é"])


def call(number: int = 1, *, prompt: str = "asked", advisor: str = "somebody", model: str = "opus") -> AgentCall:
    return AgentCall(
        role=Role.POST_VERIFY,
        advisor=advisor,
        surface=Surface.PR_REVIEW,
        attempt=1,
        shard=0,
        model=model,
        system_prompt="judge",
        blocks=(prompt,),
        answer=PostVerifyResult,
        tree=None,
        consults=None,
        max_usd=1.0,
        timeout_seconds=1.0,
        number=number,
    )


def answer(text: str = "fine") -> Answered:
    return Answered({"verdict": "APPROVE", "reasoning": text}, Receipt())


@given(advisor=TEXT, model=TEXT, prompt=TEXT, reply=TEXT, stream=st.lists(TEXT, max_size=2))
def test_a_call_with_any_words_is_one_line_that_reads_back_the_same(
    advisor: str, model: str, prompt: str, reply: str, stream: list[str]
) -> None:
    told = recorded_call(
        call(advisor=advisor, model=model, prompt=prompt), answer(reply), NAMES, NO_SECRETS, NOON, stream=stream
    )
    line = recording_line(told)
    assert line.count(b"\n") == 1
    read = read_recording(line * 2)
    assert (read.calls, read.problems) == ((told, told), ())


def test_a_line_of_output_stays_json_without_nonce_and_secret_however_they_are_spelled() -> None:
    token = "ghp_" + "A1b2C3d4" * 5
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in token)
    lines = [
        json.dumps({"text": f"{NAMES.nonce} {token}"}),
        f'{{"text": "{spelled}"}}',
        f"no JSON: {NAMES.nonce} {token}",
    ]
    told = recorded_call(call(), answer(), NAMES, NO_SECRETS, NOON, stream=lines)
    first, second, third = told.stream or ()
    assert json.loads(first) == {"text": "\0nonce\0 [secret: GitHub token]_[*]"}
    assert json.loads(second) == {"text": "[secret: GitHub token]_[*]"}
    assert third == "no JSON: \0nonce\0 [secret: GitHub token]_[*]"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_number_that_json_cannot_spell_leaves_a_line_of_output_json(number: str) -> None:
    line = f'{{"type": "result", "cost": {number}, "of": [{number}]}}'
    (told,) = recorded_call(call(), answer(), NAMES, NO_SECRETS, NOON, stream=[line]).stream or ()
    assert json.loads(told, parse_constant=pytest.fail) == {"type": "result", "cost": None, "of": [None]}


def test_a_forged_recording_does_not_steer_the_terminal() -> None:
    told = recorded_call(call(model="opus\x1b[2J\u202e"), answer(), NAMES, NO_SECRETS, NOON)
    shown = read_recording(recording_line(told)).as_text()
    assert shown.count("\n") == 1
    assert shown.strip().isprintable()


def test_a_call_is_known_by_everything_that_tells_it_from_others() -> None:
    which = recorded_call(
        replace(call(7), shard=2, attempt=3, asks_again=5, further_try=1, blind=True),
        answer(),
        NAMES,
        NO_SECRETS,
        NOON,
    ).identity
    assert which == CallIdentity(Surface.PR_REVIEW, Role.POST_VERIFY, "somebody", 2, 7, 3, 5, 1, blind=True)


def test_no_byte_of_a_line_can_change_unnoticed() -> None:
    line = recording_line(recorded_call(call(), answer(), NAMES, NO_SECRETS, NOON))
    for place in range(len(line) - 1):
        changed = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
        assert read_recording(changed).calls == ()
    for end in range(1, len(line) - 1):
        assert read_recording(line[:end]).problems == ("line 1 of the recording is incomplete or was changed",)
