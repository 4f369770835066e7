"""What people may tell the bot in comments, and what it does then."""

from contextlib import suppress
from itertools import count

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.agents.findings import finding_id
from review_advisor.change.pull_request import Permission, PullRequestEvent
from review_advisor.github.begin import BeginPhase, CommentResult
from review_advisor.github.check_text import check_did_not_run
from review_advisor.github.writer import PullRequestWriter
from review_advisor.mockworld.agents import Killed, approve, finding, reject, veto
from review_advisor.mockworld.github_traffic import RequestMoment, killed

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")
OTHER = finding(PATH, 7, "value = 7", "low", title="seven is odd")
ID = finding_id(PATH, "correctness", "value = 3")


@pytest.fixture
def desk() -> Desk:
    """A pull request whose review was rejected."""
    desk = Desk()
    desk.publish(desk.reviewed(reject(FAULT)))
    return desk


@pytest.fixture
def escalated() -> Desk:
    desk = Desk()
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    assert [check.conclusion for check in desk.checks] == ["action_required"]
    return desk


def says(desk: Desk, login: str, body: str, comment_id: int = 77) -> CommentResult:
    return desk.hears(login, body, comment_id)


def answers(desk: Desk) -> list[str]:
    return [each.body for each in desk.pull.comments if each.author == BOT and "advisor:answer" in each.body]


def test_a_maintainer_asks_for_another_review(desk: Desk) -> None:
    assert says(desk, MAINTAINER, "Please look again.\n\n/advisor review\n").review
    assert answers(desk) == []


@pytest.mark.parametrize("permission", [Permission.READ, Permission.TRIAGE, Permission.NONE])
def test_a_stranger_is_neither_obeyed_nor_answered(desk: Desk, permission: Permission) -> None:
    desk.github.grants(REPOSITORY, "eve", permission)
    for body in ("/advisor review", f"/advisor dismiss {ID} it is fine", f"/advisor explain {ID}", "/advisor help"):
        assert not says(desk, "eve", body).review
    assert answers(desk) == []
    assert desk.state is not None
    assert desk.state.findings[0].status == "open"


@pytest.mark.parametrize("login", ["octocat[bot]", "maria-admin", "Maria\u200b"])
def test_a_name_is_no_permission(desk: Desk, login: str) -> None:
    assert not says(desk, login, "/advisor review").review


@pytest.mark.parametrize(
    "body",
    [
        "> /advisor review",
        "> Please say:\n/advisor review",
        "```\n/advisor review\n```",
        "~~~~\n```\n/advisor review\n~~~~",
        "    /advisor review",
        "`/advisor review`",
        " /advisor review",
        "see /advisor review",
        "/advisor reviewer",
        "/advisor review now",
        "/advisor review\n/advisor review",
        "<!-- \n/advisor review\n-->",
        "<details>\n/advisor review\n</details>",
        "/ADVISOR review",
        "/advisor\u200b review",
    ],
)
def test_what_is_quoted_hidden_or_misspelt_is_no_command(desk: Desk, body: str) -> None:
    assert not says(desk, MAINTAINER, body).review


def test_a_command_below_a_quote_is_one(desk: Desk) -> None:
    assert says(desk, MAINTAINER, "> three is wrong\n\n/advisor review").review
    assert says(desk, MAINTAINER, "```\n> x\n```\n\n/advisor review").review


def test_a_dismissed_finding_is_settled_and_not_said_again(desk: Desk) -> None:
    says(desk, MAINTAINER, f"/advisor dismiss {ID} it is meant: @everyone #12")
    state = desk.state
    assert state is not None
    (known,) = state.findings
    assert (known.status, known.by) == ("dismissed", MAINTAINER)
    (answer,) = answers(desk)
    assert "is dismissed" in answer
    assert "`@everyone`" in answer
    assert "`#12`" in answer
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(desk.reviewed(reject(FAULT, OTHER)))
    assert [thread.comments[0].line for thread in desk.threads] == [3, 7]
    state = desk.state
    assert state is not None
    assert {each.title: each.status for each in state.findings} == {
        "three is wrong": "dismissed",
        "seven is odd": "open",
    }
    assert [each.title for each in desk.checks[0].annotations] == ["Low: seven is odd"]


@pytest.mark.parametrize("login", [AUTHOR, "Max"])
def test_nobody_dismisses_what_was_found_in_their_own_work(desk: Desk, login: str) -> None:
    """Executor and judge are told that a dismissed finding was settled: two comments would undo a rejection."""
    desk.github.grants(REPOSITORY, "Max", Permission.WRITE)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"}, by="Max")
    desk.publish(desk.reviewed(reject(FAULT)))
    says(desk, login.upper(), f"/advisor dismiss {ID} it is fine")
    (answer,) = answers(desk)
    assert "can neither dismiss its findings nor override its review" in answer
    assert "Push a change, answer in the thread, or ask somebody else" in answer
    assert desk.state is not None
    assert [each.status for each in desk.state.findings] == ["open"]
    says(desk, MAINTAINER, f"/advisor dismiss {ID} it is fine", 2)
    assert [each.status for each in desk.state.findings] == ["dismissed"]


