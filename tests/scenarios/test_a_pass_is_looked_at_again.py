"""After a check was made to pass it is looked at once more: over HTTP, where single reads wait by themselves."""

from collections.abc import Callable

import pytest
from tests.adapters.github.door import opened
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Afternoon, Desk

from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.pull_request import PullRequestEvent
from review_advisor.github.begin import BeginPhase, Comment, Conversation
from review_advisor.github.client import connect
from review_advisor.github.forge import Forge
from review_advisor.github.publish import PublishPhase
from review_advisor.mockworld.agents import approve, finding, reject, veto
from review_advisor.mockworld.github_traffic import Limited, RequestMoment, ServerFailure
from review_advisor.mockworld.world import FakeClock, edited
from review_advisor.review.document import OutcomeDocument

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")
ODD = finding(PATH, 7, "value = 7", "low", title="seven is odd")
A_MINUTE = Limited(secondary=True, seconds=60)
"""A limit that the client waits for by itself when it reads."""
PASSED = RequestMoment(operation="update check run", after=True)


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    return desk


@pytest.fixture
def escalated(desk: Desk) -> Desk:
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    return desk


def begins(desk: Desk, run: str) -> None:
    event = PullRequestEvent("edited", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert BeginPhase(desk.bot(run=run)).begin(event).review


def retargets(desk: Desk) -> None:
    desk.github.retargets(desk.pull, "release")


def begins_against_another_base(desk: Desk, run: str = "2") -> Callable[[], None]:
    def happens() -> None:
        if desk.pull.base_ref != "release":
            retargets(desk)
            begins(desk, run)

    return happens


def over_http(desk: Desk, do: Callable[[Forge], object], clock: FakeClock | None = None) -> None:
    """Everything that was planned on the way to GitHub happens while this is done there, through PyGithub."""
    token = next(each.value for each in desk.github.tokens.values() if each.account == BOT)
    with opened(desk.github) as door:
        do(connect(REPOSITORY, token=token, api_url=door.url, clock=clock or desk.clock))
    assert desk.github.traffic.unmet == 0


def publishes(desk: Desk, outcome: OutcomeDocument, clock: FakeClock | None = None) -> None:
    """Run 1 publishes."""

    def do(forge: Forge) -> None:
        phase = PublishPhase(desk.bot(run="1", forge=forge, clock=clock), GitPatcher())
        phase.publish(desk.pull.number, outcome, asked=False)

    over_http(desk, do, clock)


def approves(desk: Desk, clock: FakeClock | None = None) -> str:
    """Run 2 hears a maintainer approve the escalation; what is answered."""
    head = desk.pull.head_sha
    heard = []

    def do(forge: Forge) -> None:
        talk = Conversation(desk.bot(run="2", forge=forge, clock=clock))
        order = f"/advisor override {head} looked at it"
        heard.append(talk.hear(desk.pull.number, Comment(77, MAINTAINER, order)).because)

    over_http(desk, do, clock)
    return heard[0]


def conclusions(desk: Desk) -> list[str | None]:
    return [check.conclusion for check in desk.checks]


# --- a review is published --------------------------------------------------------------------------------------------


@pytest.mark.every_case
def test_a_base_that_changes_right_after_its_approval_passed_is_superseded(desk: Desk) -> None:
    begins(desk, "1")
    outcome = desk.reviewed(approve())
    desk.github.traffic.meanwhile(lambda: retargets(desk), PASSED)
    publishes(desk, outcome)
    assert [check.title for check in desk.checks] == ["Superseded: the base branch has changed"]


@pytest.mark.parametrize("number", [0, 1])
def test_a_run_that_begins_while_a_list_of_checks_is_waited_for_keeps_the_check(desk: Desk, number: int) -> None:
    begins(desk, "1")
    outcome = desk.reviewed(approve())
    desk.github.traffic.meets(A_MINUTE, RequestMoment(operation="list check runs", number=number))
    publishes(desk, outcome, Afternoon(begins_against_another_base(desk)))
    assert conclusions(desk) == [None]


def test_what_passed_over_a_run_that_began_in_between_is_taken_back_and_that_run_concludes(desk: Desk) -> None:
    """Between the last look at the check and the write GitHub is asked for its annotations, and waits."""
    begins(desk, "1")
    outcome = desk.reviewed(approve(ODD))
    desk.github.traffic.meets(A_MINUTE, RequestMoment(operation="list annotations"))
    publishes(desk, outcome, Afternoon(begins_against_another_base(desk)))
    assert conclusions(desk) == ["cancelled"]
    PublishPhase(desk.bot(run="2"), GitPatcher()).publish(desk.pull.number, desk.reviewed(reject(FAULT)), asked=False)
    assert conclusions(desk) == ["failure"]


@pytest.mark.every_case
def test_a_run_that_begins_between_two_batches_of_annotations_is_not_passed_over(desk: Desk) -> None:
    many = [finding(PATH, n, f"value = {n}", title=f"odd {n}") for n in range(1, 61)]
    desk.github.pushes(desk.pull, {PATH: "".join(f"value = {n}\n" for n in range(1, 61))})
    begins(desk, "1")
    outcome = desk.reviewed(approve(*many), files=(edited(PATH, 60),))
    assert len(outcome.findings) > 50
    desk.github.traffic.meanwhile(begins_against_another_base(desk), PASSED)
    publishes(desk, outcome)
    assert conclusions(desk) == ["cancelled"]


def test_a_base_that_changes_while_the_open_pull_requests_are_listed_does_not_pass(desk: Desk) -> None:
    """No run has begun since: a workflow's own token raises no event."""
    begins(desk, "1")
    outcome = desk.reviewed(approve())
    desk.github.traffic.meets(A_MINUTE, RequestMoment(operation="list pull requests"))
    publishes(desk, outcome, Afternoon(lambda: retargets(desk)))
    assert conclusions(desk) == ["cancelled"]


def test_taking_it_back_is_tried_again_like_any_write(desk: Desk) -> None:
    begins(desk, "1")
    outcome = desk.reviewed(approve())
    desk.github.traffic.meanwhile(lambda: retargets(desk), PASSED)
    desk.github.traffic.meets(ServerFailure(), RequestMoment(1, operation="update check run", after=True))
    publishes(desk, outcome)
    assert [check.title for check in desk.checks] == ["Superseded: the base branch has changed"]


def test_a_check_that_another_run_wrote_after_it_passed_is_left_alone(desk: Desk) -> None:
    begins(desk, "1")
    outcome = desk.reviewed(approve())
    desk.github.traffic.meanwhile(begins_against_another_base(desk), PASSED)
    publishes(desk, outcome)
    assert conclusions(desk) == [None]


# --- a person approves an escalation ----------------------------------------------------------------------------------


def same_head(desk: Desk) -> None:
    other = desk.github.opens(REPOSITORY, {PATH: LINES + "z = 1\n"}, by=AUTHOR)
    desk.github.move_branch(desk.github.repository(REPOSITORY), other.head_ref, desk.pull.head_sha)


def pushes(desk: Desk) -> None:
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})


