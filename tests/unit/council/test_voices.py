"""What an advisor's answers in one call come to as a vote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review_advisor.agents.calls import Cause, Lost, LostReason
from review_advisor.policy.roster import Advisor
from review_advisor.review.votes import voice_of

ACTIONS = ("deploy", "delay", "rollback")
OWN = json.dumps({"type": "object", "properties": {"thought": {"type": "string"}}, "required": ["thought"]})
JUDGE = Advisor("judge", "You are a judge.", on="finish", answer=OWN)
OUTAGE = Lost(LostReason.SERVER_ERROR, "The API is overloaded.")


def vote(**weights: int) -> dict[str, Any]:
    return {"thought": "Hm.", "calls": json.dumps(weights)}


@pytest.mark.parametrize(
    "said",
    [
        ({"calls": '{"rollback": 100}'},),
        ({"calls": '{"rollback": 100}'}, vote(deploy=90)),
        (vote(rollback=100), "prose", None, 7, vote(deploy=90)),
    ],
)
@pytest.mark.parametrize("lost", [None, OUTAGE])
def test_a_no_counts_whatever_else_cannot_be_read(said: tuple[object, ...], lost: Lost | None) -> None:
    voice = voice_of(JUDGE, said, ACTIONS, lost)
    assert (voice.votes, voice.lost) == ((0.0, 0.0, 100.0), "")


def test_of_several_yes_the_least_sure_counts_with_the_fields_of_the_last() -> None:
    voice = voice_of(JUDGE, (vote(deploy=90, delay=20), {**vote(deploy=60, delay=5), "thought": "Well."}), ACTIONS)
    assert (voice.votes, json.loads(voice.own)) == ((60.0, 20.0, 0.0), {"thought": "Well."})


@pytest.mark.parametrize("unread", [{"calls": '{"deploy": 90}'}, {"thought": "", "calls": "?"}, "prose", None])
def test_a_yes_beside_what_nobody_can_read_is_none_and_the_task_may_have_caused_that(unread: object) -> None:
    for said in ((unread,), (unread, vote(deploy=90)), (vote(deploy=90), unread)):
        for lost in (None, OUTAGE):
            voice = voice_of(JUDGE, said, ACTIONS, lost)
            assert (voice.votes, bool(voice.lost), voice.cause) == ((), True, Cause.CONTENT)


def test_a_call_that_is_lost_after_a_clear_yes_is_lost_for_its_own_reason() -> None:
    for said in ((), (vote(deploy=90),)):
        voice = voice_of(JUDGE, said, ACTIONS, OUTAGE)
        assert (voice.votes, voice.lost, voice.cause) == ((), OUTAGE.detail, Cause.OUTAGE)
