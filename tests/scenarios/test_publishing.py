"""What stands on a pull request after a review, and after the next one."""

from dataclasses import replace

import pytest
from tests.scenarios.publishing import AUTHOR, LINES, PATH, REPOSITORY, Desk

from review_advisor.change.change import Status
from review_advisor.github.check_text import check_in_progress
from review_advisor.github.forge import ForgeError
from review_advisor.github.publish import DidNotRun
from review_advisor.github.state import SUMMARY, number_in, seal_in
from review_advisor.github.writer import PullRequestWriter
from review_advisor.mockworld.agents import Killed, approve, confirm, credit_gone, finding, reject, veto
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import WORKFLOW_ABILITIES
from review_advisor.mockworld.github_traffic import RequestMoment, killed
from review_advisor.mockworld.world import edited
from review_advisor.policy.pull_request_rules import PublicationRules

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")
OTHER = finding(PATH, 7, "value = 7", "low", title="seven is odd")


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_an_approval_is_a_passing_check_and_one_summary(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve()))
    (check,) = desk.checks
    assert (check.status, check.conclusion) == ("completed", "success")
    assert check.external_id == f"pr-{desk.pull.number}/{seal_in(check.external_id)}"
    assert len(desk.summaries) == 1
    assert desk.reviews == []
    assert desk.labels == []
    state = desk.state
    assert state is not None
    assert (state.head_sha, state.outcome, state.rounds, state.complete) == (desk.pull.head_sha, "approved", 1, True)


def test_a_rejection_fails_the_check_and_stands_on_its_lines(desk: Desk) -> None:
    desk.publish(desk.reviewed(reject(FAULT, OTHER)))
    (check,) = desk.checks
    assert check.conclusion == "failure"
    assert [(each.path, each.start_line, each.level) for each in check.annotations] == [
        (PATH, 3, "failure"),
        (PATH, 7, "notice"),
    ]
    (review,) = desk.reviews
    assert (review.state, review.commit) == ("COMMENTED", desk.pull.head_sha)
    assert [(thread.comments[0].path, thread.comments[0].line) for thread in desk.threads] == [(PATH, 3), (PATH, 7)]
    assert "three is wrong" in desk.threads[0].comments[0].body
    assert "three is wrong" in desk.summaries[0].body


def test_a_doubt_about_a_records_structure_is_a_low_finding_like_any_other(desk: Desk) -> None:
    desk.world.source.texts["docs/adr/0007-values.md"] = "# Only a title\n"
    document = desk.reviewed(files=(edited(PATH, 30), edited("docs/adr/0007-values.md", 1, status=Status.ADDED)))
    desk.publish(document)
    assert [run.conclusion for run in desk.checks] == ["success"]
    assert "section 'Decision' is missing" in desk.summaries[0].body
    assert desk.state is not None
    assert [known.id for known in desk.state.findings] == [found.id for found in document.findings]


def test_nothing_passes_before_everything_else_stands_d34(desk: Desk) -> None:
    """The check is the gate: killed before its last word, a publication leaves it in progress."""
    writer = PullRequestWriter(desk.bot(), desk.pull.number)
    writer.checks.stand(desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number))
    document = desk.reviewed(approve(OTHER))
    desk.github.traffic.meets(killed(), RequestMoment(operation="update check run"))
    with pytest.raises(Killed):
        desk.publish(document)
    assert (len(desk.reviews), len(desk.summaries)) == (1, 1)
    assert [check.conclusion for check in desk.checks] == [None]
    desk.publish(document)
    assert [check.conclusion for check in desk.checks] == ["success"]
    assert desk.github.traffic.writes[-1].operation == "update check run"


