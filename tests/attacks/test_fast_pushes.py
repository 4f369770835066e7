"""Authors who push again and again: what waits costs nothing, and what was not reviewed never passes."""

from __future__ import annotations

import json

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Afternoon, Desk

from review_advisor.change.pull_request import CommentEvent, PullRequestEvent, read_event
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.forge import ForgeRejected
from review_advisor.github.publish import DidNotRun
from review_advisor.github.state import StandingCheck
from review_advisor.github.writer import settled_head
from review_advisor.mockworld.agents import approve
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.world import FakeClock

GONE = "f" * 40


class Forgetful(FakeForge):
    """GitHub, once it has thrown away a commit that no branch leads to."""

    def checks(self, commit: str, name: str) -> tuple[StandingCheck, ...]:
        if commit == GONE:
            raise ForgeRejected(f"No commit found for SHA: {commit}")
        return super().checks(commit, name)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def opened(desk: Desk) -> Begun:
    return BeginPhase(desk.bot()).begin(_event(desk, "opened", ""))


def pushed(desk: Desk, number: int) -> Begun:
    before = desk.pull.head_sha
    desk.github.pushes(desk.pull, {PATH: f"{LINES}more = {number}\n"})
    return BeginPhase(desk.bot()).begin(_event(desk, "synchronize", before))


def _event(desk: Desk, action: str, before: str) -> PullRequestEvent:
    return PullRequestEvent(action, REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR, before=before)


def test_a_push_during_the_review_of_another_waits_a_minute_before_it_costs_anything(desk: Desk) -> None:
    assert opened(desk).settle_seconds == 0
    begun = pushed(desk, 1)
    assert (begun.review, begun.settle_seconds) == (True, 60)
    assert [check.status for check in desk.checks] == ["in_progress"], "nothing passes meanwhile"


def test_a_push_after_a_review_has_ended_waits_for_nobody(desk: Desk) -> None:
    opened(desk)
    desk.publish(desk.reviewed(approve()))
    assert pushed(desk, 1).settle_seconds == 0


def test_a_person_who_asks_is_not_kept_waiting(desk: Desk) -> None:
    opened(desk)
    pushed(desk, 1)
    event = CommentEvent("created", REPOSITORY, desk.pull.number, 77, MAINTAINER, "/advisor review", True)
    begun = BeginPhase(desk.bot()).begin(event)
    assert (begun.review, begun.settle_seconds) == (True, 0)


def test_a_forced_push_over_a_head_that_nobody_knows_any_more_begins_a_review(desk: Desk) -> None:
    forge = Forgetful(desk.github, REPOSITORY, BOT)
    begun = BeginPhase(desk.bot(forge=forge)).begin(_event(desk, "synchronize", GONE))
    assert (begun.review, begun.settle_seconds) == (True, 0)


def test_whoever_pushes_without_end_gets_no_pass_and_pays_for_no_review(desk: Desk) -> None:
    opened(desk)
    heads = [desk.pull.head_sha]
    for number in range(20):
        begun = pushed(desk, number)
        assert begun.settle_seconds == 60
        heads.append(desk.pull.head_sha)
        desk.publish(DidNotRun(f"run-{number}", heads[-2], "the run was cancelled"))
    passed = [check for head in heads for check in desk.checks_on(head) if check.conclusion == "success"]
    assert passed == []
    assert [check.status for check in desk.checks] == ["in_progress"]


def test_the_last_of_several_pushes_is_reviewed(desk: Desk) -> None:
    opened(desk)
    for number in range(3):
        pushed(desk, number)
    now = settled_head(desk.forge, desk.clock, desk.pull.number, 60)
    assert now.head_sha == desk.pull.head_sha
    assert desk.clock.seconds == 60
    desk.publish(desk.reviewed(approve()))
    assert [check.conclusion for check in desk.checks] == ["success"]


def test_a_newer_push_ends_the_wait_of_the_one_before(desk: Desk) -> None:
    old = desk.pull.head_sha
    clock = Afternoon(lambda: desk.github.pushes(desk.pull, {PATH: f"{LINES}more = 1\n"}))
    now = settled_head(desk.forge, clock, desk.pull.number, 60)
    assert (now.head_sha == old, clock.seconds) == (False, 10)


def test_without_a_wait_nobody_sleeps(desk: Desk) -> None:
    clock = FakeClock()
    assert settled_head(desk.forge, clock, desk.pull.number, 0).head_sha == desk.pull.head_sha
    assert clock.seconds == 0


def test_the_head_that_was_pushed_over_is_read_from_the_event() -> None:
    head = {"number": 7, "head": {"sha": "a" * 40}}
    about = {"action": "synchronize", "before": "b" * 40, "sender": {"login": AUTHOR}, "pull_request": head}
    payload = json.dumps({**about, "repository": {"full_name": REPOSITORY}})
    event = read_event("pull_request_target", payload)
    assert isinstance(event, PullRequestEvent)
    assert event.before == "b" * 40
