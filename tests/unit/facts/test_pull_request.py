"""What GitHub tells of a pull request: the event that started a run, whose it is, and its specification."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review_advisor.change.change import Spec
from review_advisor.change.pull_request import (
    CommentEvent,
    EventError,
    LinkedIssue,
    MergeGroupEvent,
    Permission,
    PullRequest,
    PullRequestEvent,
    read_event,
    spec_of_issues,
    spec_path,
)

# --- the event --------------------------------------------------------------------------------------------------------


HEAD, BASE = "a" * 40, "b" * 40
REPOSITORY = {"full_name": "octo/app", "private": False}


def pull_request(**more: Any) -> dict[str, Any]:
    return {
        "action": "opened",
        "number": 7,
        "repository": REPOSITORY,
        "sender": {"login": "mona", "type": "User"},
        "pull_request": {"number": 7, "head": {"sha": HEAD, "ref": "topic"}, "title": "Add two"},
        **more,
    }


def comment(**more: Any) -> dict[str, Any]:
    return {
        "action": "created",
        "repository": REPOSITORY,
        "issue": {"number": 7, "pull_request": {"url": "https://api.example.org/7"}},
        "comment": {"id": 11, "user": {"login": "mona"}, "body": "/advisor review"},
        **more,
    }


@pytest.mark.parametrize("name", ["pull_request_target", "pull_request"])
def test_a_pull_request_was_opened(name: str) -> None:
    assert read_event(name, json.dumps(pull_request())) == PullRequestEvent("opened", "octo/app", 7, HEAD, "mona")


def test_a_label_was_put_on() -> None:
    label = "review-this-fork\n::error::😀"
    event = read_event("pull_request_target", json.dumps(pull_request(action="labeled", label={"name": label})))
    assert event == PullRequestEvent("labeled", "octo/app", 7, HEAD, "mona", label)


def test_somebody_commented_on_a_pull_request() -> None:
    said = CommentEvent("created", "octo/app", 7, 11, "mona", "/advisor review", on_pull_request=True)
    assert read_event("issue_comment", json.dumps(comment())) == said


def test_somebody_commented_on_an_issue() -> None:
    event = read_event("issue_comment", json.dumps(comment(issue={"number": 3})))
    assert isinstance(event, CommentEvent)
    assert (event.number, event.on_pull_request) == (3, False)


def test_whoever_commented_has_deleted_their_account() -> None:
    event = read_event("issue_comment", json.dumps(comment(comment={"id": 11, "user": None, "body": None})))
    assert isinstance(event, CommentEvent)
    assert (event.author, event.body) == ("ghost", "")


def test_a_merge_queue_asks_for_checks() -> None:
    group = {"head_sha": HEAD, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-x", "base_sha": BASE}
    payload = {"action": "checks_requested", "repository": REPOSITORY, "merge_group": group}
    event = read_event("merge_group", json.dumps(payload).encode())
    assert event == MergeGroupEvent("checks_requested", "octo/app", HEAD, group["head_ref"], BASE)


@pytest.mark.parametrize("name", ["", "push", "workflow_dispatch", "pull_request_review", "issue_comment\n::error::"])
def test_an_event_that_nothing_here_is_for(name: str) -> None:
    with pytest.raises(EventError) as refused:
        read_event(name, "{}")
    assert str(refused.value) == (
        f"The event {name!r} is none that a review can start from"
        " (pull_request_target, pull_request, issue_comment, merge_group)."
    )


@pytest.mark.parametrize(
    "payload,where",
    [
        ("", "the payload"),
        ("[]", "the payload"),
        ("not json", "the payload"),
        ('{"a":' * 3_000, "the payload"),
        (json.dumps(pull_request(action="Opened\n")), "action"),
        (json.dumps(pull_request(sender=None)), "sender.login"),
        (json.dumps(pull_request(pull_request={"number": "7", "head": {"sha": HEAD}})), "pull_request.number"),
        (json.dumps(pull_request(pull_request={"number": -7, "head": {"sha": HEAD}})), "pull_request.number"),
        (json.dumps(pull_request(pull_request={"number": 7, "head": {"sha": "--x"}})), "pull_request.head.sha"),
        (json.dumps(pull_request(pull_request={"number": 7, "head": {"sha": HEAD + "\n"}})), "pull_request.head.sha"),
    ],
)
def test_a_payload_that_github_does_not_send(payload: str, where: str) -> None:
    said = rf"^The payload of the event pull_request is not what GitHub sends: {where}: .*\.$"
    with pytest.raises(EventError, match=said):
        read_event("pull_request", payload)


def test_what_is_wrong_with_a_payload_is_said_without_repeating_it() -> None:
    with pytest.raises(EventError) as refused:
        read_event("pull_request", json.dumps(pull_request(action="SECRET WORDS")))
    assert "SECRET" not in str(refused.value)


# --- whom it belongs to, and who may tell the bot what to do ----------------------------------------------------------


def with_head(head_repository: str | None) -> PullRequest:
    return PullRequest("Octo/App", 7, "t", "b", "mona", "main", "b" * 40, "topic", "a" * 40, head_repository)


@pytest.mark.parametrize("head, fork", [("Octo/App", False), ("octo/app", False), ("mona/app", True), (None, True)])
def test_a_head_outside_the_repository_is_a_forks_and_case_does_not_count(head: str | None, fork: bool) -> None:
    assert with_head(head).from_fork is fork


def test_whoever_may_push_may_tell_the_bot_what_to_do_and_nobody_else() -> None:
    may = {permission.value for permission in Permission if permission.may_write}
    assert may == {"write", "maintain", "admin"}


# --- its specification ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, path",
    [
        ("spec: docs/spec.md", "docs/spec.md"),
        ("words\nSpec:   `docs/a b.md`  \nmore", "docs/a b.md"),
        ("spec: ./docs//x.md", "docs/x.md"),
        ("spec: /etc/passwd\nspec: docs/x.md", "docs/x.md"),
        ("spec: https://example.org/x.md", None),
        ("spec: ../x.md", None),
        ("spec: a\\b.md", None),
        ("spec: docs/..", None),
        ("spec: a/../../x.md", None),
        ("Words.\r\nSPEC:   `./docs//x y.md`  \r\nmore", "docs/x y.md"),
        ("spec: -x", "-x"),
        ("spec: docs/../x.md", None),
        ("spec: docs/..x.md", "docs/..x.md"),
        ("spec: docs/\u200bx.md", None),
        ("spec: docs/\x1bx.md", None),
        ("spec: <docs/x.md>", "docs/x.md"),
        ("spec:", None),
        ("spec:\ndocs/x.md", None),
        (" spec: docs/x.md", None),
        ("spec: docs/", None),
        ("spec: .", None),
        ("my spec: docs/x.md", None),
        ("", None),
    ],
)
def test_where_a_change_says_its_spec_is(body: str, path: str | None) -> None:
    assert spec_path(body) == path


HERE = "octo/app"


def test_no_issue_is_no_specification() -> None:
    assert spec_of_issues((), HERE) is None


def test_one_issue_is_the_specification() -> None:
    issue = LinkedIssue("Octo/App", 3, "Add two", "Because.\n")
    assert spec_of_issues((issue,), HERE) == Spec("issue #3", "# #3: Add two\n\nBecause.")


def test_several_issues_stand_under_their_own_headings_also_those_of_another_repository() -> None:
    issues = (LinkedIssue(HERE, 3, "Add two", "Because."), LinkedIssue("octo/lib", 9, "Three", ""))
    text = "# #3: Add two\n\nBecause.\n\n# octo/lib#9: Three"
    assert spec_of_issues(issues, HERE) == Spec("issues #3, octo/lib#9", text)
