"""The history after a merge, read by real git: what it holds, where it ends, and what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import executable, processes_that_know
from tests.adapters.git_remote import Served, served

from review_advisor.change import git_history as history
from review_advisor.change.change import SourceError
from review_advisor.change.git import Git
from review_advisor.change.git_history import GitHistory, open_history
from review_advisor.change.pull_request import PullRequest
from review_advisor.change.pull_request_source import Remote

Open = Callable[..., GitHistory]


@pytest.fixture
def remote(tmp_path: Path) -> Served:
    return served(tmp_path)


def merged(remote: Served) -> PullRequest:
    """The pull request from ``topic``, merged into ``main``."""
    pull_request = remote.opens(7)
    remote.work.git("checkout", "--quiet", "main")
    remote.work.git("merge", "--quiet", "--no-ff", "--message", "Merge #7", "topic")
    remote.push("main:refs/heads/main")
    return replace(pull_request, state="merged", merge_commit=remote.work.rev("main"), merged_at=datetime.now(UTC))


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens histories, and closes them in the end."""
    with ExitStack() as closing:

        def opening(remote: Served, pull_request: PullRequest, *options: str) -> GitHistory:
            place = remote.root / f"clone-{len(list(remote.root.iterdir()))}"
            seen = open_history(remote.clone(place, *options), pull_request, Remote(remote.url))
            closing.callback(seen.close)
            return seen

        yield opening


def later(remote: Served, text: str) -> str:
    """Another commit on the base branch."""
    remote.work.write("app.py", text)
    commit = remote.work.commit("Later")
    remote.push("main:refs/heads/main")
    return commit


@pytest.mark.one_in(2)
@pytest.mark.parametrize("options", [(), ("--depth=1",)])
def test_a_merge_and_what_came_after_it_whatever_the_clone_holds(
    remote: Served, opened: Open, options: tuple[str, ...]
) -> None:
    pull_request = merged(remote)
    commits = [later(remote, "one = 1\n"), later(remote, "two = 2\n")]
    seen = opened(remote, pull_request, *options)
    assert list(seen.later()) == [(commits[0], "Later\n"), (commits[1], "Later\n")]
    assert seen.text(pull_request.merge_commit, "app.py") == "one = 1\nzero = 0\ntwo = 2\n"
    assert seen.text(pull_request.head_sha, "app.py") is not None
    assert seen.text(commits[0], "gone.py") is None
    assert seen.text(commits[0], "app.py/inside") is None


def test_what_comes_much_later_says_nothing_about_the_merge(remote: Served, opened: Open) -> None:
    pull_request = merged(remote)
    commit = later(remote, "n = 1\n")
    long_ago = replace(pull_request, merged_at=datetime.now(UTC) - history.LOOKED_AT + timedelta(hours=1))
    assert [name for name, _ in opened(remote, long_ago).later()] == [commit]
    longer_ago = replace(pull_request, merged_at=datetime.now(UTC) - history.LOOKED_AT - timedelta(hours=1))
    assert list(opened(remote, longer_ago).later()) == []


def test_commits_that_came_by_another_merge_are_told_too(remote: Served, opened: Open) -> None:
    """GitHub's Revert button makes a pull request: its commit is on a branch, and its merge on the base branch."""
    pull_request = merged(remote)
    remote.work.git("checkout", "--quiet", "-b", "another")
    commit = later(remote, "n = 1\n")
    remote.work.git("checkout", "--quiet", "main")
    remote.work.git("merge", "--quiet", "--no-ff", "--message", "Merge #8", "another")
    remote.push("main:refs/heads/main")
    assert [name for name, _ in opened(remote, pull_request).later()] == [commit, remote.work.rev("main")]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", ["a-g1234567", "a\nb", "x^{tree}", "a b", ":(glob)*", "--all", "\u00e9"])
def test_a_path_is_a_name_and_nothing_else(remote: Served, opened: Open, name: str) -> None:
    pull_request = merged(remote)
    remote.work.write(f"folder/{name}", "here\n")
    commit = later(remote, "n = 1\n")
    seen = opened(remote, pull_request)
    assert seen.text(commit, f"folder/{name}") == "here\n"
    assert [seen.text(commit, path) for path in ("../app.py", "./app.py", "a\0b", "*", "", "folder")] == [None] * 6


def test_a_link_is_no_file(remote: Served, opened: Open) -> None:
    pull_request = merged(remote)
    (remote.work.path / "link").symlink_to("app.py")
    commit = later(remote, "n = 1\n")
    assert opened(remote, pull_request).text(commit, "link") is None


def test_of_a_large_file_nothing_is_told(remote: Served, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    pull_request = merged(remote)
    size = len("one = 1\nzero = 0\ntwo = 2\n")
    seen = opened(remote, pull_request)
    monkeypatch.setattr(history, "MOST_BYTES", size)
    assert seen.text(pull_request.merge_commit, "app.py") is not None
    monkeypatch.setattr(history, "MOST_BYTES", size - 1)
    with pytest.raises(SourceError, match="its file is too large"):
        seen.text(pull_request.merge_commit, "app.py")


def test_past_a_bound_nothing_is_told_of_later_commits(
    remote: Served, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull_request = merged(remote)
    later(remote, "n = 1\n")
    monkeypatch.setattr(history, "MOST_LISTED", 10)
    with pytest.raises(SourceError, match="git log has more to say than 10 bytes"):
        list(opened(remote, pull_request).later())


@pytest.mark.one_in(4)
@pytest.mark.parametrize("commit", ["", "f" * 40, "--output=x", "main"])
def test_only_the_whole_name_of_a_commit_that_is_there_is_one(remote: Served, opened: Open, commit: str) -> None:
    assert opened(remote, merged(remote)).text(commit, "app.py") is None


def test_a_git_that_does_not_end_is_ended(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never-written")
    git = Git(executable(tmp_path / "git", "#!/bin/sh\nread -r line < never-written\n"), tmp_path)
    with pytest.raises(SourceError, match="git log failed, or took too long"):
        git.limited("log", most=10, seconds=0.0)
    assert processes_that_know(tmp_path) == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "about, says",
    [
        ({"merge_commit": ""}, "GitHub does not say which commit merged it"),
        ({"merged_at": None}, "GitHub does not say when it was merged"),
        ({"merge_commit": "--all"}, "GitHub does not say which commit merged it"),
        ({"merge_commit": "f" * 40}, "its merge is not in the history of the base branch"),
        ({"base_ref": "a:b"}, "the name of its base branch cannot be fetched"),
        ({"base_ref": "gone"}, "Pull request #7 cannot be fetched from "),
    ],
)
def test_a_history_that_cannot_be_read_says_why_and_leaves_nothing(
    remote: Served, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, about: dict[str, Any], says: str
) -> None:
    pull_request = replace(merged(remote), **about)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with pytest.raises(SourceError) as refusal:
        opened(remote, pull_request)
    assert str(refusal.value).startswith(says)
    assert list((tmp_path / "temporary").iterdir()) == []
