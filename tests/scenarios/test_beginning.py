"""The first week on a repository: what each event begins, and what its check says meanwhile."""

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.change.pull_request import CommentEvent, MergeGroupEvent, Permission, PullRequestEvent
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.check_text import check_overridden_by
from review_advisor.github.comment_text import amended
from review_advisor.github.memory import OPENS_BREAKER
from review_advisor.github.publish import DidNotRun
from review_advisor.github.writer import LAGS
from review_advisor.mockworld.agents import approve, reject
from review_advisor.mockworld.fake_forge import FakeForge


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def fork() -> Desk:
    """A pull request from somebody's fork."""
    desk = Desk()
    desk.github.forks(REPOSITORY, "eve")
    desk.pull = desk.github.opens(REPOSITORY, {PATH: LINES}, by="eve")
    return desk


def happens(desk: Desk, action: str, *, by: str = AUTHOR, label: str | None = None) -> Begun:
    event = PullRequestEvent(action, REPOSITORY, desk.pull.number, desk.pull.head_sha, by, label)
    return BeginPhase(desk.bot()).begin(event)


def said(desk: Desk, body: str, *, by: str = MAINTAINER, action: str = "created", pull: bool = True) -> Begun:
    event = CommentEvent(action, REPOSITORY, desk.pull.number, 77, by, body, pull)
    return BeginPhase(desk.bot()).begin(event)


def queue_of(desk: Desk) -> str:
    return f"gh-readonly-queue/main/pr-{desk.pull.number}-{'b' * 40}"


def queued(desk: Desk, ref: str = "") -> list[str | None]:
    """A merge queue builds its commit and asks for its checks; what they conclude."""
    queue = queue_of(desk)
    head = desk.github.commits(REPOSITORY, queue, {PATH: LINES}, by="github-merge-queue[bot]")
    event = MergeGroupEvent("checks_requested", REPOSITORY, head, ref or f"refs/heads/{queue}", "b" * 40)
    BeginPhase(desk.bot()).begin(event)
    return [check.conclusion for check in desk.checks_on(head)]


def told_in_queue(desk: Desk) -> str:
    (check,) = desk.checks_on(desk.github.repository(REPOSITORY).branches[queue_of(desk)])
    return check.summary or ""


@pytest.mark.parametrize("action", ["opened", "reopened", "synchronize", "ready_for_review", "edited"])
def test_a_push_begins_a_review_and_its_check_is_in_progress(desk: Desk, action: str) -> None:
    begun = happens(desk, action)
    assert begun.review
    assert not begun.asked
    assert begun.pull_request is not None
    assert begun.pull_request.head_sha == desk.pull.head_sha
    assert [(check.status, check.conclusion) for check in desk.checks] == [("in_progress", None)]


def test_the_same_event_twice_makes_one_check(desk: Desk) -> None:
    for _ in range(2):
        happens(desk, "opened")
    assert len(desk.checks) == 1


def test_a_second_review_of_a_head_uses_its_check_again(desk: Desk) -> None:
    happens(desk, "opened")
    desk.publish(desk.reviewed(approve()))
    assert [check.conclusion for check in desk.checks] == ["success"]
    happens(desk, "reopened")
    assert [(check.status, check.conclusion) for check in desk.checks] == [("in_progress", None)]


def test_a_draft_waits_until_somebody_asks(desk: Desk) -> None:
    desk.pull.draft = True
    assert not happens(desk, "opened").review
    assert [check.conclusion for check in desk.checks] == ["action_required"]
    begun = said(desk, "/advisor review")
    assert (begun.review, begun.asked) == (True, True)
    assert [check.status for check in desk.checks] == ["in_progress"]


def test_a_fork_waits_for_a_maintainers_label(fork: Desk) -> None:
    assert not happens(fork, "opened", by="eve").review
    assert [check.conclusion for check in fork.checks] == ["action_required"]
    assert fork.rules.fork_label in (fork.checks[0].summary or "")
    fork.github.labels(fork.pull, fork.rules.fork_label)
    assert happens(fork, "labeled", by=MAINTAINER, label=fork.rules.fork_label).review


