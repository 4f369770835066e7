"""Authors who want more reviews than the team pays for, or who want a pass because the money is gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError
from tests.scenarios.publishing import AUTHOR, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.change.pull_request import CommentEvent, PullRequestEvent
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.publish import DidNotRun
from review_advisor.github.state import State, state_block
from review_advisor.mockworld.agents import approve, credit_gone
from review_advisor.policy.pull_request_rules import PublicationRules


class Team(Desk):
    """It pays two dollars for a pull request; each review costs about one. ``before`` is the head before the last."""

    before: str = ""


@pytest.fixture
def desk() -> Team:
    return Team(PublicationRules(most_usd=2.0))


def happens(desk: Team, action: str = "synchronize") -> Begun:
    event = PullRequestEvent(action, REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR, before=desk.before)
    return BeginPhase(desk.bot()).begin(event)


def asks(desk: Team, login: str, body: str = "/advisor review") -> Begun:
    event = CommentEvent("created", REPOSITORY, desk.pull.number, 77, login, body, on_pull_request=True)
    return BeginPhase(desk.bot()).begin(event)


def pushes(desk: Team, number: int) -> None:
    desk.before = desk.pull.head_sha
    desk.github.pushes(desk.pull, {PATH: f"{LINES}more = {number}\n"})


def conclusions(desk: Team) -> list[str | None]:
    return [check.conclusion for check in desk.checks]


def spent(desk: Team) -> float:
    assert desk.state is not None
    return desk.state.spent_usd


def paid(desk: Team, usd: float = 0.9) -> None:
    desk.publish(desk.reviewed(approve().costing(usd)))


def until_the_cap(desk: Team) -> None:
    for number in range(2):
        assert happens(desk).review
        paid(desk)
        pushes(desk, number)


def test_the_summary_says_what_the_pull_request_has_cost(desk: Team) -> None:
    paid(desk, 0.41)
    assert "0.41 USD so far on this pull request, of 2.00." in desk.summaries[0].body


def test_at_the_cap_a_push_waits_for_a_person_and_passes_nothing(desk: Team) -> None:
    until_the_cap(desk)
    begun = happens(desk)
    assert not begun.review
    assert conclusions(desk) == ["action_required"]
    assert desk.checks[0].title == "Not reviewed: 1.80 USD are spent"
    assert "`/advisor review` in a comment grants one more review" in (desk.checks[0].summary or "")


def test_a_review_that_a_push_starts_may_spend_only_what_is_left(desk: Team) -> None:
    assert happens(desk).most_usd == 2.0
    paid(desk, 0.9)
    pushes(desk, 1)
    assert happens(desk).most_usd == 1.1
    assert asks(desk, MAINTAINER).most_usd is None, "a person grants a whole review"


def test_a_person_with_leave_grants_one_more_review_and_not_two(desk: Team) -> None:
    until_the_cap(desk)
    assert asks(desk, MAINTAINER).review
    paid(desk)
    pushes(desk, 9)
    assert not happens(desk).review


def test_a_stranger_grants_none(desk: Team) -> None:
    until_the_cap(desk)
    happens(desk)
    assert not asks(desk, "eve").review
    assert conclusions(desk) == ["action_required"]


@pytest.mark.parametrize("action", ["reopened", "ready_for_review", "edited", "synchronize"])
def test_closing_and_opening_again_brings_no_money_back(desk: Team, action: str) -> None:
    until_the_cap(desk)
    assert not happens(desk, action).review


def test_reviews_that_fast_pushes_overtake_are_counted(desk: Team) -> None:
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


def test_an_overtaken_review_leaves_the_words_of_the_one_that_stands(desk: Team) -> None:
    paid(desk)
    words = desk.summaries[0].body.split("\n")[1]
    document = desk.reviewed(approve().costing(0.5))
    pushes(desk, 1)
    desk.publish(document)
    assert words in desk.summaries[0].body
    assert spent(desk) == 1.4


def test_a_review_that_ended_without_a_verdict_is_counted(desk: Team) -> None:
    desk.publish(desk.reviewed(approve().costing(0.7), judged=[credit_gone()]))
    assert spent(desk) == 0.7


def test_publishing_again_counts_nothing_twice(desk: Team) -> None:
    document = desk.reviewed(approve().costing(0.7))
    for _ in range(3):
        desk.publish(document)
    assert spent(desk) == 0.7
    pushes(desk, 1)
    for _ in range(3):
        desk.publish(document)
    assert spent(desk) == 0.7


def test_a_review_that_did_not_run_keeps_what_was_spent(desk: Team) -> None:
    paid(desk)
    desk.publish(DidNotRun("run-x", desk.pull.head_sha, "no credential"))
    assert spent(desk) == 0.9


@pytest.mark.parametrize("amount", ["-5", "NaN", "-Infinity", "Infinity"])
def test_no_state_gives_money_back_by_an_amount_that_is_none(amount: str) -> None:
    desk = Team()
    paid(desk)
    assert desk.state is not None
    raw = desk.state.model_dump_json()
    with pytest.raises(ValidationError):
        State.model_validate_json(raw.replace('"spent_usd":0.9', f'"spent_usd":{amount}'))


@pytest.mark.parametrize("key", [None, b"k" * 32], ids=["without a key", "with a key"])
def test_a_forged_amount_ends_the_reviews_sooner_and_passes_nothing(desk: Team, key: bytes | None) -> None:
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


def forget(desk: Team) -> None:
    """Somebody who may write deletes the summary."""
    desk.forge.delete_comment(desk.summaries[0].id)


def set_back(desk: Team) -> None:
    """Somebody who writes as the bot puts a smaller amount into the summary."""
    state, comment = desk.state, desk.summaries[0]
    assert state is not None
    comment.body = comment.body.replace(state_block(state), state_block(state.model_copy(update={"spent_usd": 0.0})))


@pytest.mark.parametrize("key", [None, b"k" * 32], ids=["without a key", "with a key"])
@pytest.mark.parametrize("attack", [forget, set_back])
def test_nobody_gets_money_back_by_what_the_summary_says(
    desk: Team, attack: Callable[[Team], None], key: bytes | None
) -> None:
    """The checks of the heads say the amount, too, and each head's check takes it over from the one before."""
    desk.key = key
    until_the_cap(desk)
    for number in range(3):
        attack(desk)
        assert not happens(desk).review
        assert conclusions(desk) == ["action_required"]
        assert desk.checks[0].title == "Not reviewed: 1.80 USD are spent"
        assert asks(desk, MAINTAINER).review
        desk.publish(desk.reviewed(approve().costing(0.0)))
        pushes(desk, 10 + number)