def test_publishing_twice_leaves_one_of_everything_and_writes_nothing_new(desk: Desk) -> None:
    document = desk.reviewed(reject(FAULT))
    desk.publish(document)
    said = desk.summaries[0].body
    before = len(desk.github.traffic.writes)
    desk.publish(document)
    assert (len(desk.checks), len(desk.reviews), len(desk.summaries)) == (1, 1, 1)
    assert desk.summaries[0].body == said
    assert [each.operation for each in desk.github.traffic.writes[before:]] == ["update check run"]


def test_a_fixed_finding_is_closed_and_nothing_is_said_twice(desk: Desk) -> None:
    desk.github.workflow_token(WORKFLOW_ABILITIES | {"contents:write"})
    desk.publish(desk.reviewed(reject(FAULT, OTHER)))
    desk.github.pushes(desk.pull, {PATH: LINES.replace("value = 3\n", "value = 4\n")})
    desk.publish(desk.reviewed(approve(OTHER)))
    assert len(desk.reviews) == 1
    assert [thread.resolved_by is not None for thread in desk.threads] == [True, False]
    assert [check.conclusion for check in desk.checks] == ["success"]
    state = desk.state
    assert state is not None
    assert {each.title: each.status for each in state.findings} == {"three is wrong": "fixed", "seven is odd": "open"}
    assert state.rounds == 2


def test_a_token_that_may_not_resolve_threads_says_so_and_goes_on(desk: Desk) -> None:
    desk.publish(desk.reviewed(reject(FAULT)))
    desk.github.pushes(desk.pull, {PATH: LINES.replace("value = 3\n", "value = 4\n")})
    desk.publish(desk.reviewed(approve()))
    assert [thread.resolved_by for thread in desk.threads] == [None]
    assert "stay open" in desk.summaries[0].body
    assert [check.conclusion for check in desk.checks] == ["success"]


def test_an_escalation_calls_a_human_once_and_stays_one_d10(desk: Desk) -> None:
    desk.rules = PublicationRules(reviewers=("maria",))
    document = desk.reviewed(
        approve(), approve(FAULT), approve(OTHER), approve(FAULT, OTHER), judged=[veto("no"), veto("no"), veto("no")]
    )
    assert document.outcome.value == "escalated"
    for _ in range(2):
        desk.publish(document)
    assert [check.conclusion for check in desk.checks] == ["action_required"]
    assert desk.labels == ["needs-human-review"]
    asked = [each for each in desk.github.traffic.writes if each.operation == "request reviewers"]
    assert len(asked) == 1
    assert desk.pull.head_sha in desk.summaries[0].body


def test_an_approval_takes_the_label_off_again(desk: Desk) -> None:
    desk.github.labels(desk.pull, "needs-human-review")
    desk.publish(desk.reviewed(approve()))
    assert desk.labels == []


def test_a_team_that_may_not_be_asked_is_a_note_and_no_failure(desk: Desk) -> None:
    desk.rules = PublicationRules(reviewers=("acme/owners", AUTHOR))
    document = desk.reviewed(approve(), judged=[veto("no"), veto("no")])
    published = desk.publish(document)
    assert [check.conclusion for check in desk.checks] == ["action_required"]
    assert len(published.notes) == 2
    assert all(name in desk.summaries[0].body for name in ("acme/owners", AUTHOR))


def test_a_stopped_review_fails_and_says_that_it_did_not_run_d6(desk: Desk) -> None:
    desk.publish(desk.reviewed(credit_gone()))
    (check,) = desk.checks
    assert check.conclusion == "failure"
    assert "not run" in (check.title or "")


def test_without_an_outcome_the_check_fails_and_says_why_d6(desk: Desk) -> None:
    desk.publish(DidNotRun("job-1", desk.pull.head_sha, "The model's credential is missing."))
    (check,) = desk.checks
    assert check.conclusion == "failure"
    assert "credential is missing" in (check.summary or "")
    assert "credential is missing" in desk.summaries[0].body
    state = desk.state
    assert state is not None
    assert state.failing is not None
    assert state.failing.times == 1


