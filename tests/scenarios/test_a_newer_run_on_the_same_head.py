"""Several workflow runs on one head: the one that began last concludes the check, whichever ends when."""

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.pull_request import CommentEvent, PullRequestEvent
from review_advisor.github import beginning
from review_advisor.github.begin import BeginPhase
from review_advisor.github.publish import LEFT, DidNotRun, Published, PublishPhase
from review_advisor.github.state import StandingCheck
from review_advisor.mockworld.agents import approve, finding, reject, veto
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github_traffic import RequestMoment
from review_advisor.review.document import OutcomeDocument

CANCELLED = "There is no outcome to publish: No such file or directory."


@pytest.fixture
def desk() -> Desk:
    return Desk()


def begins(desk: Desk, run: str, action: str = "reopened") -> None:
    """A workflow run begins a review of the present head."""
    event = PullRequestEvent(action, REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert BeginPhase(desk.bot(run=run)).begin(event).review


def publishes(desk: Desk, run: str, outcome: OutcomeDocument | None = None) -> Published:
    """A workflow run publishes: what it reviewed, or that it was cancelled before it could."""
    phase = PublishPhase(desk.bot(run=run), GitPatcher())
    head = desk.pull.head_sha
    return phase.publish(desk.pull.number, outcome or DidNotRun(f"actions-{run}-1", head, CANCELLED), asked=False)


def conclusions(desk: Desk) -> list[str | None]:
    return [check.conclusion for check in desk.checks]


def test_a_run_that_was_cancelled_while_it_waited_leaves_the_check_to_the_newer_one_d26(desk: Desk) -> None:
    """GitHub keeps one waiting run in a group: of three on one head the second is cancelled when the third arrives."""
    for run in ("1", "2", "3"):
        begins(desk, run)
    written = len(desk.github.traffic.writes)
    left = publishes(desk, "2")
    assert (left.check.conclusion, left.notes) == (None, (LEFT,))
    assert len(desk.github.traffic.writes) == written, "no failure is said, and none is counted"
    assert conclusions(desk) == [None]
    publishes(desk, "3", desk.reviewed(approve()))
    assert conclusions(desk) == ["success"]
    assert desk.state is not None
    assert desk.state.failing is None


def test_the_last_run_says_that_it_did_not_run(desk: Desk) -> None:
    begins(desk, "1")
    begins(desk, "2")
    publishes(desk, "2")
    assert conclusions(desk) == ["failure"]
    assert desk.state is not None
    assert desk.state.failing is not None


def test_a_run_that_is_started_again_goes_on_with_its_own_check(desk: Desk) -> None:
    begins(desk, "1")
    publishes(desk, "1")
    assert conclusions(desk) == ["failure"]
    publishes(desk, "1", desk.reviewed(approve()))
    assert conclusions(desk) == ["success"]


def test_an_approval_of_an_older_run_never_passes_the_check_that_a_newer_one_has_begun(desk: Desk) -> None:
    """The base may have been changed in between: the approval is of another diff."""
    begins(desk, "1")
    document = desk.reviewed(approve())
    begins(desk, "2", "edited")
    published = publishes(desk, "1", document)
    assert published.notes == (LEFT,)
    assert conclusions(desk) == [None]
    assert len(desk.summaries) == 1, "what was found is said all the same"
    publishes(desk, "2", desk.reviewed(reject(finding(PATH, 1, "value = 1"))))
    assert conclusions(desk) == ["failure"]
    assert len(desk.summaries) == 1


def test_whichever_run_began_last_concludes_also_one_with_a_lower_number(desk: Desk) -> None:
    """Somebody starts all jobs of run 1 again after run 2 has begun: run 1 looks at what is there now."""
    begins(desk, "2")
    document = desk.reviewed(approve())
    begins(desk, "1")
    assert publishes(desk, "2", document).notes == (LEFT,)
    assert conclusions(desk) == [None]
    publishes(desk, "1", desk.reviewed(reject(finding(PATH, 1, "value = 1"))))
    assert conclusions(desk) == ["failure"]


def test_a_run_that_begins_while_an_older_one_publishes_keeps_its_check(desk: Desk) -> None:
    begins(desk, "1")
    document = desk.reviewed(approve())
    desk.github.traffic.meanwhile(lambda: begins(desk, "2"), RequestMoment(operation="create comment", after=True))
    publishes(desk, "1", document)
    assert conclusions(desk) == [None]


def test_whoever_publishes_by_hand_has_the_word(desk: Desk) -> None:
    begins(desk, "1")
    publishes(desk, "")
    assert conclusions(desk) == ["failure"]


def test_a_check_that_another_process_made_in_the_same_moment_says_the_same(desk: Desk) -> None:
    document = desk.reviewed(approve())
    desk.github.traffic.meanwhile(lambda: begins(desk, "2"), RequestMoment(operation="create check run"))
    desk.publish(document)
    assert conclusions(desk) == ["success", "success"]


def test_an_older_run_that_publishes_again_changes_nothing_of_what_a_newer_one_concluded(desk: Desk) -> None:
    """GitHub lets anybody who may write start one job of an old run again, after any change of the base branch."""
    begins(desk, "9")
    approval = desk.reviewed(approve())
    publishes(desk, "9", approval)
    desk.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    desk.github.retargets(desk.pull, "release")
    begins(desk, "10", "edited")
    publishes(desk, "10", desk.reviewed(reject(finding(PATH, 3, "value = 3", "critical"))))
    written = len(desk.github.traffic.writes)
    again = publishes(desk, "9", approval)
    assert (again.check.conclusion, again.notes) == ("failure", (LEFT,))
    assert conclusions(desk) == ["failure"]
    assert len(desk.github.traffic.writes) == written
    publishes(desk, "")
    assert conclusions(desk) == ["failure"], "whoever publishes by hand still has the word"


def test_an_older_run_does_not_conclude_what_waits_for_a_person(desk: Desk) -> None:
    begins(desk, "1")
    approval = desk.reviewed(approve())
    desk.pull.draft = True
    event = PullRequestEvent("reopened", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert not BeginPhase(desk.bot(run="2")).begin(event).review
    publishes(desk, "1", approval)
    assert conclusions(desk) == ["action_required"]


def left_with_its_words(desk: Desk, published: Published, *others: str | None) -> None:
    """The check is as the newer run has it, and what the older one found is said all the same."""
    assert published.notes[-1:] == (LEFT,)
    assert conclusions(desk) == list(others)
    assert len(desk.threads) == 1
    assert "Changes requested: 1 high" in desk.summaries[0].body
    assert desk.state is not None
    assert desk.state.outcome == "changes_requested"


REJECTED = reject(finding(PATH, 3, "value = 3"))


def test_a_review_is_said_though_a_newer_run_was_cancelled_before_it_reviewed_anything(desk: Desk) -> None:
    begins(desk, "100")
    document = desk.reviewed(REJECTED)
    begins(desk, "101")
    publishes(desk, "101")
    left_with_its_words(desk, publishes(desk, "100", document), "failure")


def test_a_review_is_said_though_a_newer_run_waits_for_a_label(desk: Desk) -> None:
    """A maintainer lets a stranger's change be reviewed; the stranger closes it and opens it again."""
    desk.github.forks(REPOSITORY, "eve")
    desk.pull = desk.github.opens(REPOSITORY, {PATH: LINES}, by="eve")
    desk.github.labels(desk.pull, desk.rules.fork_label)
    told = (REPOSITORY, desk.pull.number, desk.pull.head_sha)
    labelled = PullRequestEvent("labeled", *told, MAINTAINER, desk.rules.fork_label)
    assert BeginPhase(desk.bot(run="1")).begin(labelled).review
    document = desk.reviewed(REJECTED)
    again = PullRequestEvent("reopened", *told, "eve")
    assert not BeginPhase(desk.bot(run="2")).begin(again).review
    left_with_its_words(desk, publishes(desk, "1", document), "action_required")


def test_a_review_is_said_though_a_newer_run_found_the_rounds_used_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "MOST_ROUNDS", 1)
    begins(desk, "1")
    publishes(desk, "1", desk.reviewed(approve()))
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    asked = CommentEvent("created", REPOSITORY, desk.pull.number, 77, MAINTAINER, "/advisor review", True)
    assert BeginPhase(desk.bot(run="2")).begin(asked).review
    document = desk.reviewed(REJECTED)
    event = PullRequestEvent("reopened", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert not BeginPhase(desk.bot(run="3")).begin(event).review
    left_with_its_words(desk, publishes(desk, "2", document), "action_required")


def test_a_review_that_a_newer_one_followed_is_not_said_though_a_still_newer_run_did_not_run(desk: Desk) -> None:
    begins(desk, "1")
    document = desk.reviewed(approve())
    begins(desk, "2")
    publishes(desk, "2", desk.reviewed(REJECTED))
    begins(desk, "3")
    publishes(desk, "3")
    written = len(desk.github.traffic.writes)
    publishes(desk, "1", document)
    assert len(desk.github.traffic.writes) == written
    assert conclusions(desk) == ["failure"]


def test_two_runs_that_begin_in_one_moment_leave_the_check_to_one_of_them(desk: Desk) -> None:
    """Each finds none, makes one, finds the other's and makes it say the same as its own."""

    class BeforeTheOther(FakeForge):
        looks = 0

        def checks(self, commit: str, name: str) -> tuple[StandingCheck, ...]:
            self.looks += 1  # what was spent, what stands, and what it made
            return super().checks(commit, name) if self.looks > 2 else ()

    event = PullRequestEvent("reopened", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    second = BeginPhase(desk.bot(run="2", forge=BeforeTheOther(desk.github, REPOSITORY, BOT)))
    desk.github.traffic.meanwhile(lambda: second.begin(event), RequestMoment(operation="create check run", after=True))
    begins(desk, "1")
    assert len(desk.checks) == 2
    document = desk.reviewed(approve())
    left = [publishes(desk, run, document).check.conclusion is None for run in ("1", "2")]
    assert left == [True, False]
    assert conclusions(desk) == ["success", "success"]


@pytest.mark.parametrize("moment", ["list reviews", "list threads", "list comments", "update comment"])
def test_an_approval_that_a_person_gives_while_an_older_run_publishes_again_stands(desk: Desk, moment: str) -> None:
    begins(desk, "1")
    escalated = desk.reviewed(approve(), approve(finding(PATH, 3, "value = 3")), judged=[veto("no"), veto("no")])
    publishes(desk, "1", escalated)

    def approves() -> None:
        order = f"/advisor override {desk.pull.head_sha} looked at it"
        assert "passes in the name" in desk.hears(MAINTAINER, order, run="2").because

    desk.github.traffic.meanwhile(approves, RequestMoment(operation=moment, after=True))
    desk.github.edits(desk.summaries[0], by=BOT, body=desk.summaries[0].body + "\n")
    publishes(desk, "1", escalated)
    assert desk.github.traffic.unmet == 0
    assert conclusions(desk) == ["success"]
    assert desk.state is not None
    assert desk.state.approved_by == MAINTAINER
    assert f"Overridden by `{MAINTAINER}`" in desk.summaries[0].body
    begins(desk, "3")
    publishes(desk, "3", desk.reviewed(approve(), approve(finding(PATH, 3, "value = 3")), judged=[veto("no")] * 2))
    assert desk.state is not None
    assert (conclusions(desk), desk.state.approved_by) == (["action_required"], ""), "another review, and nobody's word"
