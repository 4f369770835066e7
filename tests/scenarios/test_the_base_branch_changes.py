"""A pull request is pointed at another base branch: what was reviewed against the old one decides nothing any more."""

from collections.abc import Callable

import pytest
from tests.scenarios.publishing import AUTHOR, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.adapters.git.apply import GitPatcher
from review_advisor.begin_phase import BeginPhase
from review_advisor.conversation import Comment, Conversation
from review_advisor.core.facts.event import PullRequestEvent
from review_advisor.mockworld.github.traffic import Moment, ServerFailure
from review_advisor.mockworld.lines import approve, finding, veto
from review_advisor.mockworld.world import FakeClock
from review_advisor.publish_phase import LEFT, DidNotRun, PublishPhase

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    return desk


def retargets(desk: Desk) -> None:
    desk.github.retargets(desk.pull, "release")


def approves(desk: Desk) -> str:
    talk = Conversation(desk.forge, desk.clock, desk.rules)
    order = f"/advisor approve-escalation {desk.pull.head_sha} looked at it"
    return talk.hear(desk.pull.number, Comment(77, MAINTAINER, order)).because


def superseded(desk: Desk) -> None:
    (check,) = desk.checks
    assert (check.conclusion, check.title) == ("cancelled", "Superseded: the base branch has changed")
    assert "`release`" in (check.summary or "")


def test_the_outcome_names_the_base_branch(desk: Desk) -> None:
    assert desk.reviewed(approve()).base_ref == "main"


def test_an_approval_of_another_base_never_passes_though_nothing_else_has_begun(desk: Desk) -> None:
    outcome = desk.reviewed(approve())
    retargets(desk)
    desk.publish(outcome)
    superseded(desk)
    assert (desk.summaries, desk.reviews) == ([], [])


@pytest.mark.parametrize("moment", ["list reviews", "create comment"])
def test_a_base_that_changes_while_it_is_published_is_superseded(desk: Desk, moment: str) -> None:
    outcome = desk.reviewed(approve())
    desk.github.traffic.meanwhile(lambda: retargets(desk), Moment(operation=moment))
    desk.publish(outcome)
    superseded(desk)


def test_the_check_of_the_run_that_reviews_the_new_base_is_left_alone(desk: Desk) -> None:
    outcome = desk.reviewed(approve())
    retargets(desk)
    event = PullRequestEvent("edited", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert BeginPhase(desk.forge, desk.clock, desk.rules, run="2").begin(event).review
    PublishPhase(desk.forge, desk.clock, desk.rules, GitPatcher(), run="1").publish(
        desk.pull.number, outcome, asked=False
    )
    assert [check.conclusion for check in desk.checks] == [None]


class Afternoon(FakeClock):
    """While somebody waits, something happens."""

    def __init__(self, happening: Callable[[], object]) -> None:
        super().__init__()
        self._happening = happening

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._happening()


@pytest.mark.parametrize("after", [False, True], ids=["lost", "unheard"])
def test_who_waits_for_an_answer_looks_again_before_an_old_base_passes(desk: Desk, *, after: bool) -> None:
    outcome = desk.reviewed(approve())
    desk.publish(outcome)
    unanswered = Moment(operation="update check run", after=after)
    desk.github.traffic.meets(ServerFailure(), unanswered)
    waiting = Afternoon(lambda: retargets(desk))
    PublishPhase(desk.forge, waiting, desk.rules, GitPatcher()).publish(desk.pull.number, outcome, asked=False)
    assert desk.github.traffic.unmet == 0
    superseded(desk)


def test_who_waits_for_an_answer_leaves_the_check_that_a_newer_run_has_begun_meanwhile(desk: Desk) -> None:
    outcome = desk.reviewed(approve())
    event = PullRequestEvent("edited", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert BeginPhase(desk.forge, desk.clock, desk.rules, run="1").begin(event).review

    def begins_anew() -> None:
        retargets(desk)
        assert BeginPhase(desk.forge, desk.clock, desk.rules, run="2").begin(event).review

    desk.github.traffic.meets(ServerFailure(), Moment(operation="update check run"))
    phase = PublishPhase(desk.forge, Afternoon(begins_anew), desk.rules, GitPatcher(), run="1")
    left = phase.publish(desk.pull.number, outcome, asked=False)
    assert [check.conclusion for check in desk.checks] == [None]
    assert (left.check.conclusion, left.notes[-1]) == (None, LEFT)


def test_an_escalation_is_not_approved_over_a_review_that_began_while_the_answer_was_awaited(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    event = PullRequestEvent("edited", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    desk.github.traffic.meets(ServerFailure(), Moment(operation="update check run"))
    clock = Afternoon(lambda: BeginPhase(desk.forge, desk.clock, desk.rules, run="3").begin(event))
    talk = Conversation(desk.forge, clock, desk.rules, run="2")
    order = f"/advisor approve-escalation {desk.pull.head_sha} looked at it"
    said = talk.hear(desk.pull.number, Comment(77, MAINTAINER, order)).because
    assert "has begun meanwhile" in said
    assert [check.conclusion for check in desk.checks] == [None]


def test_a_review_that_did_not_run_says_so_whatever_the_base_is(desk: Desk) -> None:
    retargets(desk)
    desk.publish(DidNotRun("run-1", desk.pull.head_sha, "The credit is spent."))
    assert [check.conclusion for check in desk.checks] == ["failure"]


def test_an_escalation_of_another_base_is_not_approved_though_no_review_of_the_new_one_began(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    assert [check.conclusion for check in desk.checks] == ["action_required"]
    retargets(desk)
    assert "reviewed against main" in approves(desk)
    assert [check.conclusion for check in desk.checks] == ["action_required"]
    desk.github.retargets(desk.pull, "main")
    approves(desk)
    assert [check.conclusion for check in desk.checks] == ["success"]
