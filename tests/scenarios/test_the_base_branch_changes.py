"""A pull request is pointed at another base branch: what was reviewed against the old one decides nothing any more."""

from dataclasses import replace

import pytest
from tests.scenarios.publishing import AUTHOR, LINES, MAINTAINER, PATH, REPOSITORY, Afternoon, Desk

from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.pull_request import CommentEvent, MergeGroupEvent, PullRequestEvent
from review_advisor.change.redaction import NO_SECRETS, redactor
from review_advisor.github.begin import BeginPhase, Comment, Conversation
from review_advisor.github.comment_text import amended
from review_advisor.github.publish import LEFT, DidNotRun, PublishPhase
from review_advisor.mockworld.agents import approve, finding, veto
from review_advisor.mockworld.github_traffic import RequestMoment, ServerFailure
from review_advisor.review.document import outcome_json

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    return desk


def retargets(desk: Desk) -> None:
    desk.github.retargets(desk.pull, "release")


def approves(desk: Desk) -> str:
    order = f"/advisor override {desk.pull.head_sha} looked at it"
    event = CommentEvent("created", REPOSITORY, desk.pull.number, 77, MAINTAINER, order, on_pull_request=True)
    return BeginPhase(desk.bot()).begin(event).because


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
    desk.github.traffic.meanwhile(lambda: retargets(desk), RequestMoment(operation=moment))
    desk.publish(outcome)
    superseded(desk)