@pytest.mark.parametrize("operation", ["list reviews", "update check run"])
def test_a_dismissal_while_a_review_is_published_holds(desk: Desk, operation: str) -> None:
    again = desk.reviewed(reject(FAULT))
    dismiss = lambda: says(desk, MAINTAINER, f"/advisor dismiss {ID} it is meant")  # noqa: E731
    desk.github.traffic.meanwhile(dismiss, RequestMoment(operation=operation))
    desk.publish(again)
    desk.publish(again)
    assert desk.state is not None
    assert [(each.status, each.by) for each in desk.state.findings] == [("dismissed", MAINTAINER)]


def test_the_summary_says_once_what_was_dismissed_and_forgets_no_verdict(desk: Desk) -> None:
    for number, reason in enumerate(("it is meant", "it is meant, really")):
        says(desk, MAINTAINER, f"/advisor dismiss {ID} {reason}", number)
    body = desk.summaries[0].body
    assert body.count("dismissed") == 1
    assert f"- `{MAINTAINER}` dismissed `{ID}`: it is meant, really\n" in body
    assert "### ❌ Changes requested: 1 high" in body
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(desk.reviewed(approve()))
    assert "Since this review" not in desk.summaries[0].body
    assert "<summary>Settled: 1 dismissed</summary>" in desk.summaries[0].body


def test_the_same_comment_heard_twice_is_answered_once(desk: Desk) -> None:
    for _ in range(2):
        says(desk, MAINTAINER, f"/advisor explain {ID}")
    (answer,) = answers(desk)
    assert "three is wrong" in answer


@pytest.mark.parametrize(
    "moment", [RequestMoment(operation="list comments", after=True), RequestMoment(operation="create comment")]
)
def test_the_same_comment_heard_twice_in_one_moment_is_answered_once(desk: Desk, moment: RequestMoment) -> None:
    desk.github.traffic.meanwhile(lambda: says(desk, MAINTAINER, "/advisor help"), moment)
    says(desk, MAINTAINER, "/advisor help")
    assert desk.github.traffic.unmet == 0
    assert len(answers(desk)) == 1


@pytest.mark.parametrize(
    "body,word",
    [
        ("/advisor dismiss f-00000000000000000000000000000000 why", "No finding"),
        ("/advisor dismiss three why", "Name a finding"),
        ("/advisor override HEAD because", "Name the head"),
        (f"/advisor override {'a' * 39} because", "Name the head"),
        ("/advisor sudo", "not one of the commands"),
        ("/advisor help", "/advisor override SHA reason"),
    ],
)
def test_what_cannot_be_done_is_said(desk: Desk, body: str, word: str) -> None:
    says(desk, MAINTAINER, body)
    assert [word in each for each in answers(desk)] == [True]


def test_a_human_approves_an_escalation_of_this_very_head(escalated: Desk) -> None:
    says(escalated, MAINTAINER, f"/advisor override {escalated.pull.head_sha} looked at it myself")
    (check,) = escalated.checks
    assert check.conclusion == "success"
    assert MAINTAINER in (check.title or "")
    assert escalated.labels == []
    assert escalated.state is not None
    assert escalated.state.approved_by == MAINTAINER
    assert MAINTAINER in escalated.summaries[0].body


def test_the_author_cannot_approve_their_own_escalation(escalated: Desk) -> None:
    says(escalated, AUTHOR, f"/advisor override {escalated.pull.head_sha} trust me")
    assert [check.conclusion for check in escalated.checks] == ["action_required"]
    assert ["The author of a pull request can neither dismiss" in each for each in answers(escalated)] == [True]


