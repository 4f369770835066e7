"""Answers that lack a part of what GitHub documents: none of them reads as if nothing were there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.adapters.github.scripted import PULL_REQUEST, Reply, github_answers

from review_advisor.github.client import GitHubForge
from review_advisor.github.forge import ForgeUnavailable

HEAD = "a" * 40
Path = tuple[str | int, ...]
Ask = Callable[[GitHubForge], object]
ACCOUNT = {"login": "mona", "type": "User"}
ACTOR = {"__typename": "User", "login": "mona"}
LAST_PAGE = {"hasNextPage": False, "endCursor": None}
SINCE = datetime(2026, 1, 5, tzinfo=UTC)
LONG_AGO = "2025-12-31T09:00:00Z"
FIRST_RECENT: Path = ("data", "repository", "page", "nodes", 0)


def _lately(forge: GitHubForge) -> object:
    return forge.recent_work("review-advisor", SINCE)


def _on_pull_request(node: object) -> dict[str, Any]:
    return {"data": {"repository": {"pullRequest": {"page": {"nodes": [node], "pageInfo": LAST_PAGE}}}}}


RUN = {"externalId": "pr-1/usd-1.80", "conclusion": "SUCCESS"}
SUITES = {"nodes": [{"app": {"slug": "github-actions"}, "checkRuns": {"nodes": [RUN]}}]}
RECENT = {
    "number": 1,
    "updatedAt": "2026-01-05T09:00:00Z",
    "closedAt": None,
    "isCrossRepository": False,
    "commits": {"nodes": [{"commit": {"checkSuites": SUITES}}]},
}
FIRST = {"author": ACTOR, "body": "mine", "editor": None, "lastEditedAt": None}
THREAD = {
    "id": "PRRT_1",
    "isResolved": True,
    "isOutdated": False,
    "comments": {"nodes": [{"fullDatabaseId": "7", "author": ACTOR, "body": "mine"}]},
}
REACTIONS = {"totalCount": 1, "nodes": [{"content": "THUMBS_UP", "user": {"login": "mona"}}]}
REMARK = {
    "path": "a.py",
    "diffSide": "RIGHT",
    "originalLine": 3,
    "originalStartLine": None,
    "isResolved": True,
    "resolvedBy": {"login": "mona"},
    "comments": {"nodes": [{**FIRST, "originalCommit": {"oid": HEAD}, "reactions": REACTIONS}]},
}
CHECK = {
    "id": 5,
    "name": "review-advisor",
    "external_id": "pr-1/usd-1.80",
    "status": "completed",
    "conclusion": "success",
    "app": {"slug": "github-actions"},
    "output": {"title": "Approved"},
}
PULL = {
    "number": 1,
    "title": "x",
    "body": None,
    "user": ACCOUNT,
    "base": {"ref": "main", "sha": HEAD, "repo": {"default_branch": "main"}},
    "head": {"ref": "change", "sha": HEAD, "repo": {"full_name": "octo/app"}},
    "state": "open",
    "merged_at": None,
    "merge_commit_sha": None,
    "labels": [{"name": "bug"}],
}
ANSWERS: dict[str, tuple[Ask, Any]] = {
    "recent work": (
        _lately,
        {"data": {"repository": {"page": {"nodes": [RECENT], "pageInfo": LAST_PAGE}}}},
    ),
    "threads": (lambda forge: forge.threads(1), _on_pull_request(THREAD)),
    "remarks": (lambda forge: forge.remarks(1), _on_pull_request(REMARK)),
    "comments": (lambda forge: forge.comments(1), _on_pull_request({**FIRST, "fullDatabaseId": "7"})),
    "checks": (lambda forge: forge.checks(HEAD, "review-advisor"), {"check_runs": [CHECK]}),
    "reviews": (
        lambda forge: forge.reviews(1),
        [{"id": 5, "user": ACCOUNT, "body": "mine", "state": "PENDING"}],
    ),
    "pull request": (lambda forge: forge.pull_request(1), PULL),
    "makers": (lambda forge: forge.makers(PULL_REQUEST), [{"sha": HEAD, "author": ACCOUNT, "committer": ACCOUNT}]),
    "files": (
        lambda forge: forge.changed_files(1),
        [{"filename": "b.py", "status": "renamed", "previous_filename": "a.py"}],
    ),
}


SAID_TO_BE_OPTIONAL = [("check_runs", 0, "app", "slug")]
"""What GitHub's own description lets be missing."""


def _places(part: object, at: Path = ()) -> Iterator[Path]:
    if isinstance(part, dict):
        for name, value in part.items():
            yield (*at, name)
            yield from _places(value, (*at, name))
    elif isinstance(part, list):
        for index, value in enumerate(part):
            yield from _places(value, (*at, index))


def _changed(answer: Any, path: Path, change: Callable[[Any, str | int], None]) -> Any:
    answer = copy.deepcopy(answer)
    holder = answer
    for step in path[:-1]:
        holder = holder[step]
    change(holder, path[-1])
    return answer


def _as_null(holder: Any, name: str | int) -> None:
    holder[name] = None


def _without(holder: Any, name: str | int) -> None:
    del holder[name]