def test_a_head_that_moved_gets_a_superseded_check_on_the_old_commit_only(desk: Desk) -> None:
    document = desk.reviewed(approve())
    old = desk.pull.head_sha
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(document)
    assert desk.checks == []
    assert [check.conclusion for check in desk.checks_on(old)] == ["cancelled"]
    assert desk.summaries == []


@pytest.mark.parametrize("before", [0, 1], ids=["at first", "at last"])
def test_an_answer_that_lags_behind_the_push_supersedes_no_review_of_the_true_head(desk: Desk, before: int) -> None:
    old = replace(desk.pull)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    document = desk.reviewed(approve())
    lags = lambda: desk.github.traffic.lags(old, reads=2)  # noqa: E731
    desk.github.traffic.meanwhile(lags, RequestMoment(before, operation="get pull request"))
    desk.publish(document)
    assert desk.github.traffic.unmet == 0
    assert [check.conclusion for check in desk.checks] == ["success"]
    assert len(desk.summaries) == 1


def test_a_head_that_moves_while_it_is_published_never_gets_the_verdict(desk: Desk) -> None:
    document = desk.reviewed(approve())
    old = desk.pull.head_sha
    push = lambda: desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})  # noqa: E731
    desk.github.traffic.meanwhile(push, RequestMoment(operation="create comment", after=True))
    desk.publish(document)
    assert desk.checks == []
    assert [check.conclusion for check in desk.checks_on(old)] == ["cancelled"]


def test_a_line_outside_the_diff_loses_one_comment_and_not_the_review(desk: Desk) -> None:
    document = desk.reviewed(reject(FAULT, OTHER))
    shown = LINES.split("\n")[:5]
    desk.github.force_pushes(desk.pull, {PATH: "\n".join(shown) + "\n"}, sha=None)
    document = desk.reviewed(reject(FAULT, OTHER))
    published = desk.publish(document)
    assert [thread.comments[0].line for thread in desk.threads] == [3]
    assert published.check.conclusion == "failure"
    assert "seven is odd" in desk.summaries[0].body


def test_two_open_pull_requests_with_one_head_never_pass(desk: Desk) -> None:
    document = desk.reviewed(approve())
    other = desk.github.opens(REPOSITORY, by=AUTHOR, branch="other")
    other.head_sha = desk.pull.head_sha
    desk.publish(document)
    assert [check.conclusion for check in desk.checks] == ["action_required"]
    assert str(other.number) in (desk.checks[0].title or "")
    desk.github.closes(other)
    desk.publish(document)
    assert [check.conclusion for check in desk.checks] == ["success"]


def test_a_check_of_a_pull_request_whose_number_only_begins_alike_is_left_alone(desk: Desk) -> None:
    other = desk.forge.create_check(desk.pull.head_sha, check_in_progress(desk.rules, int(f"{desk.pull.number}2")))
    desk.publish(desk.reviewed(approve()))
    theirs = desk.github.repository(REPOSITORY).checks[other]
    assert (theirs.status, theirs.conclusion) == ("in_progress", None)
    assert [check.conclusion for check in desk.checks if check.id != other] == ["success"]


def test_what_passed_for_one_pull_request_passes_no_other_one_of_the_same_head(desk: Desk) -> None:
    """The first is rejected and closed, a second one of the same commit approved and closed, the first opened again."""
    first, rejection = desk.pull, desk.reviewed(reject(FAULT))
    desk.publish(rejection)
    desk.github.closes(first)
    desk.github.commits(REPOSITORY, "side", {PATH: "x\n"}, by=AUTHOR)
    desk.pull = desk.github.opens(REPOSITORY, {PATH: LINES}, by=AUTHOR, base="side", sha=first.head_sha)
    desk.publish(desk.reviewed(approve()))
    assert [check.conclusion for check in desk.checks] == ["failure", "success"]
    desk.github.closes(desk.pull)
    desk.pull, first.state = first, "open"
    desk.publish(rejection)
    assert [check.conclusion for check in desk.checks] == ["failure", "action_required"]
    assert number_in(desk.checks[1].external_id) == 2
    assert f"pull request {first.number} has the same head" in (desk.checks[1].title or "")


