"""Answers that GitHub gives seldom, and the simulated one never: ghosts, unseen issues, custom roles, links."""

from __future__ import annotations

import pytest
from tests.adapters.github.scripted import PULL_REQUEST, Reply, github_answers

from review_advisor.change.pull_request import Makers, Permission
from review_advisor.github.forge import ForgeDenied, ForgeUnavailable

HEAD = "a" * 40


def test_a_deleted_author_is_githubs_ghost() -> None:
    branch: dict[str, object] = {"ref": "main", "sha": HEAD, "repo": None}
    base = {**branch, "repo": {"default_branch": "main"}}
    found = Reply(
        200,
        {
            "number": 1, "title": "x", "body": None, "user": None, "state": "closed", "draft": False,
            "base": base, "head": branch, "merged_at": "2026-01-05T09:00:00Z", "merge_commit_sha": HEAD, "labels": [],
        },
    )  # fmt: skip
    with github_answers(found) as github:
        pull = github.forge().pull_request(1)
    assert (pull.author, pull.body, pull.state, pull.head_repository, pull.from_fork) == (
        "ghost", "", "merged", None, True,
    )  # fmt: skip


def test_a_commit_whose_mail_address_is_no_accounts_was_made_by_nobody() -> None:
    web_flow = {"login": "web-flow", "id": 19864447, "type": "User"}
    nobodies: tuple[dict[str, str] | None, ...] = (None, {})
    for nobody in nobodies:
        with github_answers(Reply(200, [{"sha": HEAD, "author": nobody, "committer": web_flow}])) as github:
            assert github.forge().makers(PULL_REQUEST) == Makers(("web-flow",), whole=False)


def test_an_editor_whose_account_is_gone_has_still_edited() -> None:
    node = {
        "fullDatabaseId": "5000000001", "author": {"__typename": "Bot", "login": "github-actions"}, "body": "mine",
        "editor": None, "lastEditedAt": "2026-01-05T09:00:00Z",
    }  # fmt: skip
    with github_answers(_page(node)) as github:
        (comment,) = github.forge().comments(1)
    assert (comment.id, comment.author, comment.edited_by) == (5_000_000_001, "github-actions[bot]", "ghost")


def test_a_linked_issue_that_the_token_may_not_see_is_left_out() -> None:
    seen = {"number": 3, "title": "A bug", "body": "It breaks", "repository": {"nameWithOwner": "octo/other"}}
    reply = _page(None, seen, errors=[{"type": "FORBIDDEN", "message": "SAML", "path": ["repository"]}])
    with github_answers(reply) as github:
        (issue,) = github.forge().linked_issues(1)
    assert (issue.repository, issue.number) == ("octo/other", 3)


def test_an_unseen_comment_is_an_error_because_it_might_be_the_bots_own() -> None:
    reply = _page(None, errors=[{"type": "FORBIDDEN", "message": "SAML", "path": ["repository"]}])
    with github_answers(reply) as github, pytest.raises(ForgeDenied):
        github.forge().comments(1)
    with github_answers(_page(None)) as github, pytest.raises(ForgeUnavailable, match="leaves out a part of the list"):
        github.forge().comments(1)


def test_a_thread_without_comments_says_nothing() -> None:
    node = {
        "id": "PRRT_1", "isResolved": False, "isOutdated": True, "comments": {"nodes": []},
    }  # fmt: skip
    with github_answers(_page(node)) as github:
        (thread,) = github.forge().threads(1)
    assert (thread.author, thread.body) == ("ghost", "")


@pytest.mark.parametrize(
    "permission, role, found",
    [
        ("admin", "admin", Permission.ADMIN),
        ("write", "maintain", Permission.MAINTAIN),
        ("write", "write", Permission.WRITE),
        ("read", "triage", Permission.TRIAGE),
        ("read", "read", Permission.READ),
        ("none", "none", Permission.NONE),
        ("write", "release-manager", Permission.WRITE),
        ("read", "admin", Permission.READ),
        ("read", "maintain", Permission.READ),
        ("write", None, Permission.WRITE),
        ("superuser", "superuser", Permission.NONE),
    ],
)
def test_a_role_refines_a_permission_and_never_adds_to_it(permission: str, role: str | None, found: Permission) -> None:
    with github_answers(Reply(200, {"permission": permission, "role_name": role})) as github:
        assert github.forge().permission("mona") is found


@pytest.mark.parametrize(
    "content",
    [
        {"type": "symlink", "path": "a.txt", "size": 5, "target": "b.txt"},
        {"type": "file", "path": "b.txt", "size": 1, "encoding": "base64", "content": "eA=="},
        {"type": "submodule", "path": "a.txt", "size": 0},
        [{"type": "file", "path": "a.txt/b", "size": 1}],
    ],
)
def test_a_link_a_submodule_and_a_folder_are_no_file(content: object) -> None:
    with github_answers(Reply(200, content)) as github:
        assert github.forge().file("a.txt", HEAD) is None


@pytest.mark.parametrize("content", ["eA==", "eA=", "", "!!!!", "eHh4\n"])
def test_a_file_that_did_not_come_whole_is_not_taken_for_one(content: str) -> None:
    reply = Reply(200, {"type": "file", "path": "a.txt", "size": 2, "encoding": "base64", "content": content})
    with github_answers(reply) as github, pytest.raises(ForgeUnavailable, match="whole"):
        github.forge().file("a.txt", HEAD)


def _page(*nodes: object, errors: list[dict[str, object]] | None = None) -> Reply:
    page = {"nodes": list(nodes), "pageInfo": {"hasNextPage": False, "endCursor": None}}
    body: dict[str, object] = {"data": {"repository": {"pullRequest": {"page": page}}}}
    return Reply(200, {**body, "errors": errors} if errors else body)