def test_a_push_to_a_fork_takes_the_label_off(fork: Desk) -> None:
    fork.github.labels(fork.pull, fork.rules.fork_label)
    fork.github.pushes(fork.pull, {PATH: LINES + "evil = 1\n"})
    assert not happens(fork, "synchronize", by="eve").review
    assert fork.labels == []
    assert [check.conclusion for check in fork.checks] == ["action_required"]


def test_a_label_that_was_put_on_an_older_head_lets_nothing_through(fork: Desk) -> None:
    seen = fork.pull.head_sha
    fork.github.labels(fork.pull, fork.rules.fork_label)
    fork.github.pushes(fork.pull, {PATH: LINES + "evil = 1\n"})
    event = PullRequestEvent("labeled", REPOSITORY, fork.pull.number, seen, MAINTAINER, fork.rules.fork_label)
    assert not BeginPhase(fork.bot()).begin(event).review
    assert fork.checks == []


def test_a_label_of_somebody_who_may_not_write_is_taken_off(fork: Desk) -> None:
    happens(fork, "opened", by="eve")
    fork.github.grants(REPOSITORY, "tim", Permission.TRIAGE)
    fork.github.labels(fork.pull, fork.rules.fork_label)
    assert not happens(fork, "labeled", by="tim", label=fork.rules.fork_label).review
    assert fork.labels == []
    assert [check.conclusion for check in fork.checks] == ["action_required"]


def test_nobody_undoes_a_review_with_a_label(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve()))
    desk.github.grants(REPOSITORY, "tim", Permission.TRIAGE)
    desk.github.labels(desk.pull, desk.rules.fork_label)
    assert not happens(desk, "labeled", by="tim", label=desk.rules.fork_label).review
    assert desk.labels == []
    assert [check.conclusion for check in desk.checks] == ["success"]


@pytest.mark.parametrize("action", ["reopened", "ready_for_review", "edited"])
def test_a_reopened_fork_waits_again(fork: Desk, action: str) -> None:
    fork.github.labels(fork.pull, fork.rules.fork_label)
    assert not happens(fork, action, by="eve").review
    assert fork.labels == []


def test_a_deleted_fork_is_a_fork(fork: Desk) -> None:
    fork.pull.head_repository = None
    assert not happens(fork, "reopened").review


def test_any_other_label_begins_nothing(desk: Desk) -> None:
    assert not happens(desk, "labeled", label="bug").review
    assert desk.checks == []


def test_an_answer_that_lags_behind_the_push_is_not_believed_at_once(desk: Desk) -> None:
    """The event names the new head, and GitHub still answers the old one: no further event would come."""
    desk.github.traffic.lags(desk.pull, reads=2)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    assert happens(desk, "synchronize").review
    assert [check.conclusion for check in desk.checks] == [None]
    assert desk.github.traffic.unmet == 0
    assert desk.clock.monotonic() == sum(LAGS)


def test_an_event_of_a_head_that_moved_on_is_believed_in_the_end(desk: Desk) -> None:
    event = PullRequestEvent("synchronize", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    begun = BeginPhase(desk.bot()).begin(event)
    assert (begun.review, begun.because) == (False, "the head has moved since: that push is an event of its own")
    assert desk.checks == []


def test_a_closed_pull_request_is_left_alone(desk: Desk) -> None:
    desk.github.closes(desk.pull)
    assert not happens(desk, "edited").review
    assert desk.checks == []


def test_a_bots_pull_request_is_reviewed_like_anyones(desk: Desk) -> None:
    desk.github.user("dependabot[bot]")
    desk.pull.author = "dependabot[bot]"
    assert happens(desk, "opened", by="dependabot[bot]").review


def test_pushes_start_so_many_reviews_and_a_person_more_d12_d44(desk: Desk) -> None:
    for n in range(10):
        desk.github.pushes(desk.pull, {PATH: LINES + f"more = {n}\n"})
        assert happens(desk, "synchronize").review
        desk.publish(desk.reviewed(reject()))
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 99\n"})
    assert not happens(desk, "synchronize").review
    assert [check.conclusion for check in desk.checks] == ["action_required"]
    assert said(desk, "/advisor review").review
    desk.publish(desk.reviewed(reject()), asked=True)
    state = desk.state
    assert state is not None
    assert state.rounds == 10


def test_the_same_failure_on_one_head_opens_a_breaker_that_a_push_closes_d11(desk: Desk) -> None:
    for n in range(OPENS_BREAKER):
        assert happens(desk, "reopened").review
        desk.publish(DidNotRun(f"job-{n}", desk.pull.head_sha, "No credential."))
    assert not happens(desk, "reopened").review
    assert "No credential" in (desk.checks[0].summary or "")
    assert said(desk, "/advisor review").review
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    assert happens(desk, "synchronize").review


def test_comments_elsewhere_edited_or_without_a_command_begin_nothing(desk: Desk) -> None:
    assert not said(desk, "/advisor review", action="edited").review
    assert not said(desk, "/advisor review", pull=False).review
    assert not said(desk, "looks good").review
    assert not said(desk, "/advisor review", by=BOT).review
    assert desk.checks == []


def test_a_merge_queue_passes_on_the_word_of_the_pull_requests_own_check(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve()))
    assert queued(desk) == ["success"]