@pytest.mark.parametrize("forced", [False, True], ids=["pushed on", "pushed over"])
@pytest.mark.parametrize("attack", [forget, set_back])
def test_several_pushes_before_a_review_begins_bring_no_money_back(
    desk: Team, attack: Callable[[Team], None], forced: bool
) -> None:
    """The check of an earlier head tells the amount, also of one to which no commit leads any more."""
    until_the_cap(desk)
    happens(desk)
    attack(desk)
    for number in range(5):
        desk.before = desk.pull.head_sha
        push = desk.github.force_pushes if forced else desk.github.pushes
        push(desk.pull, {PATH: f"{LINES}hasty = {number}\n"})
    assert not happens(desk).review
    assert desk.checks[0].title == "Not reviewed: 1.80 USD are spent"


def test_a_hasty_push_that_is_left_unreviewed_brings_no_money_back(desk: Team) -> None:
    """A check of a head that the configuration leaves out tells the amount, too."""
    until_the_cap(desk)
    happens(desk)
    forget(desk)
    pushes(desk, 10)
    pushes(desk, 11)
    rules = desk.rules
    desk.rules = rules.model_copy(update={"skip_bases": (desk.pull.base_ref,)})
    assert not happens(desk).review
    assert conclusions(desk) == ["success"]
    desk.rules = rules
    pushes(desk, 12)
    assert not happens(desk).review
    assert desk.checks[0].title == "Not reviewed: 1.80 USD are spent"


