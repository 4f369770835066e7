import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import ACTIONS, InlineCalls, MemberVote, UnreadableCallsError, inline_calls
from review_advisor.agents.calls import Answered, Lost
from review_advisor.agents.replies import checked_reply

SEED = '{"deploy": 10, "rollback": 5, "delay": 95}'


def test_the_vote_of_the_seed_is_read_in_the_order_of_the_actions() -> None:
    assert inline_calls(SEED, ("deploy", "delay", "rollback")) == InlineCalls((10.0, 95.0, 5.0))


def test_the_chosen_tool_and_its_reason_may_stand_in_the_vote() -> None:
    text = '{"approve": 90, "block": 5, "_tool": "approve", "_reasoningForCall": "small and tested"}'
    assert inline_calls(text, ACTIONS) == InlineCalls((90.0, 0.0, 5.0), "small and tested")


HOSTILE = [
    "",
    "approve",
    "[]",
    "95",
    "null",
    "{}",
    '{"approve": 0, "block": 0}',
    '{"approve": "100"}',
    '{"approve": true}',
    '{"approve": 101}',
    '{"approve": -1}',
    '{"approve": NaN}',
    '{"approve": Infinity}',
    '{"approve": 1e999}',
    '{"approve": null}',
    '{"approve": {"block": 5}}',
    '{"Approve": 100}',
    '{"approve": 100, "merge": 100}',
    '{"approve": 100, "approve": 0}',
    '{"block": 95, "block": 0, "approve": 1}',
    '{"approve": 10, "block": 90, "_tool": "approve"}',
    '{"approve": 10, "_tool": ["approve"]}',
    '{"approve": 10, "_tool": "merge"}',
    '{"approve": ' + "9" * 3_000 + "}",
    '{"approve": ' + "[" * 3_000,
    '{"approve": 100}' + " " * 5_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:40])
def test_what_is_not_clearly_a_vote_is_none(text: str) -> None:
    with pytest.raises(UnreadableCallsError):
        inline_calls(text, ACTIONS)


@given(
    st.text(max_size=80) | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_any_text_is_a_vote_within_its_bounds_or_none(text: str) -> None:
    try:
        vote = inline_calls(text, ACTIONS)
    except UnreadableCallsError:
        return
    assert len(vote.weights) == len(ACTIONS)
    assert all(0 <= each <= 100 for each in vote.weights)


def test_what_a_vote_says_of_itself_can_be_stored_and_shown() -> None:
    """The text was made legible as a text; what it escapes, nobody has seen yet."""
    said = json.dumps({"approve": 100, "_reasoningForCall": "\ud800 clear\x1b[2J"})
    assert inline_calls(said, ACTIONS).reasoning == "<U+D800> clear<U+001B>[2J"


def test_a_confirmation_without_a_vote_is_lost_and_a_veto_without_one_is_a_veto() -> None:
    confirmed = checked_reply(MemberVote, Answered({"verdict": "APPROVE", "calls": "whatever"}))
    assert isinstance(confirmed.answer, Lost)
    for said in ({"verdict": "VETO", "reasoning": "no"}, {"verdict": "VETO", "reasoning": "no", "calls": {"block": 5}}):
        vetoed = checked_reply(MemberVote, Answered(said)).answer
        assert isinstance(vetoed, MemberVote)
        assert (vetoed.verdict, vetoed.reasoning, vetoed.vote) == ("VETO", "no", None)


def test_a_veto_in_an_answer_that_its_schema_refuses_keeps_its_vote() -> None:
    said = {"verdict": "VETO", "reasoning": 5, "disagreements": "none", "calls": '{"block": 85}'}
    vetoed = checked_reply(MemberVote, Answered(said)).answer
    assert isinstance(vetoed, MemberVote)
    assert vetoed.vote == InlineCalls((0.0, 0.0, 85.0))


@pytest.mark.parametrize(
    "verdicts", [("APPROVE", "APPROVE"), ("VETO", "VETO"), ("APPROVE", "VETO"), ("VETO", "APPROVE")]
)
def test_of_several_votes_in_one_call_the_severest_counts(verdicts: tuple[str, str]) -> None:
    votes = ('{"approve": 5, "block": 95}', '{"approve": 60, "request_changes": 70}')
    said = [
        {"verdict": verdict, "reasoning": "r", "calls": calls} for verdict, calls in zip(verdicts, votes, strict=True)
    ]
    for answers in (said, said[::-1]):
        answer = checked_reply(MemberVote, Answered(answers[-1], said=tuple(answers))).answer
        assert isinstance(answer, MemberVote)
        assert answer.vote == InlineCalls((5.0, 70.0, 95.0))


def test_a_veto_beside_a_vote_that_nobody_can_read_has_no_vote() -> None:
    said = (
        {"verdict": "VETO", "reasoning": "no", "calls": "?"},
        {"verdict": "VETO", "calls": '{"request_changes": 51}'},
    )
    answer = checked_reply(MemberVote, Answered(said[-1], said=said)).answer
    assert isinstance(answer, MemberVote)
    assert (answer.verdict, answer.vote) == ("VETO", None)