def test_the_check_of_the_run_that_reviews_the_new_base_is_left_alone(desk: Desk) -> None:
    outcome = desk.reviewed(approve())
    retargets(desk)
    event = PullRequestEvent("edited", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert BeginPhase(desk.bot(run="2")).begin(event).review
    PublishPhase(desk.bot(run="1"), GitPatcher()).publish(desk.pull.number, outcome, asked=False)
    assert [check.conclusion for check in desk.checks] == [None]


@pytest.mark.parametrize("after", [False, True], ids=["lost", "unheard"])
def test_who_waits_for_an_answer_looks_again_before_an_old_base_passes(desk: Desk, *, after: bool) -> None:
    outcome = desk.reviewed(approve())
    desk.publish(outcome)
    unanswered = RequestMoment(operation="update check run", after=after)
    desk.github.traffic.meets(ServerFailure(), unanswered)
    waiting = Afternoon(lambda: retargets(desk))
    before = len(desk.github.traffic.writes)
    PublishPhase(desk.bot(clock=waiting), GitPatcher()).publish(desk.pull.number, outcome, asked=False)
    assert desk.github.traffic.unmet == 0
    assert [each.operation for each in desk.github.traffic.writes[before:]] == ["update check run"] * 2
    superseded(desk)


def test_who_waits_for_an_answer_leaves_the_check_that_a_newer_run_has_begun_meanwhile(desk: Desk) -> None:
    outcome = desk.reviewed(approve())
    event = PullRequestEvent("edited", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert BeginPhase(desk.bot(run="1")).begin(event).review

    def begins_anew() -> None:
        retargets(desk)
        assert BeginPhase(desk.bot(run="2")).begin(event).review

    desk.github.traffic.meets(ServerFailure(), RequestMoment(operation="update check run"))
    phase = PublishPhase(desk.bot(run="1", clock=Afternoon(begins_anew)), GitPatcher())
    left = phase.publish(desk.pull.number, outcome, asked=False)
    assert [check.conclusion for check in desk.checks] == [None]
    assert (left.check.conclusion, left.notes[-1]) == (None, LEFT)


def test_an_escalation_is_not_approved_over_a_review_that_began_while_the_answer_was_awaited(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    event = PullRequestEvent("edited", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    desk.github.traffic.meets(ServerFailure(), RequestMoment(operation="update check run"))
    clock = Afternoon(lambda: BeginPhase(desk.bot(run="3")).begin(event))
    talk = Conversation(desk.bot(run="2", clock=clock))
    order = f"/advisor override {desk.pull.head_sha} looked at it"
    said = talk.hear(desk.pull.number, Comment(77, MAINTAINER, order)).because
    assert "is under way" in said
    assert [check.conclusion for check in desk.checks] == [None]


def test_a_review_that_names_no_base_branch_never_passes(desk: Desk) -> None:
    desk.publish(replace(desk.reviewed(approve()), base_ref=None))
    assert [check.conclusion for check in desk.checks] == ["cancelled"]
    assert (desk.summaries, desk.reviews) == ([], [])


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


def test_an_escalation_of_nobody_knows_which_base_is_not_approved(desk: Desk) -> None:
    """A memory of before base branches were kept."""
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    assert desk.state is not None
    summary = desk.summaries[0]
    old = amended(summary.body, desk.state.model_copy(update={"base_ref": ""}))
    desk.github.edits(summary, by=desk.rules.login, body=old)
    refused = approves(desk)
    assert "not known against which base branch" in refused
    assert "has to be reviewed again" in refused
    assert [check.conclusion for check in desk.checks] == ["action_required"]


# --- a branch that is called like a secret ----------------------------------------------------------------------------

RELEASE = "release/2026-hotfix"
SECRETS = {"DEPLOY_KEY": RELEASE}


@pytest.fixture
def releasing() -> Desk:
    """A pull request into a branch whose name is also the value of a secret-looking variable, in each job."""
    desk = Desk()
    desk.redactor = redactor(SECRETS)
    desk.github.commits(REPOSITORY, RELEASE, {PATH: "x\n"}, by="acme")
    desk.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    desk.github.retargets(desk.pull, RELEASE)
    desk.world.switch("DEPLOY_KEY", RELEASE)
    return desk


def test_a_review_against_a_branch_that_is_called_like_a_secret_passes_and_does_not_tell_it(releasing: Desk) -> None:
    desk = releasing
    outcome = desk.reviewed(approve())
    desk.publish(outcome)
    (check,) = desk.checks
    assert check.conclusion == "success"
    assert desk.state is not None
    told = (outcome_json(outcome), check.summary or "", desk.summaries[0].body, desk.state.model_dump_json())
    assert not any(RELEASE in each for each in told)


def test_what_was_reviewed_against_such_a_branch_is_superseded_against_another_and_the_reverse(releasing: Desk) -> None:
    desk = releasing
    outcome = desk.reviewed(approve())
    retargets(desk)
    desk.publish(outcome)
    superseded(desk)
    outcome = desk.reviewed(approve())
    desk.github.retargets(desk.pull, RELEASE)
    desk.publish(outcome)
    (check,) = desk.checks
    assert check.title == "Superseded: the base branch has changed"
    assert RELEASE not in (check.summary or "")


def test_an_escalation_against_such_a_branch_is_approved_there_and_nowhere_else(releasing: Desk) -> None:
    desk = releasing
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    retargets(desk)
    refused = approves(desk)
    assert refused.endswith("removed\\], not release.")
    assert RELEASE not in refused
    desk.github.retargets(desk.pull, RELEASE)
    approves(desk)
    assert [check.conclusion for check in desk.checks] == ["success"]


def test_a_job_that_knows_more_secrets_than_the_one_that_published_tells_none(releasing: Desk) -> None:
    """The memory was written where the name was no secret's value."""
    desk = releasing
    desk.redactor = NO_SECRETS
    del desk.world.environment["DEPLOY_KEY"]
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    assert desk.state is not None
    assert desk.state.base_ref == RELEASE
    desk.redactor = redactor(SECRETS)
    approves(desk)
    assert [check.conclusion for check in desk.checks] == ["success"]
    desk.github.retargets(desk.pull, "release")
    desk.github.pushes(desk.pull, {PATH: "y\n"})
    desk.publish(desk.reviewed(approve(), approve(finding(PATH, 7, "value = 7")), judged=[veto("no"), veto("no")]))
    desk.github.retargets(desk.pull, RELEASE)
    refused = approves(desk)
    assert "reviewed against release, not" in refused
    assert RELEASE not in refused


def test_a_merge_queue_passes_what_was_reviewed_against_such_a_branch(releasing: Desk) -> None:
    desk = releasing
    desk.publish(desk.reviewed(approve()))
    queue = f"gh-readonly-queue/{RELEASE}/pr-{desk.pull.number}-{'b' * 40}"
    head = desk.github.commits(REPOSITORY, queue, {PATH: LINES}, by="github-merge-queue[bot]")
    event = MergeGroupEvent("checks_requested", REPOSITORY, head, f"refs/heads/{queue}", "b" * 40)
    BeginPhase(desk.bot()).begin(event)
    assert [check.conclusion for check in desk.checks_on(head)] == ["success"]