def test_a_pull_request_that_opens_is_not_looked_back_on(desk: Team) -> None:
    happens(desk, "opened")
    assert "list activity" not in [each.operation for each in desk.github.traffic.log]


def test_a_push_whose_last_head_has_a_check_is_not_looked_back_on(desk: Team) -> None:
    happens(desk, "opened")
    pushes(desk, 1)
    happens(desk)
    assert "list activity" not in [each.operation for each in desk.github.traffic.log]


def test_the_next_review_counts_on_from_the_amount_that_was_deleted(desk: Team) -> None:
    paid(desk, 0.9)
    forget(desk)
    pushes(desk, 1)
    assert happens(desk).most_usd == 1.1
    paid(desk, 0.5)
    assert spent(desk) == 1.4
    forget(desk)
    paid(desk, 0.1)
    assert spent(desk) == 1.5


def test_a_check_that_claims_more_than_anybody_pays_passes_nothing(desk: Team) -> None:
    paid(desk, 0.1)
    (check,) = desk.checks
    check.external_id = f"{check.external_id.partition('/usd-')[0]}/usd-9999999.99"
    pushes(desk, 1)
    assert not happens(desk).review
    assert conclusions(desk) == ["action_required"]
    assert asks(desk, MAINTAINER).review


def killed(desk: Team, number: int) -> DidNotRun:
    return DidNotRun(f"job-{number}", desk.pull.head_sha, "There is no outcome.", may_have_asked=True)


def test_a_review_that_is_killed_costs_an_estimate_and_is_said_to() -> None:
    """Else a change that kills the job would be reviewed for ever."""
    desk = Team(PublicationRules(most_usd=4.7))
    for number in range(2):
        assert happens(desk).review
        for _ in range(2):
            desk.publish(killed(desk, number))
        pushes(desk, number)
    assert not happens(desk).review
    assert desk.checks[0].title == "Not reviewed: 4.60 USD are spent"
    assert asks(desk, MAINTAINER).review
    paid(desk, 0.1)
    told = "4.70 USD so far on this pull request, of 4.70; 4.60 of it is an estimate, for what reported no cost."
    assert told in desk.summaries[0].body


def test_the_estimate_is_at_least_what_the_reviews_before_have_cost() -> None:
    desk = Team(PublicationRules(most_usd=50.0))
    paid(desk, 8.0)
    pushes(desk, 1)
    desk.publish(killed(desk, 1))
    assert spent(desk) == 16.0


def test_a_killed_review_that_a_push_overtakes_costs_an_estimate_once() -> None:
    """Else whoever pushes before the job is killed is reviewed for ever."""
    desk = Team(PublicationRules(most_usd=4.7))
    for number in range(2):
        assert happens(desk).review
        lost = killed(desk, number)
        pushes(desk, number)
        for _ in range(2):
            desk.publish(lost)
    assert spent(desk) == 4.6
    assert not happens(desk).review


def test_a_killed_review_costs_its_estimate_once_where_the_author_pushes_its_head_again() -> None:
    """Its job is told again by hand, now as the review of the present head."""
    desk = Team(PublicationRules(most_usd=9.0))
    paid(desk)
    pushes(desk, 0)
    lost = killed(desk, 0)
    pushes(desk, 1)
    desk.publish(lost)
    desk.github.move_branch(desk.github.repository(REPOSITORY), desk.pull.head_ref, lost.head_sha)
    desk.publish(lost)
    assert spent(desk) == 3.2


def test_a_killed_review_that_a_push_overtakes_leaves_the_words_of_the_one_that_stands(desk: Team) -> None:
    paid(desk)
    words = desk.summaries[0].body.split("\n")[1]
    lost = killed(desk, 1)
    pushes(desk, 1)
    desk.publish(lost)
    assert words in desk.summaries[0].body
    assert spent(desk) == 3.2
    desk.publish(DidNotRun("job-2", lost.head_sha, "no credential"))
    assert spent(desk) == 3.2
