"""Two publishers at one time, and whoever else writes under the same account: one review, one summary, one check."""

import threading
from random import Random
from typing import Any

import pytest
from tests.scenarios.publishing import PATH, REPOSITORY, Afternoon, Desk
from tests.scenarios.test_publishing_is_killed import FINDINGS, REQUESTS, escalating, stands_once

from review_advisor.change.git_diff import GitPatcher
from review_advisor.github.forge import ReviewPending
from review_advisor.github.publish import PublishPhase
from review_advisor.github.writer import PullRequestWriter
from review_advisor.github.writes import InlineComment
from review_advisor.mockworld.agents import reject
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github_traffic import RequestMoment
from review_advisor.mockworld.world import FakeClock
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument

LINT = (InlineComment("lint", PATH, 3, None, "RIGHT", "a remark of another workflow"),)


@pytest.mark.one_in(15)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("k", range(REQUESTS))
def test_somebody_else_publishes_the_same_while_it_is_published(k: int, after: bool) -> None:
    desk, document = escalating()
    desk.github.traffic.meanwhile(lambda: desk.publish(document), RequestMoment(k, after=after))
    desk.publish(document)
    stands_once(desk, document, alone=False)


class InTurn:
    """A forge of which one request at a time is made, by whoever is drawn: two publishers, wholly interleaved."""

    def __init__(self, forge: FakeForge, turns: "Turns", name: int) -> None:
        self._forge, self._turns, self._name = forge, turns, name

    def __getattr__(self, request: str) -> Any:
        def made(*values: object) -> Any:
            with self._turns.of(self._name):
                return getattr(self._forge, request)(*values)

        return made


class Turns:
    """Who may make the next request. One that has ended leaves the others' turns to them."""

    def __init__(self, seed: int, count: int) -> None:
        self._random = Random(seed)
        self._there = list(range(count))
        self._changed = threading.Condition()
        self._next = self._random.choice(self._there)

    def of(self, name: int) -> "Turns":
        self._changed.acquire()
        while self._next != name:
            self._changed.wait()
        return self

    def __enter__(self) -> None:
        """The turn is taken already."""

    def __exit__(self, *about: object) -> None:
        self._pass_on()
        self._changed.release()

    def ended(self, name: int) -> None:
        with self._changed:
            self._there.remove(name)
            self._pass_on()

    def _pass_on(self) -> None:
        if self._there:
            self._next = self._random.choice(self._there)
        self._changed.notify_all()


def published_at_once(desk: Desk, seed: int, *documents: OutcomeDocument) -> None:
    """Each of these by a publisher of its own, their requests in a random order."""
    turns = Turns(seed, len(documents))
    failed: list[BaseException] = []

    def publisher(name: int) -> None:
        bot = desk.bot(forge=InTurn(desk.forge, turns, name), clock=FakeClock())
        try:
            PublishPhase(bot, GitPatcher()).publish(desk.pull.number, documents[name], asked=False)
        except BaseException as error:  # noqa: BLE001 (told by the thread that looks)
            failed.append(error)
        finally:
            turns.ended(name)

    threads = [threading.Thread(target=publisher, args=(name,)) for name in range(len(documents))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []


@pytest.mark.one_in(20)
@pytest.mark.parametrize("seed", range(40))
def test_two_publishers_of_one_outcome_leave_one_of_everything(seed: int) -> None:
    desk, document = escalating()
    published_at_once(desk, seed, document, document)
    stands_once(desk, document, alone=False)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(20))
def test_two_reviews_of_one_head_say_no_finding_twice(seed: int) -> None:
    desk = Desk()
    first, second = (desk.reviewed(reject(*FINDINGS)) for _ in range(2))
    published_at_once(desk, seed, first, second)
    assert [thread.comments[0].line for thread in desk.threads] == [3, 7, 11]
    assert len(desk.summaries) == 1
    assert {run.conclusion for run in desk.checks} == {"failure"}


# --- a pending review that is none of ours ----------------------------------------------------------------------------


def left_pending(desk: Desk, body: str = "Lint", comments: tuple[InlineComment, ...] = LINT) -> int:
    """Another workflow, or a person, has begun a review under the bot's account."""
    forge = FakeForge(desk.github, REPOSITORY, desk.rules.login)
    return forge.start_review(desk.pull.number, desk.pull.head_sha, body, comments)


def test_a_pending_review_of_another_workflow_is_waited_for() -> None:
    desk, document = escalating()
    lint = left_pending(desk)

    def submits() -> None:
        if desk.reviews[0].state == "PENDING":
            desk.forge.submit_review(desk.pull.number, lint)

    desk.clock = Afternoon(submits)
    desk.publish(document)
    other, ours = desk.reviews
    assert (other.body, other.state) == ("Lint", "COMMENTED")
    assert len(ours.threads) == len(document.findings)
    assert "without a comment on the diff" not in desk.summaries[0].body


def test_a_pending_review_that_another_workflow_never_submits_is_shown_and_makes_room() -> None:
    desk, document = escalating()
    left_pending(desk)
    desk.publish(document)
    assert [each.state for each in desk.reviews] == ["COMMENTED", "COMMENTED"]
    assert [len(each.threads) for each in desk.reviews] == [1, len(document.findings)]
    assert "without a comment on the diff" not in desk.summaries[0].body
    assert [run.conclusion for run in desk.checks] == ["action_required"]


def test_an_empty_pending_review_of_nobody_makes_room() -> None:
    desk, document = escalating()
    left_pending(desk, "", ())
    desk.publish(document)
    assert [len(each.threads) for each in desk.reviews] == [len(document.findings)]


def test_what_a_person_has_begun_is_left_alone_and_the_summary_says_so() -> None:
    """GitHub takes neither a second review nor a single comment beside it."""
    desk = Desk(PublicationRules(login="maria"))
    desk.github.tokens["maria"] = desk.github.personal_token("maria")
    document = desk.reviewed(reject(*FINDINGS))
    forge = FakeForge(desk.github, REPOSITORY, "maria")
    forge.start_review(desk.pull.number, desk.pull.head_sha, "a draft", LINT)
    with pytest.raises(ReviewPending):
        forge.start_review(desk.pull.number, desk.pull.head_sha, "another", ())
    writer = PullRequestWriter(desk.bot(forge=forge), desk.pull.number)
    note = writer.reviews.post(desk.pull.head_sha, document.run_id, lambda threads: ("words", LINT))
    assert [(each.body, each.state) for each in desk.reviews] == [("a draft", "PENDING")]
    assert note is not None
    assert note.startswith("maria has begun a review here and not submitted it")


def test_what_two_runs_prepare_they_do_not_take_from_each_other_for_ever() -> None:
    """Each throws away what the other has prepared once, and then waits for it."""
    desk = Desk()
    first, second = (desk.reviewed(reject(*FINDINGS)) for _ in range(2))
    desk.github.traffic.meanwhile(lambda: desk.publish(second), RequestMoment(operation="submit review"))
    desk.publish(first)
    assert [thread.comments[0].line for thread in desk.threads] == [3, 7, 11]