def test_a_head_that_moved_on_takes_nothing_from_another_pull_request(desk: Desk) -> None:
    first, document = desk.pull, desk.reviewed(reject(FAULT))
    desk.github.commits(REPOSITORY, "side", {PATH: "x\n"}, by=AUTHOR)
    second = desk.github.opens(REPOSITORY, {PATH: LINES}, by=AUTHOR, base="side", sha=first.head_sha)
    shared = first.head_sha
    desk.github.pushes(first, {PATH: LINES + "more = 1\n"})
    desk.pull = second
    desk.publish(desk.reviewed(approve()))
    desk.pull = first
    desk.publish(document)
    assert [check.conclusion for check in desk.checks_on(shared)] == ["success", "cancelled"]


def test_a_summary_that_somebody_else_edited_is_not_trusted_and_is_written_anew(desk: Desk) -> None:
    desk.publish(desk.reviewed(reject(FAULT)))
    summary = desk.summaries[0]
    desk.github.edits(summary, by=AUTHOR, body=summary.body.replace("three is wrong", "all is well"))
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    assert desk.state is None
    desk.publish(desk.reviewed(reject(FAULT)))
    assert len(desk.summaries) == 1
    assert "three is wrong" in desk.summaries[0].body


def test_a_summary_of_somebody_else_is_left_alone(desk: Desk) -> None:
    forged = desk.github.comments(desk.pull, by=AUTHOR, body="<!-- review-advisor:summary -->\nApproved!")
    desk.publish(desk.reviewed(approve()))
    assert forged.body.endswith("Approved!")
    assert len(desk.summaries) == 2


def test_a_deleted_summary_is_written_again(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve()))
    desk.github.deletes_comment(desk.pull, desk.summaries[0])
    desk.publish(desk.reviewed(approve()))
    assert len(desk.summaries) == 1


def test_a_token_of_another_account_than_the_configured_one_is_said_at_once(desk: Desk) -> None:
    """What it makes would never be found again, and be made anew by each run."""
    desk.github.app_token("other")
    forge = FakeForge(desk.github, REPOSITORY, "other[bot]")
    writer = PullRequestWriter(desk.bot(forge=forge), desk.pull.number)
    with pytest.raises(ForgeError, match=r"writes as other\[bot\], but github.login is github-actions\[bot\]"):
        writer.checks.stand(desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number))
    with pytest.raises(ForgeError, match="writes as other"):
        writer.summary(lambda _, __: f"{SUMMARY}\nApproved.")


def test_the_same_failure_is_counted_and_a_success_forgets_it(desk: Desk) -> None:
    for n in range(3):
        desk.publish(DidNotRun(f"job-{n}", desk.pull.head_sha, "No credential."))
    state = desk.state
    assert state is not None
    assert state.failing is not None
    assert state.failing.times == 3
    desk.publish(desk.reviewed(approve(), judged=[confirm()]))
    state = desk.state
    assert state is not None
    assert state.failing is None


def test_an_escalation_whose_label_cannot_be_made_calls_a_person_all_the_same(desk: Desk) -> None:
    """A new repository has no such label, and a token without ``issues: write`` makes none."""
    desk.github.workflow_token(WORKFLOW_ABILITIES - {"issues:write"})
    published = desk.publish(desk.reviewed(approve(), judged=[veto("no")]))
    assert desk.labels == []
    assert [run.conclusion for run in desk.checks] == ["action_required"]
    (note,) = (each for each in published.notes if "label" in each)
    assert "could not be set: You do not have permission to create labels" in note
    assert "You do not have permission to create labels" in desk.summaries[0].body
