"""One story for each case of docs/github.md: an event on GitHub, the workflow's three commands, what stands then."""

from __future__ import annotations

import base64
import json
import signal
from collections.abc import Callable

import pytest
from tests.adapters.git_remote import NAME, git_by_http
from tests.adapters.github.webhook_events import Events
from tests.adapters.pull_request_world import (
    APP,
    AUTHOR,
    LINES,
    MAINTAINER,
    OTHER,
    STRANGER,
    TOKENS,
    Actions,
    WorkflowRun,
)

from review_advisor.agents.findings import finding_id
from review_advisor.change.pull_request import Permission
from review_advisor.github import beginning
from review_advisor.ledger.artifacts import BROKEN
from review_advisor.mockworld.agents import Line, approve, finding, reject, veto
from review_advisor.mockworld.github import Contents
from review_advisor.mockworld.github_records import Pull
from review_advisor.mockworld.github_traffic import RequestMoment
from review_advisor.safety.interruption import INTERRUPTION

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

CONFIG = ".review-advisor.toml"
FAULTY, RIGHT = LINES + "value = 31\n", LINES + "value = 32\n"
FAULT = finding(APP, 31, "value = 31", title="thirty-one is wrong")
ODD = finding(APP, 31, "value = 31", "low", title="thirty-one is odd")
FAULT_ID = finding_id(APP, "correctness", "value = 31")
NO_CREDIT = {"error": "billing_error"}
NO_LOGIN = {"error": "authentication_failed"}
REVIEW, JUDGE, PLAN = "ReviewReport", "PostVerifyResult", "ReviewPlan"


@pytest.fixture
def rejected(actions: Actions) -> tuple[Actions, Pull]:
    """A pull request of two files, one of them at fault, whose first review asked for changes."""
    pull = actions.opens({APP: FAULTY, OTHER: RIGHT})
    actions.models.executor_says(reject(FAULT))
    actions.happens("opened", pull)
    assert actions.check(pull).conclusion == "failure"
    return actions, pull


@pytest.fixture
def escalated(actions: Actions) -> tuple[Actions, Pull]:
    """A pull request that the executor approves and its judge does not, to the end of their retries."""
    actions.main_becomes({CONFIG: f'[github]\nreviewers = ["{MAINTAINER}"]\n'})
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(approve(), approve(ODD))
    actions.models.judge_says(veto("it divides by zero"), veto("it still divides by zero"))
    actions.happens("opened", pull)
    return actions, pull


# --- reviewed ---------------------------------------------------------------------------------------------------------


@pytest.mark.one_of_its_kind
def test_a_first_review_that_approves_is_a_passing_check_and_one_summary(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT}, title="Add a value", body="It adds one.")
    ran = actions.starts("opened", pull).begin()
    assert ran.told == {
        "review": "true",
        "pull-request": f"{NAME}#{pull.number}",
        "head-sha": pull.head_sha,
        "asked": "false",
        "settle-seconds": "0",
        "most-usd": "50.00",
        "consult": "false",
        "memory": "",
    }
    assert (actions.check(pull).status, actions.check(pull).conclusion) == ("in_progress", None)
    writes = len(actions.github.traffic.writes)
    ran.review()
    assert ran.done["review"].code == 0
    assert len(actions.github.traffic.writes) == writes, "the job that asks models writes nothing on GitHub"
    assert [each.question for each in ran.asked] == [REVIEW, JUDGE]
    assert "It adds one." in ran.asked[0].shown("DESCRIPTION")
    assert "value = 32" in ran.asked[0].shown("DIFF")
    ran.publish()
    check = actions.check(pull)
    assert (check.name, check.status) == ("review-advisor", "completed")
    assert check.external_id.startswith(f"pr-{pull.number}/run-9001/noted-")
    assert (check.conclusion, check.title) == ("success", "Approved")
    state = actions.state(pull)
    assert (state.outcome, state.head_sha, state.findings) == ("approved", pull.head_sha, ())
    assert (actions.reviews(pull), pull.labels, pull.requested_users) == ([], [], [])
    assert "Approved" in (ran.place / "step-summary.md").read_text()


