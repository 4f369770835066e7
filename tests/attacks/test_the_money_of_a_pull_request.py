"""Authors who want more reviews than the team pays for, or who want a pass because the money is gone."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from tests.scenarios.publishing import AUTHOR, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.core.facts.actions_event import CommentEvent, PullRequestEvent
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.state import State, read_state, state_block
from review_advisor.mockworld.lines import approve, credit_gone
from review_advisor.pull_request.begin import BeginPhase, Begun
from review_advisor.pull_request.publish import DidNotRun


@pytest.fixture
def desk() -> Desk:
    """A team that pays two dollars for a pull request; each review costs about one."""
    return Desk(PublicationRules(most_usd=2.0))


def happens(desk: Desk, action: str = "synchronize") -> Begun:
    event = PullRequestEvent(action, REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    return BeginPhase(desk.bot()).begin(event)


def asks(desk: Desk, login: str, body: str = "/advisor review") -> Begun:
    event = CommentEvent("created", REPOSITORY, desk.pull.number, 77, login, body, on_pull_request=True)
    return BeginPhase(desk.bot()).begin(event)


def pushes(desk: Desk, number: int) -> None:
    desk.github.pushes(desk.pull, {PATH: f"{LINES}more = {number}\n"})


def conclusions(desk: Desk) -> list[str | None]:
    return [check.conclusion for check in desk.checks]


def spent(desk: Desk) -> float:
    assert desk.state is not None
    return desk.state.spent_usd


def paid(desk: Desk, usd: float = 0.9) -> None:
    desk.publish(desk.reviewed(approve().costing(usd)))


def until_the_cap(desk: Desk) -> None:
    for number in range(2):
        assert happens(desk).review
        paid(desk)
        pushes(desk, number)


def test_the_summary_says_what_the_pull_request_has_cost(desk: Desk) -> None:
    paid(desk, 0.41)
    assert "0.41 USD so far on this pull request, of 2.00." in desk.summaries[0].body


def test_at_the_cap_a_push_waits_for_a_person_and_passes_nothing(desk: Desk) -> None:
    until_the_cap(desk)
    begun = happens(desk)
    assert not begun.review
    assert conclusions(desk) == ["action_required"]
    assert desk.checks[0].title == "Not reviewed: 1.80 USD are spent"
    assert "`/advisor review` in a comment grants one more review" in (desk.checks[0].summary or "")


def test_a_person_with_leave_grants_one_more_review_and_not_two(desk: Desk) -> None:
    until_the_cap(desk)
    assert asks(desk, MAINTAINER).review
    paid(desk)
    pushes(desk, 9)
    assert not happens(desk).review


def test_a_stranger_grants_none(desk: Desk) -> None:
    until_the_cap(desk)
    happens(desk)
    assert not asks(desk, "eve").review
    assert conclusions(desk) == ["action_required"]


@pytest.mark.parametrize("action", ["reopened", "ready_for_review", "edited", "synchronize"])
def test_closing_and_opening_again_brings_no_money_back(desk: Desk, action: str) -> None:
    until_the_cap(desk)
    assert not happens(desk, action).review


def test_reviews_that_fast_pushes_overtake_are_counted(desk: Desk) -> None:
    """No outcome of them stands anywhere, and the very first has no summary to stand in."""
    for number in range(2):
        assert happens(desk).review
        document = desk.reviewed(approve().costing(0.9))
        pushes(desk, number)
        desk.publish(document)
    assert spent(desk) == 1.8
    assert not happens(desk).review
    assert conclusions(desk) == ["action_required"]
    assert len(desk.summaries) == 1


def test_an_overtaken_review_leaves_the_words_of_the_one_that_stands(desk: Desk) -> None:
    paid(desk)
    words = desk.summaries[0].body.split("\n")[1]
    document = desk.reviewed(approve().costing(0.5))
    pushes(desk, 1)
    desk.publish(document)
    assert words in desk.summaries[0].body
    assert spent(desk) == 1.4


def test_a_review_that_ended_without_a_verdict_is_counted(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve().costing(0.7), judged=[credit_gone()]))
    assert spent(desk) == 0.7


def test_publishing_again_counts_nothing_twice(desk: Desk) -> None:
    document = desk.reviewed(approve().costing(0.7))
    for _ in range(3):
        desk.publish(document)
    assert spent(desk) == 0.7
    pushes(desk, 1)
    for _ in range(3):
        desk.publish(document)
    assert spent(desk) == 0.7


def test_a_review_that_did_not_run_keeps_what_was_spent(desk: Desk) -> None:
    paid(desk)
    desk.publish(DidNotRun("run-x", desk.pull.head_sha, "no credential"))
    assert spent(desk) == 0.9


@pytest.mark.parametrize("amount", ["-5", "NaN", "-Infinity", "Infinity"])
def test_no_state_gives_money_back_by_an_amount_that_is_none(amount: str) -> None:
    desk = Desk()
    paid(desk)
    assert desk.state is not None
    raw = desk.state.model_dump_json()
    with pytest.raises(ValidationError):
        State.model_validate_json(raw.replace('"spent_usd":0.9', f'"spent_usd":{amount}'))


@pytest.mark.parametrize("key", [None, b"k" * 32], ids=["without a key", "with a key"])
def test_a_forged_amount_ends_the_reviews_sooner_and_passes_nothing(desk: Desk, key: bytes | None) -> None:
    desk.key = key
    paid(desk)
    state = desk.state
    assert state is not None
    comment = desk.summaries[0]
    forged = state.model_copy(update={"spent_usd": 1e9, "complete": True})
    comment.body = comment.body.replace(state_block(state), state_block(forged))
    pushes(desk, 1)
    assert not happens(desk).review
    assert conclusions(desk) == ["action_required"]


def test_what_is_left_is_never_more_than_the_cap(desk: Desk) -> None:
    """A state that says less than was spent lets at most as much be spent again as no state at all."""
    until_the_cap(desk)
    state, comment = desk.state, desk.summaries[0]
    assert state is not None
    comment.body = comment.body.replace(state_block(state), state_block(state.model_copy(update={"spent_usd": 0.0})))
    reviews = 0
    while happens(desk).review and reviews < 10:
        reviews += 1
        paid(desk)
        pushes(desk, 10 + reviews)
    assert reviews == 2
    assert read_state(desk.forge.comments(desk.pull.number)[0], desk.rules.login) is not None