HAPPENINGS = pytest.mark.parametrize(
    "happening,word",
    [
        (retargets, "base branch has changed"),
        (same_head, "Another open pull request"),
        (pushes, "head has moved"),
    ],
)


@pytest.mark.one_in(3)
@HAPPENINGS
def test_an_approval_that_does_not_hold_any_more_is_taken_back(
    escalated: Desk, happening: Callable[[Desk], None], word: str
) -> None:
    head = escalated.pull.head_sha
    escalated.github.traffic.meanwhile(lambda: happening(escalated), PASSED)
    assert word in approves(escalated)
    (check,) = escalated.checks_on(head)
    assert (check.conclusion, check.title) == ("action_required", "Not decided: a person's decision did not hold")
    assert word in (check.summary or "")
    assert "Overridden by" not in escalated.summaries[0].body


@pytest.mark.one_in(3)
@HAPPENINGS
def test_an_approval_asks_again_after_it_waited_for_an_answer(
    escalated: Desk, happening: Callable[[Desk], None], word: str
) -> None:
    head = escalated.pull.head_sha
    before = [check.title for check in escalated.checks]
    escalated.github.traffic.meets(ServerFailure(), RequestMoment(operation="update check run"))
    once = [happening]
    assert word in approves(escalated, Afternoon(lambda: once.pop()(escalated) if once else None))
    assert [check.conclusion for check in escalated.checks_on(head)] == ["action_required"]
    assert [check.title for check in escalated.checks_on(head)] == before, "it never passed, so nothing is taken back"


@pytest.mark.parametrize("number", [0, 1])
def test_an_approval_does_not_pass_over_a_run_that_began_while_a_list_was_waited_for(
    escalated: Desk, number: int
) -> None:
    escalated.github.traffic.meets(A_MINUTE, RequestMoment(operation="list check runs", number=number))
    approves(escalated, Afternoon(begins_against_another_base(escalated, "3")))
    assert conclusions(escalated) == [None]
    assert "Overridden by" not in escalated.summaries[0].body


def test_a_rejection_that_is_published_right_after_an_approval_stands(escalated: Desk) -> None:
    """Somebody had started the jobs of an older run again."""
    rejection = escalated.reviewed(reject(ODD))
    phase = PublishPhase(escalated.bot(), GitPatcher())
    escalated.github.traffic.meanwhile(lambda: phase.publish(escalated.pull.number, rejection, asked=False), PASSED)
    approves(escalated)
    assert conclusions(escalated) == ["failure"]
    assert "Overridden by" not in escalated.summaries[0].body
