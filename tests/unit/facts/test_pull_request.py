"""Whom a pull request belongs to, and who may tell the bot what to do."""

from __future__ import annotations

import pytest

from review_advisor.change.pull_request import Permission, PullRequest


def pull_request(head_repository: str | None) -> PullRequest:
    return PullRequest("Octo/App", 7, "t", "b", "mona", "main", "b" * 40, "topic", "a" * 40, head_repository)


@pytest.mark.parametrize("head, fork", [("Octo/App", False), ("octo/app", False), ("mona/app", True), (None, True)])
def test_a_head_outside_the_repository_is_a_forks_and_case_does_not_count(head: str | None, fork: bool) -> None:
    assert pull_request(head).from_fork is fork


def test_whoever_may_push_may_tell_the_bot_what_to_do_and_nobody_else() -> None:
    may = {permission.value for permission in Permission if permission.may_write}
    assert may == {"write", "maintain", "admin"}