def _misread(ask: Ask, answer: object) -> bool:
    """Whether an answer was taken for one that GitHub gives."""
    with github_answers(Reply(200, answer)) as github:
        try:
            ask(github.forge())
        except ForgeUnavailable:
            return False
        return True


@pytest.mark.parametrize("of", ANSWERS)
def test_an_answer_without_any_one_of_its_parts_is_an_error(of: str) -> None:
    ask, answer = ANSWERS[of]
    assert _misread(ask, answer), "whole it is read"
    misread = [path for path in _places(answer) if _misread(ask, _changed(answer, path, _without))]
    assert misread == [path for path in SAID_TO_BE_OPTIONAL if path in _places(answer)]


@pytest.mark.parametrize("wrong", [None, [], {}, "x", [None], {"nodes": None}, {"nodes": [None]}])
@pytest.mark.parametrize(
    "path",
    [path for path in _places(RECENT) if path[-1] in {"commits", "commit", "checkSuites", "checkRuns", "nodes"}],
)
def test_no_shape_of_a_list_reads_as_no_reviews_today(path: Path, wrong: object) -> None:
    _ask, answer = ANSWERS["recent work"]
    if wrong == [] and path[-1] == "nodes":
        return  # an empty list is an answer: nothing stands there

    def put(holder: Any, name: str | int) -> None:
        holder[name] = wrong

    with github_answers(Reply(200, _changed(answer, (*FIRST_RECENT, *path), put))) as github:
        try:
            told = github.forge().recent_work("review-advisor", SINCE)
        except ForgeUnavailable:
            return
    assert (told.pull_requests, told.whole) == ((), False), "it is said that one is missing"


def test_an_app_without_a_name_is_none_of_ours_and_hides_no_other_check() -> None:
    nameless = {**CHECK, "id": 4, "app": {}}
    with github_answers(Reply(200, {"check_runs": [nameless, CHECK]})) as github:
        checks = github.forge().checks(HEAD, "review-advisor")
    assert [each.app for each in checks] == ["", "github-actions"]


NULLABLE: list[Path] = [
    (),
    ("commits", "nodes"),
    ("commits", "nodes", 0),
    ("commits", "nodes", 0, "commit", "checkSuites"),
    ("commits", "nodes", 0, "commit", "checkSuites", "nodes", 0),
    ("commits", "nodes", 0, "commit", "checkSuites", "nodes", 0, "checkRuns"),
    ("commits", "nodes", 0, "commit", "checkSuites", "nodes", 0, "checkRuns", "nodes", 0),
]
"""Where GitHub's schema lets null stand for a part of a recent pull request that it fails to show."""


@pytest.mark.parametrize("path", NULLABLE)
def test_one_pull_request_that_is_not_shown_whole_stops_the_reviews_of_no_other(path: Path) -> None:
    answer = copy.deepcopy(ANSWERS["recent work"][1])
    answer["data"]["repository"]["page"]["nodes"] += [{**RECENT, "number": 2}, {**RECENT, "updatedAt": LONG_AGO}, None]
    with github_answers(Reply(200, answer)) as github:
        assert github.forge().recent_work("review-advisor", SINCE).whole, "what changed long ago is not asked for"
    with github_answers(Reply(200, _changed(answer, (*FIRST_RECENT, *path), _as_null))) as github:
        told = github.forge().recent_work("review-advisor", SINCE)
        assert len(github.asked) == 1
    assert ([each.number for each in told.pull_requests], told.whole) == ([2], False)


@pytest.mark.parametrize("path", [(), ("comments", "nodes", 0)])
def test_what_is_not_shown_of_another_list_is_asked_for_again(path: Path) -> None:
    whole = _on_pull_request(THREAD)
    partial = _changed(whole, ("data", "repository", "pullRequest", "page", "nodes", 0, *path), _as_null)
    with github_answers(Reply(200, partial), Reply(200, partial), Reply(200, whole)) as github:
        (thread,) = github.forge().threads(1)
        assert (thread.body, len(github.asked)) == ("mine", 3)
    with github_answers(Reply(200, partial)) as github, pytest.raises(ForgeUnavailable):
        github.forge().threads(1)


def test_a_comparison_that_lists_no_files_is_not_whole() -> None:
    commit = {
        "sha": HEAD, "author": ACCOUNT, "committer": ACCOUNT, "parents": [],
        "commit": {"message": "x", "verification": {"verified": False}},
    }  # fmt: skip
    told: dict[str, object] = {"total_commits": 1, "commits": [commit]}
    for files, whole in (([], True), (None, False)):
        with github_answers(Reply(200, told if files is None else {**told, "files": files})) as github:
            assert github.forge().compared("b" * 40, HEAD).whole is whole


def test_a_thumb_that_is_not_shown_is_not_counted() -> None:
    reactions = {"totalCount": 1, "nodes": [None]}
    first = {**FIRST, "originalCommit": None, "reactions": reactions}
    with github_answers(Reply(200, _on_pull_request({**REMARK, "comments": {"nodes": [first]}}))) as github:
        (remark,) = github.forge().remarks(1)
    assert remark.uncounted
