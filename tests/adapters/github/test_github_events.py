"""The events that MockWorld's GitHub starts workflows with, held against GitHub's own description of them."""

from typing import Any

import pytest
from tests.adapters.github.description import event_problems
from tests.adapters.github.webhook_events import Events, PullAction

from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_records import Pull

SHOP = "octo/shop"
ACTIONS: tuple[PullAction, ...] = ("opened", "reopened", "ready_for_review", "converted_to_draft", "closed")


@pytest.fixture
def github() -> GitHub:
    made = GitHub()
    made.opens_repository(SHOP)
    return made


@pytest.fixture
def pull(github: GitHub) -> Pull:
    return github.opens(SHOP, by="ann", title="Count again", body="It is wrong.")


@pytest.mark.parametrize("action", ACTIONS)
def test_what_happens_to_a_pull_request_is_told(github: GitHub, pull: Pull, action: PullAction) -> None:
    if action == "closed":
        github.closes(pull)
    pull.draft = action == "converted_to_draft"

    event = Events(github).pull_request(action, pull, by="ann")

    _keeps_to(f"pull-request-{action.replace('_', '-')}", event)
    assert (event["action"], event["number"], event["pull_request"]["title"]) == (action, 1, "Count again")


def test_a_push_tells_the_head_before_and_after(github: GitHub, pull: Pull) -> None:
    before = pull.head_sha
    after = github.pushes(pull, {"till.py": "more\n"})

    event = Events(github).pull_request("synchronize", pull, by="ann", before=before)

    _keeps_to("pull-request-synchronize", event)
    assert (event["before"], event["after"], event["pull_request"]["head"]["sha"]) == (before, after, after)


def test_a_label_comes_with_its_name(github: GitHub, pull: Pull) -> None:
    github.labels(pull, "review-this-fork")

    event = Events(github).labeled(pull, pull.labels[0], by="octo")

    _keeps_to("pull-request-labeled", event)
    assert (event["label"]["name"], event["sender"]["login"]) == ("review-this-fork", "octo")


def test_another_base_is_told_with_the_old_one(github: GitHub, pull: Pull) -> None:
    old = github.base_sha(pull)
    github.commits(SHOP, "next", {"next.txt": "n\n"}, by="octo")
    github.retargets(pull, "next")

    event = Events(github).retargeted(pull, by="ann", from_ref="main", from_sha=old)

    _keeps_to("pull-request-edited", event)
    assert event["changes"]["base"] == {"ref": {"from": "main"}, "sha": {"from": old}}
    assert event["pull_request"]["base"]["ref"] == "next"


def test_a_comment_says_that_it_is_on_a_pull_request(github: GitHub, pull: Pull) -> None:
    comment = github.comments(pull, by="bob", body="/advisor review")

    event = Events(github).commented(pull, comment)

    _keeps_to("issue-comment-created", event)
    assert event["comment"]["body"] == "/advisor review"
    assert event["issue"]["pull_request"]["url"].endswith("/pulls/1")


def test_an_edited_comment_tells_what_it_said_before(github: GitHub, pull: Pull) -> None:
    comment = github.comments(pull, by="bob", body="hello")
    github.edits(comment, by="bob", body="/advisor review")

    event = Events(github).comment_edited(pull, comment, by="bob", before="hello")

    _keeps_to("issue-comment-edited", event)
    assert event["changes"] == {"body": {"from": "hello"}}


def test_the_merge_queue_asks_for_checks_of_a_commit_of_its_own(github: GitHub, pull: Pull) -> None:
    queued = github.commits(SHOP, "gh-readonly-queue/main/pr-1", {"change.txt": "merged\n"}, by="octo")

    event = Events(github).queued(pull, by="octo", sha=queued)

    _keeps_to("merge-group-checks-requested", event)
    assert event["merge_group"]["head_sha"] == queued
    assert "/pr-1-" in event["merge_group"]["head_ref"]


def _keeps_to(name: str, event: dict[str, Any]) -> None:
    assert event_problems(name, event) == []