def test_a_rejection_stands_on_its_lines(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    check = actions.check(pull)
    assert [(each.path, each.start_line, each.level) for each in check.annotations] == [(APP, 31, "failure")]
    (review,) = actions.reviews(pull)
    assert (review.state, review.commit) == ("COMMENTED", pull.head_sha)
    (thread,) = review.threads
    assert (thread.comments[0].path, thread.comments[0].line) == (APP, 31)
    assert "thirty-one is wrong" in thread.comments[0].body
    assert "thirty-one is wrong" in actions.summary(pull)
    assert actions.statuses(pull) == {"thirty-one is wrong": "open"}


def test_a_second_push_is_shown_what_differs_and_its_judge_everything(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    first, before = pull.head_sha, actions.state(pull)
    actions.models.executor_says(reject(FAULT))
    ran = actions.pushed(pull, {APP: FAULTY + "value = 33\n"})
    plan, executor, judge = ran.asked
    assert plan.question == PLAN, "an earlier attempt to fix it calls for a plan"
    assert "value = 33" in executor.shown("DIFF")
    assert OTHER not in executor.shown("DIFF")
    assert OTHER in executor.shown("FILES")
    assert first in executor.prompt
    assert {APP, OTHER} <= set(judge.shown("DIFF").split())
    assert all(FAULT_ID in each.shown("EARLIER") for each in (executor, judge))
    assert len(actions.reviews(pull)) == 1, "nothing is said twice"
    assert actions.state(pull).findings == before.findings, "it is still the same one"
    assert actions.check(pull).conclusion == "failure"
    assert [check.conclusion for check in actions.checks(first)] == ["failure"]


def test_a_fix_closes_the_finding(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.pushed(pull, {APP: RIGHT})
    assert actions.check(pull).conclusion == "success"
    assert actions.statuses(pull) == {"thirty-one is wrong": "fixed"}
    assert "threads of settled findings stay open" in actions.summary(pull), "the workflow's token may not resolve them"
    assert [thread.resolved_by for thread in actions.threads(pull)] == [None]


def test_a_token_that_may_resolves_the_thread_of_a_fixed_finding(actions: Actions) -> None:
    actions.main_becomes({CONFIG: '[github]\nlogin = "acme-reviewer[bot]"\n'})
    actions.login, actions.granted = "acme-reviewer[bot]", frozenset({"contents:write"})
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(reject(FAULT))
    actions.happens("opened", pull)
    actions.pushed(pull, {APP: RIGHT})
    assert [thread.resolved_by for thread in actions.threads(pull)] == ["acme-reviewer[bot]"]
    assert actions.check(pull).app == "acme-reviewer"
    assert "stay open" not in actions.summary(pull)


def test_a_dispute_that_is_dismissed_is_settled(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    heard = actions.said(pull, f"/advisor dismiss {FAULT_ID} thirty-one is what the law says", by=MAINTAINER)
    assert not heard.began
    assert ["is dismissed" in each for each in actions.answers(pull)] == [True]
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("success", f"Dismissed by @{MAINTAINER}")
    actions.models.executor_says(approve(ODD))
    ran = actions.said(pull, "/advisor review", by=MAINTAINER)
    assert ran.told["asked"] == "true"
    for asked in ran.asked[-2:]:
        assert '"status": "dismissed"' in asked.shown("EARLIER")
        assert "what the law says" in asked.shown("EARLIER")
    assert actions.check(pull).conclusion == "success"
    assert len(actions.reviews(pull)) == 1
    assert actions.statuses(pull)["thirty-one is wrong"] == "dismissed"
    assert actions.state(pull).findings[-1].by == MAINTAINER


def test_what_was_dismissed_follows_its_file_where_git_names_the_rename_and_no_further(actions: Actions) -> None:
    brought, moved = "src/brought.py", "src/moved.py"

    def raised(path: str) -> Line:
        return reject(finding(path, 31, "value = 31", title=f"wrong in {path}"))

    actions.state_key = "k" * 32
    pull = actions.opens({brought: FAULTY})
    actions.models.executor_says(raised(brought))
    actions.happens("opened", pull)
    order = f"/advisor dismiss {finding_id(brought, 'correctness', 'value = 31')} it is a fixture"
    actions.said(pull, order, by=MAINTAINER)
    actions.models.executor_says(raised(moved))
    actions.pushed(pull, {brought: None, moved: FAULTY})
    assert [(each.path, each.status) for each in actions.state(pull).findings] == [(moved, "dismissed")]
    assert len(actions.threads(pull)) == 1
    actions.models.executor_says(raised(APP))
    actions.pushed(pull, {moved: None, APP: FAULTY})
    assert actions.statuses(pull) == {f"wrong in {brought}": "dismissed", f"wrong in {APP}": "open"}
    assert f"dismissed under `{moved}`" in actions.summary(pull)
    assert [thread.comments[0].path for thread in actions.threads(pull)] == [brought, APP]


def test_without_a_key_nobodys_comment_dismisses_what_was_dismissed_under_another_name(actions: Actions) -> None:
    brought, moved = "src/brought.py", "src/moved.py"
    pull = actions.opens({brought: FAULTY})
    actions.models.executor_says(reject(finding(brought, 31, "value = 31")))
    actions.happens("opened", pull)
    order = f"/advisor dismiss {finding_id(brought, 'correctness', 'value = 31')} it is a fixture"
    actions.said(pull, order, by=MAINTAINER)
    pushes: dict[str, Contents] = {"dismissed": {brought: None, moved: FAULTY}, "open": {OTHER: RIGHT}}
    for status, contents in pushes.items():
        actions.models.executor_says(reject(finding(moved, 31, "value = 31")))
        actions.pushed(pull, contents)
        assert [(each.path, each.status) for each in actions.state(pull).findings] == [(moved, status)]


def test_reopened_it_is_reviewed_again_on_the_same_check(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    for action in ("opened", "reopened"):
        assert actions.happens(action, pull).began
    assert actions.check(pull).conclusion == "success"


def test_another_base_branch_is_another_change_and_reviewed_whole(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    before = actions.github.base_sha(pull)
    actions.main_becomes({"README.md": "More.\n"})
    payload = Events(actions.github).retargeted(pull, by=AUTHOR, from_ref="old", from_sha=before)
    ran = actions.to_its_end(actions.event("pull_request_target", payload))
    executor = next(each for each in ran.asked if each.question == REVIEW)
    assert {APP, OTHER} <= set(executor.shown("DIFF").split())


def test_a_review_of_another_base_branch_never_passes_though_no_run_for_the_new_one_began(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    ran = actions.starts("opened", pull).begin().review()
    assert json.loads(ran.outcome.read_text())["base_ref"] == "main"
    actions.github.commits(NAME, "release", {}, by=MAINTAINER)
    actions.github.retargets(pull, "release")
    ran.publish()
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("cancelled", "Superseded: the base branch has changed")
    only_its_cost_is_told(actions, pull)


def test_an_escalation_of_another_base_branch_is_not_approved(escalated: tuple[Actions, Pull]) -> None:
    actions, pull = escalated
    actions.github.commits(NAME, "release", {}, by=MAINTAINER)
    actions.github.retargets(pull, "release")
    actions.said(pull, f"/advisor override {pull.head_sha} I looked at it", by=MAINTAINER)
    assert ["reviewed against main, not release" in each for each in actions.answers(pull)] == [True]
    assert actions.check(pull).conclusion == "action_required"


def test_a_base_branch_whose_name_is_a_secrets_value_too_is_one_like_any_other(actions: Actions) -> None:
    release = "release/2026-hotfix"
    actions.also = {"DEPLOY_KEY": release}
    actions.git.push(f"main:refs/heads/{release}")
    actions.git.work.git("branch", release, "main")
    actions.github.repository(NAME).branches[release] = actions.git.work.rev("main")
    pull = actions.opens({APP: FAULTY}, base=release)
    actions.models.executor_says(approve(), approve(ODD))
    actions.models.judge_says(veto("it divides by zero"), veto("it still divides by zero"))
    actions.happens("opened", pull)
    assert actions.check(pull).conclusion == "action_required"
    assert actions.state(pull).base_ref == "[secret removed]"
    actions.said(pull, f"/advisor override {pull.head_sha} I looked at it", by=MAINTAINER)
    assert actions.check(pull).conclusion == "success"
    assert release not in json.dumps([actions.summary(pull), *actions.answers(pull), actions.check(pull).summary])


def test_a_bots_pull_request_is_reviewed_and_its_name_grants_nothing(actions: Actions) -> None:
    bot = "dependabot[bot]"
    actions.github.user(bot)
    pull = actions.opens({APP: RIGHT}, by=bot)
    assert actions.happens("opened", pull, by=bot).began
    assert not actions.said(pull, "/advisor review", by=bot).began
    assert ["needs write permission" in each for each in actions.answers(pull)] == [True]


def test_a_repair_is_pushed_and_judged_as_the_next_head(actions: Actions) -> None:
    actions.main_becomes({CONFIG: '[github]\nlogin = "acme-reviewer[bot]"\npush_repairs = true\n'})
    actions.login, actions.granted = "acme-reviewer[bot]", frozenset({"contents:write"})
    pull = actions.opens({APP: FAULTY})
    old = pull.head_sha
    actions.models.executor_says(approve(ODD), approve(summary="mended").repairing(APP, RIGHT))
    actions.models.judge_says(veto("thirty-one is wrong"))
    ran = actions.happens("opened", pull)
    assert pull.head_sha != old
    assert actions.github.objects.content(pull.head_sha, APP) == RIGHT.encode()
    assert actions.github.objects.commits[pull.head_sha].parents == (old,)
    assert [check.conclusion for check in actions.checks(old)] == ["failure"]
    assert "the repair was committed to" in ran.done["publish"].err
    assert "gets a review of its own" in actions.summary(pull)


# --- a human is called ------------------------------------------------------------------------------------------------


def test_an_escalation_calls_a_human_with_label_request_and_transcript(escalated: tuple[Actions, Pull]) -> None:
    actions, pull = escalated
    assert [each.question for each in actions.models.asked] == [REVIEW, JUDGE, REVIEW, JUDGE]
    assert "it divides by zero" in actions.models.asked[2].shown("TRANSCRIPT")
    assert actions.check(pull).conclusion == "action_required"
    assert pull.labels == ["needs-human-review"]
    assert pull.requested_users == [MAINTAINER]
    summary = actions.summary(pull)
    assert all(words in summary for words in ("it divides by zero", "it still divides by zero"))
    assert f"/advisor override {pull.head_sha[:7]}" in summary


def test_a_team_that_the_token_may_not_ask_is_a_line_and_the_label_stands(actions: Actions) -> None:
    actions.main_becomes({CONFIG: '[github]\nreviewers = ["octo/owners"]\n'})
    actions.github.team("octo", "owners")
    pull = actions.opens({APP: FAULTY})
    actions.models.judge_says(veto("no"))
    actions.happens("opened", pull)
    assert actions.check(pull).conclusion == "action_required"
    assert pull.labels == ["needs-human-review"]
    assert "octo/owners could not be asked for a review" in actions.summary(pull)


def test_a_human_approves_the_escalation_of_this_head_only(escalated: tuple[Actions, Pull]) -> None:
    actions, pull = escalated
    order = f"/advisor override {pull.head_sha} I looked at it myself"
    actions.said(pull, order, by=STRANGER)
    actions.said(pull, order, by=AUTHOR)
    assert actions.check(pull).conclusion == "action_required"
    assert ["nor override its review" in each for each in actions.answers(pull)] == [True], "the author only"
    actions.said(pull, order, by=MAINTAINER)
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("success", f"Overridden by @{MAINTAINER}")
    assert "I looked at it myself" in (check.summary or "")
    assert pull.labels == []
    assert actions.state(pull).approved_by == MAINTAINER
    assert MAINTAINER in actions.summary(pull)
    approved = pull.head_sha
    actions.models.executor_says(reject(finding(APP, 33, "value = 33")))
    actions.pushed(pull, {APP: FAULTY + "value = 32\nvalue = 33\n"})
    assert actions.check(pull).conclusion == "failure", "a new push is reviewed again"
    actions.said(pull, f"/advisor override {approved} as before", by=MAINTAINER)
    assert actions.check(pull).conclusion == "failure"


# --- waiting ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def fork(actions: Actions) -> tuple[Actions, Pull]:
    """A pull request from a stranger's fork."""
    actions.github.forks(NAME, STRANGER)
    pull = actions.opens({APP: RIGHT}, by=STRANGER)
    assert not actions.happens("opened", pull, by=STRANGER).began
    return actions, pull


def test_a_fork_waits_and_nothing_is_asked(fork: tuple[Actions, Pull]) -> None:
    actions, pull = fork
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("action_required", "Not reviewed: a fork waits for a maintainer")
    assert "review-this-fork" in (check.summary or "")
    assert (actions.models.asked, pull.comments) == ([], [])


def test_a_fork_with_the_label_is_reviewed_and_each_push_takes_it_off(fork: tuple[Actions, Pull]) -> None:
    actions, pull = fork
    assert actions.labelled(pull, "review-this-fork", by=MAINTAINER).told["asked"] == "true"
    assert actions.check(pull).conclusion == "success"
    ran = actions.pushed(pull, {APP: FAULTY}, by=STRANGER)
    assert not ran.began
    assert pull.labels == []
    assert actions.check(pull).conclusion == "action_required"


def test_the_label_of_somebody_who_may_not_write_is_taken_off(fork: tuple[Actions, Pull]) -> None:
    actions, pull = fork
    actions.github.grants(NAME, "tim", Permission.TRIAGE)
    assert not actions.labelled(pull, "review-this-fork", by="tim").began
    assert pull.labels == []
    assert actions.check(pull).conclusion == "action_required"


def test_another_label_begins_nothing(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    assert not actions.labelled(pull, "bug", by=MAINTAINER).began
    assert actions.checks(pull.head_sha) == []


def test_a_fork_is_reviewed_when_a_maintainer_says_so(fork: tuple[Actions, Pull]) -> None:
    actions, pull = fork
    assert not actions.said(pull, "/advisor review", by=STRANGER).began
    assert actions.said(pull, "/advisor review", by=MAINTAINER).began
    assert actions.check(pull).conclusion == "success"


def test_a_draft_waits_until_it_is_ready(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT}, draft=True)
    assert not actions.happens("opened", pull).began
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("action_required", "Not reviewed: this is a draft")
    assert actions.models.asked == []
    pull.draft = False
    assert actions.happens("ready_for_review", pull).began
    assert actions.check(pull).conclusion == "success"


def test_a_draft_is_reviewed_when_somebody_asks(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT}, draft=True)
    assert actions.said(pull, "Early, I know.\n\n/advisor review", by=AUTHOR).told["asked"] == "true"
    assert actions.check(pull).conclusion == "success"


def test_a_merge_queue_passes_on_the_word_of_the_pull_requests_own_check(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    assert actions.queued(pull).conclusion == "action_required"
    actions.happens("opened", pull)
    asked = len(actions.models.asked)
    check = actions.queued(pull)
    assert (check.conclusion, check.title) == ("success", "Merge queue: the review passed")
    assert len(actions.models.asked) == asked
    actions.models.executor_says(reject())
    actions.happens("reopened", pull)
    actions.pushes(pull, {APP: FAULTY})
    assert actions.queued(pull).conclusion == "action_required"


def test_two_open_pull_requests_with_one_head_never_pass(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    other = actions.github.opens(NAME, {}, by=AUTHOR, branch="same", sha=pull.head_sha)
    actions.happens("opened", pull)
    check = actions.check(pull)
    assert check.conclusion == "action_required"
    assert check.title == f"Not decided: pull request {other.number} has the same head"
    actions.github.closes(other)
    actions.happens("reopened", pull)
    assert actions.check(pull).conclusion == "success"


def test_automatic_reviews_are_used_up_and_a_person_may_ask_for_more(
    actions: Actions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "MOST_ROUNDS", 1)
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    assert not actions.pushed(pull, {APP: FAULTY}).began
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("action_required", "Not reviewed: 1 automatic reviews are used up")
    assert actions.said(pull, "/advisor review", by=MAINTAINER).began
    assert actions.check(pull).conclusion == "success"


# --- commands ---------------------------------------------------------------------------------------------------------


def test_a_stranger_is_neither_obeyed_nor_answered(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    for order in ("review", f"dismiss {FAULT_ID} it is fine", f"explain {FAULT_ID}", "help"):
        assert not actions.said(pull, f"/advisor {order}", by=STRANGER).began
    assert actions.answers(pull) == []
    assert actions.statuses(pull) == {"thirty-one is wrong": "open"}


def test_a_command_in_a_quote_or_an_edited_comment_is_text(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    assert not actions.said(pull, "> /advisor review\n\n```\n/advisor review\n```", by=MAINTAINER).began
    comment = actions.github.comments(pull, by=MAINTAINER, body="/advisor review")
    payload = Events(actions.github).comment_edited(pull, comment, by=MAINTAINER, before="Hello")
    assert not actions.to_its_end(actions.event("issue_comment", payload)).began
    assert actions.answers(pull) == []


def test_a_finding_is_explained_to_its_author(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.github.grants(NAME, AUTHOR, Permission.READ)
    actions.said(pull, f"/advisor explain {FAULT_ID}", by=AUTHOR)
    actions.said(pull, f"/advisor dismiss {FAULT_ID} I like it", by=AUTHOR)
    explained, refused = actions.answers(pull)
    assert "thirty-one is wrong" in explained
    assert "needs write permission; GitHub says read" in refused


# --- it did not run ---------------------------------------------------------------------------------------------------


def did_not_run(actions: Actions, pull: Pull, *words: str) -> None:
    """The check fails, and check and summary say why; nothing that was known is lost."""
    check = actions.check(pull)
    assert check.conclusion == "failure"
    assert "not run" in (check.title or "")
    for text in (check.summary or "", actions.summary(pull)):
        assert all(word in text for word in words), text


def test_spent_credit_fails_the_check_and_the_same_failure_thrice_waits_for_a_person(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    for action in ("opened", "reopened", "reopened"):
        actions.models.executor_says(NO_CREDIT)
        ran = actions.happens(action, pull)
        assert ran.done["review"].code == 12
        assert len(ran.asked) == 1, "nothing is asked of a spent account twice"
        did_not_run(actions, pull, "credit")
    assert not actions.happens("reopened", pull).began
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("action_required", "Not reviewed: the same failure 3 times")
    assert actions.said(pull, "/advisor review", by=MAINTAINER).began
    assert actions.check(pull).conclusion == "success"


def test_a_credential_that_is_refused_fails_the_check(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.models.executor_says(NO_LOGIN)
    assert actions.happens("reopened", pull).done["review"].code == 12
    did_not_run(actions, pull, "credential")
    assert "thirty-one is wrong" in actions.summary(pull), "what was found before still stands"


@pytest.mark.parametrize("given", [{}, {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": ""}])
def test_no_credential_is_told_on_the_check_in_the_summary_and_in_the_log(
    actions: Actions, given: dict[str, str]
) -> None:
    actions.credentials = given
    pull = actions.opens({APP: RIGHT})
    ran = actions.starts("opened", pull).begin().review()
    assert (ran.done["review"].code, ran.asked, ran.outcome.exists()) == (2, [], False)
    assert ran.done["review"].sentence.startswith("No model credential: set ANTHROPIC_API_KEY or ")
    ran.publish()
    did_not_run(actions, pull, "The review was refused: No model credential", "or configure Bedrock or Vertex")
    assert actions.state(pull).spent_usd == 0, "nothing was asked"


def test_a_review_that_broke_off_after_it_had_asked_models_costs_an_estimate(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    ran = actions.starts("opened", pull).begin()
    ran.outcome.with_name("outcome.refusal.txt").write_text(f"The disk is full. {BROKEN}\n")
    ran.publish()
    did_not_run(actions, pull, "The disk is full.")
    assert actions.state(pull).estimated_usd == 2.3


def test_a_refusal_is_words_of_a_stranger_to_the_job_that_publishes(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    ran = actions.starts("opened", pull).begin()
    said = f"@everyone <b>approved</b> {TOKENS['publish']} " + "word " * 9_000
    ran.outcome.with_name("outcome.refusal.txt").write_text(said)
    ran.publish()
    did_not_run(actions, pull, "The review was refused")
    told = (actions.check(pull).summary or "") + actions.summary(pull)
    assert len(told) < 10_000
    assert "<b>" not in told
    assert " @everyone" not in told
    for left in ran.home.rglob("*.refusal.txt"):  # the token in it was put there by the story
        left.unlink()


def test_a_job_that_was_killed_leaves_no_word_and_its_log_is_named(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    actions.starts("opened", pull).begin().publish()
    did_not_run(actions, pull, "There is no outcome to publish", "The run's log says why")
    assert (actions.state(pull).spent_usd, actions.state(pull).estimated_usd) == (2.3, 2.3), "it may have asked models"
    assert actions.check(pull).external_id.endswith("/usd-2.30")


@pytest.mark.parametrize(
    "text,says",
    [
        ("[github]\nmost_us = 1\n", "did you mean"),
        ("[github\n", "is not valid TOML"),
        ("number = " + "9" * 6_000, "a number has too many digits"),
        ("\xff", "is not UTF-8 text"),
        ("#" * 1_100_000, "larger than 1 MB"),
    ],
    ids=["unknown key", "no TOML", "a number of many digits", "no text", "too large"],
)
def test_a_broken_base_config_fails_the_check(actions: Actions, text: str, says: str) -> None:
    actions.main_becomes({CONFIG: text.encode("latin-1")})
    pull = actions.opens({APP: RIGHT})
    for action in ("opened", "synchronize"):
        assert not actions.happens(action, pull).began
        check = actions.check(pull)
        assert (check.conclusion, check.title) == ("failure", "The review did not run")
        assert "The base's configuration cannot be used" in (check.summary or "")
        assert says in (check.summary or "")
    assert (actions.models.asked, pull.comments) == ([], [])


def test_a_base_config_that_was_mended_lets_the_same_head_be_reviewed(actions: Actions) -> None:
    actions.main_becomes({CONFIG: "[github]\nmost_us = 1\n"})
    pull = actions.opens({APP: RIGHT})
    for action in ("opened", "reopened", "synchronize"):
        assert not actions.happens(action, pull).began
    actions.main_becomes({CONFIG: MENDED})
    assert actions.happens("reopened", pull).began, "no failure of the head was counted"
    assert actions.check(pull).conclusion == "success"


def test_a_broken_base_config_lets_no_strangers_word_take_a_passed_check_back(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    actions.main_becomes({CONFIG: "no toml"})
    actions.said(pull, "/advisor review", by=STRANGER)
    actions.said(pull, "Nice.", by=MAINTAINER)
    actions.labelled(pull, "nice", by=MAINTAINER)
    actions.labelled(pull, "review-this-fork", by=STRANGER)
    assert actions.check(pull).conclusion == "success"
    actions.said(pull, "/advisor review", by=MAINTAINER)
    assert "The base's configuration cannot be used" in (actions.check(pull).summary or "")


def test_a_broken_base_config_is_told_under_the_names_that_it_still_gives(actions: Actions) -> None:
    actions.main_becomes({CONFIG: '[github]\nlogin = "acme-reviewer[bot]"\ncheck_name = "gate"\nmost_round = 1\n'})
    actions.login = "acme-reviewer[bot]"
    pull = actions.opens({APP: RIGHT})
    for action in ("opened", "reopened"):
        assert not actions.happens(action, pull).began
        check = actions.check(pull)
        assert (check.name, check.app, check.conclusion) == ("gate", "acme-reviewer", "failure")


def test_a_base_config_that_breaks_during_the_review_asks_for_another_review(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    ran = actions.starts("opened", pull).begin().review()
    actions.main_becomes({CONFIG: "no toml"})
    ran.publish()
    assert "The configuration cannot be used any more" in actions.summary(pull)
    assert actions.check(pull).conclusion == "failure"


def test_a_pr_that_breaks_the_config_is_told_and_judged_under_the_base(actions: Actions) -> None:
    actions.main_becomes({CONFIG: '[github]\ncheck_name = "gate"\n'})
    pull = actions.opens({CONFIG: '[github]\ncheck_nam = "none"\n'})
    ran = actions.happens("opened", pull)
    assert "check_nam" in ran.asked[0].shown("DIFF")
    check = actions.check(pull)
    assert (check.name, check.conclusion) == ("gate", "success")
    for text in (actions.summary(pull), check.summary or ""):
        assert "this pull request breaks the configuration" in text
        assert "did you mean 'check\\_name'?" in text


def test_a_pr_whose_config_no_parser_reads_is_published_all_the_same(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT, CONFIG: "number = " + "9" * 6_000})
    actions.happens("opened", pull)
    assert actions.check(pull).conclusion == "success"
    assert "this pull request breaks the configuration" in actions.summary(pull)


def test_a_pr_whose_config_is_too_large_to_read_is_published_all_the_same(actions: Actions) -> None:
    pull = actions.opens({"pyproject.toml": "#" * 1_100_000})
    actions.to_its_end(actions.starts("opened", pull))
    assert actions.check(pull).conclusion == "action_required", "a line that fits no call is never approved unseen"
    assert "larger than 1 MB" in actions.summary(pull)


def test_a_cancelled_run_that_left_nothing_did_not_run(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    ran = actions.starts("opened", pull).begin()
    assert actions.check(pull).status == "in_progress"
    ran.publish()
    did_not_run(actions, pull, "There is no outcome to publish", "`/advisor review` in a comment starts a review")


def test_a_cancelled_run_that_could_still_say_so_did_not_run(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    ran = actions.starts("opened", pull).begin()
    with actions.models.thinking(approve(), lambda: INTERRUPTION.interrupt(signal.SIGTERM)):
        ran.review()
    assert ran.done["review"].code == 143
    ran.publish()
    did_not_run(actions, pull, "interrupted")


# --- the outcome is not what it should be -----------------------------------------------------------------------------


@pytest.fixture
def reviewed(actions: Actions) -> tuple[Actions, Pull, WorkflowRun]:
    """A review that asked for changes, not yet published."""
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(reject(FAULT))
    return actions, pull, actions.starts("opened", pull).begin().review()


def with_verdict(document: str) -> str:
    """What somebody would write who may change the artifact: the verdict, and not what it follows from."""
    return json.dumps({**json.loads(document), "outcome": "approved", "exit_code": 0, "findings": []})


def with_last_event(document: str) -> str:
    """The same in the last event only."""
    told = json.loads(document)
    told["events"][-1]["outcome"] = "approved"
    return json.dumps(told)


def without_base(document: str) -> str:
    """What a version would write that keeps no base branch."""
    told = json.loads(document)
    del told["base_ref"], told["events"][0]["base_ref"]
    return json.dumps(told)


ALTERED: list[tuple[Callable[[str], str], str]] = [
    (with_verdict, "does not follow from its own events"),
    (lambda document: document[: len(document) // 2], "not a document of this version"),
    (with_last_event, "does not follow from how the surfaces ended"),
    (lambda document: "", "not a document of this version"),
    (lambda document: document.replace(f'"{NAME}"', '"octo/other"'), "of another pull request"),
    (lambda document: "[" * 100_000, "not a document of this version"),
    (lambda document: document.replace('"pull_request": 1', '"pull_request": 2'), "of another pull request"),
    (without_base, "does not name the base branch"),
]


def test_an_altered_outcome_did_not_run(reviewed: tuple[Actions, Pull, WorkflowRun]) -> None:
    actions, pull, ran = reviewed
    before = ran.outcome.read_text()
    for altered, why in ALTERED:
        ran.outcome.write_text(altered(before))
        assert ran.outcome.read_text() != before
        ran.publish()
        did_not_run(actions, pull, why)
        assert actions.reviews(pull) == []
    ran.outcome.write_text(before)
    ran.publish()
    assert "thirty-one is wrong" in actions.summary(pull), "the very document is believed"


def test_the_outcome_of_another_head_did_not_run(reviewed: tuple[Actions, Pull, WorkflowRun]) -> None:
    actions, pull, first = reviewed
    actions.pushes(pull, {APP: RIGHT})
    second = actions.starts("synchronize", pull).begin()
    second.outcome.write_bytes(first.outcome.read_bytes())
    second.publish()
    did_not_run(actions, pull, "of another head than the one to review")


def test_publishing_twice_leaves_one_of_everything(reviewed: tuple[Actions, Pull, WorkflowRun]) -> None:
    actions, pull, ran = reviewed
    ran.publish()
    said = actions.summary(pull)
    before = len(actions.github.traffic.writes)
    ran.publish()
    assert (actions.summary(pull), len(actions.reviews(pull)), len(actions.threads(pull))) == (said, 1, 1)
    assert [each.operation for each in actions.github.traffic.writes[before:]] == ["update check run"]


def test_of_two_runs_on_one_head_the_one_that_began_last_concludes_the_check(
    reviewed: tuple[Actions, Pull, WorkflowRun],
) -> None:
    actions, pull, first = reviewed
    second = actions.starts("reopened", pull).begin()
    first.publish()
    assert actions.check(pull).status == "in_progress"
    assert actions.statuses(pull) == {"thirty-one is wrong": "open"}, "what was found is said all the same"
    second.review().publish()
    assert actions.check(pull).conclusion == "success"
    assert actions.statuses(pull) == {"thirty-one is wrong": "fixed"}


def test_a_token_that_may_not_write_leaves_the_findings_in_the_log(
    reviewed: tuple[Actions, Pull, WorkflowRun],
) -> None:
    actions, pull, ran = reviewed
    done = actions.perform(ran, "review", "Publish", ran.publishing())
    assert done.code == 12
    (command,) = [line for line in done.out.splitlines() if line.startswith("::")]
    assert command.casefold().startswith(f"::error file={APP},line=31,endline=31,title=high%3a thirty-one is wrong::")
    assert done.err.endswith("The findings are in the log only.\n")
    assert actions.check(pull).status == "in_progress"


# --- the head moves ---------------------------------------------------------------------------------------------------


def superseded(actions: Actions, pull: Pull, old: str) -> None:
    """The old head's check is cancelled, and no review was posted about it."""
    (check,) = actions.checks(old)
    assert (check.conclusion, check.title) == ("cancelled", "Superseded: the head has moved")
    assert actions.checks(pull.head_sha) == []
    assert actions.reviews(pull) == []


def only_its_cost_is_told(actions: Actions, pull: Pull) -> None:
    (summary,) = actions.summaries(pull)
    assert "A newer push has overtaken the review" in summary.body
    assert actions.reviews(pull) == []


def test_a_head_that_moves_before_the_review_is_superseded_and_nothing_is_paid(actions: Actions) -> None:
    pull = actions.opens({APP: FAULTY})
    old = pull.head_sha
    ran = actions.starts("opened", pull).begin()
    actions.pushes(pull, {APP: RIGHT})
    ran.review()
    assert (ran.done["review"].code, ran.asked) == (2, [])
    assert "starts a review of its own" in ran.done["review"].sentence
    ran.publish()
    superseded(actions, pull, old)
    assert actions.summaries(pull) == []


def test_a_head_that_moves_while_the_models_think_is_superseded(actions: Actions) -> None:
    pull = actions.opens({APP: FAULTY})
    old = pull.head_sha
    ran = actions.starts("opened", pull).begin()
    with actions.models.thinking(reject(FAULT), lambda: actions.pushes(pull, {APP: RIGHT})):
        ran.review()
    assert pull.head_sha != old
    assert ran.done["review"].code == 10
    ran.publish()
    superseded(actions, pull, old)
    only_its_cost_is_told(actions, pull)
    actions.happens("synchronize", pull)
    assert actions.check(pull).conclusion == "success"


def test_a_head_that_moves_while_it_is_published_never_gets_the_verdict(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    old = pull.head_sha
    ran = actions.starts("opened", pull).begin().review()
    push = RequestMoment(operation="create comment", after=True)
    actions.github.traffic.meanwhile(lambda: actions.pushes(pull, {APP: FAULTY}), push)
    ran.publish()
    assert [check.conclusion for check in actions.checks(old)] == ["cancelled"]
    assert actions.checks(pull.head_sha) == []


def test_an_event_that_a_push_has_overtaken_begins_nothing(actions: Actions) -> None:
    pull = actions.opens({APP: FAULTY})
    overtaken = actions.starts("opened", pull)
    actions.pushes(pull, {APP: RIGHT})
    assert not overtaken.begin().began
    assert actions.github.repository(NAME).checks == {}


# --- as a runner does it ----------------------------------------------------------------------------------------------


def test_one_story_by_the_actions_own_steps_with_git_over_http(actions: Actions) -> None:
    """Every other story runs the commands in this process; here a runner's bash starts them as action.yml says."""
    actions.by_steps = True
    pull = actions.opens({APP: FAULTY}, title="Add thirty-one", body="See #1.")
    actions.models.executor_says(reject(FAULT))
    with git_by_http(actions.git.root, _basic(TOKENS["review"])) as git:
        actions.server = git.url
        ran = actions.happens("opened", pull)
        assert ran.done["review"].code == 0, "a verdict does not fail the job"
        assert json.loads(ran.outcome.read_text())["outcome"] == "changes_requested"
        assert actions.check(pull).conclusion == "failure"
        assert actions.check(pull).details_url == f"{git.url}/{NAME}/actions/runs/9001"
        assert [thread.comments[0].line for thread in actions.threads(pull)] == [31]
    assert set(git.authorizations) == {_basic(TOKENS["review"])}


def _basic(token: str) -> str:
    return "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()


MENDED = "[github]\nmost_usd = 40\n"


def test_a_broken_base_config_names_its_commit_all_mistakes_and_what_to_do(actions: Actions) -> None:
    tip = actions.main_becomes({CONFIG: "[github]\nmost_us = 1\n[budget]\nusd = 3\n"})
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    told = actions.check(pull).summary or ""
    for words in (tip[:12], "did you mean", "budget.usd", "pull request that changes nothing else"):
        assert words in told


def test_the_pull_request_that_mends_a_broken_base_config_can_pass_under_the_guard(actions: Actions) -> None:
    actions.main_becomes({CONFIG: "[github]\nmost_us = 1\n"})
    pull = actions.opens({CONFIG: MENDED})
    ran = actions.happens("opened", pull)
    assert ran.began
    assert actions.check(pull).conclusion == "success"
    policy = json.loads(ran.outcome.read_text())["policy"]
    assert policy["guard"]["paths"] == [CONFIG]
    assert {row["authority"] for row in policy["surfaces"]} == {"veto"}


@pytest.mark.parametrize(
    "contents",
    [{CONFIG: MENDED, APP: RIGHT}, {CONFIG: "[github]\nmost_roundz = 1\n"}, {APP: RIGHT}],
    ids=["with code beside it", "broken in another way", "no mending at all"],
)
def test_nothing_but_the_mending_is_reviewed_under_a_broken_base_config(
    actions: Actions, contents: dict[str, str]
) -> None:
    actions.main_becomes({CONFIG: "[github]\nmost_us = 1\n"})
    pull = actions.opens(contents)
    assert not actions.happens("opened", pull).began
    assert actions.check(pull).conclusion == "failure"
    assert actions.models.asked == []


# --- money ------------------------------------------------------------------------------------------------------------


def test_what_is_left_to_a_pull_request_bounds_its_next_review(actions: Actions) -> None:
    actions.main_becomes({".review-advisor.toml": "[github]\nmost_usd = 0.3\n"})
    pull = actions.opens({APP: RIGHT})

    def allowed(ran: WorkflowRun) -> float:
        money: float = json.loads(ran.outcome.read_text())["policy"]["budgets"]["max_usd"]
        return money

    assert allowed(actions.happens("opened", pull)) == 0.3
    assert allowed(actions.pushed(pull, {APP: RIGHT + "value = 33\n"})) == 0.28
    actions.said(pull, "/advisor review", by=MAINTAINER)
    assert allowed(actions.runs[-1]) > 0.3
