"""The payload of the event that started a run, as GitHub sends it and as it never would."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review_advisor.change.pull_request import CommentEvent, EventError, MergeGroupEvent, PullRequestEvent, read_event

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