def test_whoever_made_the_head_commit_cannot_approve_its_escalation(escalated: Desk) -> None:
    escalated.github.grants(REPOSITORY, "Max", Permission.WRITE)
    escalated.github.pushes(escalated.pull, {PATH: LINES + "more = 1\n"}, by="Max")
    escalated.publish(escalated.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    says(escalated, "max", f"/advisor override {escalated.pull.head_sha} trust me", 1)
    assert [check.conclusion for check in escalated.checks] == ["action_required"]
    assert ["made or pushed a commit" in each for each in answers(escalated)] == [True]
    says(escalated, MAINTAINER, f"/advisor override {escalated.pull.head_sha} looked at it myself", 2)
    assert [check.conclusion for check in escalated.checks] == ["success"]


def test_another_head_is_not_approved(escalated: Desk) -> None:
    old = escalated.pull.head_sha
    escalated.github.pushes(escalated.pull, {PATH: LINES + "more = 1\n"})
    says(escalated, MAINTAINER, f"/advisor override {old} looked at it", 1)
    says(escalated, MAINTAINER, f"/advisor override {escalated.pull.head_sha} looked at it", 2)
    assert escalated.checks == []
    assert [check.conclusion for check in escalated.checks_on(old)] == ["action_required"]
    assert len(answers(escalated)) == 2


def test_a_command_that_is_refused_takes_no_approval_back(escalated: Desk) -> None:
    approves(escalated)
    says(escalated, MAINTAINER, f"/advisor override {'a' * 40} looked at it", 2)
    (check,) = escalated.checks
    assert check.title == f"Overridden by @{MAINTAINER}"


def test_a_head_shared_by_two_pull_requests_is_not_approved(escalated: Desk) -> None:
    other = escalated.github.opens(REPOSITORY, by=AUTHOR, branch="other")
    other.head_sha = escalated.pull.head_sha
    says(escalated, MAINTAINER, f"/advisor override {escalated.pull.head_sha} looked at it")
    assert [check.conclusion for check in escalated.checks] == ["action_required"]


def test_the_bot_does_not_talk_to_itself(desk: Desk) -> None:
    assert not says(desk, BOT, "/advisor review").review


def test_a_tampered_state_answers_nothing(desk: Desk) -> None:
    desk.github.edits(desk.summaries[0], by=AUTHOR, body=desk.summaries[0].body + "\n")
    says(desk, MAINTAINER, f"/advisor dismiss {ID} it is fine")
    assert ["has to be reviewed first" in each for each in answers(desk)] == [True]


def begins(desk: Desk, run: str) -> None:
    event = PullRequestEvent("edited", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    assert BeginPhase(desk.bot(run=run)).begin(event).review


def approves(desk: Desk) -> str:
    return says(desk, MAINTAINER, f"/advisor override {desk.pull.head_sha} looked at it").because


def test_nobody_approves_while_a_review_is_under_way(escalated: Desk) -> None:
    """The base branch was changed, so the escalation was about another diff."""
    escalated.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    escalated.github.retargets(escalated.pull, "release")
    begins(escalated, "2")
    assert "under way" in approves(escalated)
    assert [check.conclusion for check in escalated.checks] == [None]
    assert "Overridden by" not in escalated.summaries[0].body


def test_a_base_branch_that_changes_meanwhile_is_not_approved(escalated: Desk) -> None:
    escalated.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    retarget = lambda: escalated.github.retargets(escalated.pull, "release")  # noqa: E731
    escalated.github.traffic.meanwhile(retarget, RequestMoment(operation="list check runs"))
    assert "base branch has changed" in approves(escalated)
    assert [check.conclusion for check in escalated.checks] == ["action_required"]


def test_a_newer_rejection_is_not_approved_over(escalated: Desk) -> None:
    """It is published while the command is looked at."""
    rejection = escalated.reviewed(reject(OTHER))
    publish = lambda: escalated.publish(rejection)  # noqa: E731
    escalated.github.traffic.meanwhile(publish, RequestMoment(operation="list check runs"))
    assert "Another review of this head was published meanwhile" in approves(escalated)
    assert [check.conclusion for check in escalated.checks] == ["failure"]
    assert "Overridden by" not in escalated.summaries[0].body


def test_a_check_that_failed_for_another_reason_is_overridden_too(escalated: Desk) -> None:
    failed = check_did_not_run(escalated.rules, escalated.pull.number, "The base's configuration cannot be used.")
    PullRequestWriter(escalated.bot(), escalated.pull.number).checks.stand(escalated.pull.head_sha, failed)
    approves(escalated)
    assert [check.conclusion for check in escalated.checks] == ["success"]


def test_a_head_that_moves_while_it_is_approved_is_not(escalated: Desk) -> None:
    old = escalated.pull.head_sha
    push = lambda: escalated.github.pushes(escalated.pull, {PATH: LINES + "evil = 1\n"})  # noqa: E731
    escalated.github.traffic.meanwhile(push, RequestMoment(operation="list check runs"))
    assert "head has moved" in says(escalated, MAINTAINER, f"/advisor override {old} looked at it").because
    assert [check.conclusion for check in escalated.checks_on(old)] == ["action_required"]
    assert "Overridden by" not in escalated.summaries[0].body
    assert escalated.labels == ["needs-human-review"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_the_summary_never_claims_an_approval_that_the_check_does_not_have(after: bool) -> None:
    """Killed at any request and heard again, the approval stands whole."""
    for number in count():
        desk = Desk()
        desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
        desk.github.traffic.meets(killed(), RequestMoment(number, after=after))
        with suppress(Killed):
            approves(desk)
        passed = [check.conclusion for check in desk.checks] == ["success"]
        assert passed or "Overridden by" not in desk.summaries[0].body
        if desk.github.traffic.unmet:
            return
        approves(desk)
        assert [check.conclusion for check in desk.checks] == ["success"]
        assert "Overridden by" in desk.summaries[0].body
        assert desk.labels == []
        assert len(answers(desk)) == 1