def test_a_merge_queue_takes_no_review_against_another_base(desk: Desk) -> None:
    """A retarget by a workflow's own token raises no event: nothing has begun anew, and the check stands."""
    desk.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    desk.publish(desk.reviewed(approve()))
    desk.github.retargets(desk.pull, "release")
    assert [check.conclusion for check in desk.checks] == ["success"]
    assert queued(desk) == ["action_required"]
    assert "was reviewed against main, not release" in told_in_queue(desk)


def test_a_merge_queue_takes_no_pass_of_a_head_that_the_last_review_is_not_of(desk: Desk) -> None:
    """What passed against another base is put back by force, and queued before the run that this begins has looked."""
    desk.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    desk.github.retargets(desk.pull, "release")
    desk.publish(desk.reviewed(approve()))
    passed = desk.pull.head_sha
    desk.github.retargets(desk.pull, "main")
    desk.github.pushes(desk.pull, {PATH: LINES + "harmless = 1\n"})
    desk.publish(desk.reviewed(approve()))
    assert queued(desk) == ["success"]
    desk.github.move_branch(desk.github.repository(REPOSITORY), desk.pull.head_ref, passed)
    assert [check.conclusion for check in desk.checks] == ["success"]
    assert queued(desk) == ["action_required"]
    assert "last review is of another head" in told_in_queue(desk)


def test_a_merge_queue_takes_no_review_against_nobody_knows_which_base(desk: Desk) -> None:
    """A memory of before base branches were kept, and one that is not to be trusted."""
    desk.publish(desk.reviewed(approve()))
    assert desk.state is not None
    summary = desk.summaries[0]
    desk.github.edits(summary, by=BOT, body=amended(summary.body, desk.state.model_copy(update={"base_ref": ""})))
    assert queued(desk) == ["action_required"]
    assert "not known against which base branch" in told_in_queue(desk)
    assert "has to be reviewed again" in told_in_queue(desk)
    desk.publish(desk.reviewed(approve()))
    assert queued(desk) == ["success"]
    desk.github.edits(summary, by=AUTHOR, body=summary.body)
    assert queued(desk) == ["action_required"]


def test_a_merge_queue_waits_for_a_pull_request_that_did_not_pass(desk: Desk) -> None:
    assert queued(desk) == ["action_required"]
    happens(desk, "opened")
    assert queued(desk) == ["action_required"]
    desk.publish(desk.reviewed(reject()))
    assert queued(desk) == ["action_required"]


@pytest.mark.parametrize("ref", ["main", "refs/heads/gh-readonly-queue/main/pr-0-" + "b" * 40, "pr-1-" + "b" * 40])
def test_a_branch_that_is_no_queues_passes_nothing(desk: Desk, ref: str) -> None:
    desk.publish(desk.reviewed(approve()))
    assert queued(desk, ref) == ["action_required"]


def test_somebody_elses_check_of_our_name_is_not_ours(desk: Desk) -> None:
    desk.github.app_token("evil-ci")
    forged = check_overridden_by(desk.rules, desk.pull.number, "eve", "trust me")
    FakeForge(desk.github, REPOSITORY, "evil-ci[bot]").create_check(desk.pull.head_sha, forged)
    assert queued(desk) == ["action_required"]
