"""The history after a merge, read by real git: what it holds, where it ends, and what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import executable, processes_that_know
from tests.adapters.git_counting import counting
from tests.adapters.git_remote import Served, served

from review_advisor.adapters.git import history, objects
from review_advisor.adapters.git.fetch import Remote
from review_advisor.adapters.git.history import GitHistory, open_history
from review_advisor.adapters.git.run import Git
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.observation.revert_detection import Lines
from review_advisor.ports.review import SourceError

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


@pytest.mark.parametrize("options", [(), ("--depth=1",)])
def test_a_merge_and_what_came_after_it_whatever_the_clone_holds(
    remote: Served, opened: Open, options: tuple[str, ...]
) -> None:
    pull_request = merged(remote)
    remote.work.write("other.py", "x = 1\n")
    remote.work.commit("Elsewhere")
    commit = later(remote, "one = 1\n")
    seen = opened(remote, pull_request, *options)
    (file,) = seen.brought
    assert (file.old_path, file.path) == ("app.py", "app.py")
    assert seen.lines([file]) == Lines([("app.py", "+", "two = 2")])
    elsewhere, found = seen.later()
    assert [each.path for each in elsewhere.files] == ["other.py"]
    assert found.commit == commit
    assert seen.lines(found.files) == Lines([("app.py", "-", "zero = 0"), ("app.py", "-", "two = 2")])
    assert seen.content(found.files[0].new) == "one = 1\n"
    assert seen.text(pull_request.merge_commit, "app.py") == "one = 1\nzero = 0\ntwo = 2\n"
    assert seen.text(commit, "gone.py") is None
    assert seen.text(commit, "app.py/inside") is None


def test_of_a_merge_on_the_base_branch_only_what_it_brought_there_is_told(remote: Served, opened: Open) -> None:
    pull_request = merged(remote)
    remote.work.git("checkout", "--quiet", "-b", "another")
    later(remote, "n = 1\n")
    later(remote, "n = 2\n")
    remote.work.git("checkout", "--quiet", "main")
    remote.work.git("merge", "--quiet", "--no-ff", "--message", "Merge #8", "another")
    remote.push("main:refs/heads/main")
    seen = opened(remote, pull_request)
    (found,) = seen.later()
    assert found.commit == remote.work.rev("main")
    assert seen.content(found.files[0].new) == "n = 2\n"


def test_only_so_many_commits_after_the_merge_are_looked_at(
    remote: Served, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull_request = merged(remote)
    commits = [later(remote, f"n = {number}\n") for number in range(3)]
    monkeypatch.setattr(history, "MOST_COMMITS", 2)
    found = opened(remote, pull_request).later()
    assert [next(found).commit, next(found).commit] == commits[:2]
    with pytest.raises(SourceError, match="more than 2 commits came after it"):
        next(found)


def test_what_comes_much_later_says_nothing_about_the_merge(remote: Served, opened: Open) -> None:
    pull_request = merged(remote)
    seen_then = later(remote, "n = 1\n")
    tree = remote.work.rev("HEAD^{tree}")
    person = "Ada <ada@example.org> 4102444800 +0000"
    raw = f"tree {tree}\nparent {pull_request.merge_commit}\nauthor {person}\ncommitter {person}\n\nIn 2100\n"
    commit = remote.work.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw.encode()).decode().strip()
    assert [each.commit for each in opened(remote, pull_request).later()] == [seen_then]
    remote.push(f"{commit}:refs/heads/main")
    assert list(opened(remote, pull_request).later()) == []


def test_an_author_who_dates_a_commit_back_hides_nothing_that_came_after_its_merge(
    remote: Served, opened: Open
) -> None:
    """Somebody merged it by a push: the merge is the author's own commit."""
    remote.work.at = datetime(2000, 1, 1, tzinfo=UTC)
    remote.work.write("app.py", "zero = 0\n")
    remote.work.commit("In 2000")
    remote.work.at = None
    pull_request = remote.opens(7)
    remote.work.git("checkout", "--quiet", "main")
    remote.work.git("merge", "--quiet", "--ff-only", "topic")
    remote.push("main:refs/heads/main")
    at = datetime.now(UTC)
    pull_request = replace(pull_request, state="merged", merge_commit=pull_request.head_sha, merged_at=at)
    commit = later(remote, "n = 1\n")
    seen = opened(remote, pull_request)
    assert seen.merged_at == at
    assert [each.commit for each in seen.later()] == [commit]
    with pytest.raises(SourceError, match="nobody can tell what its merge brought"):
        assert seen.brought  # nobody says which commits the push brought
    last = replace(pull_request, merged_at=datetime.max.replace(tzinfo=UTC))
    assert [each.commit for each in opened(remote, last).later()] == [commit], "at the end of time, too"


def test_a_base_branch_that_went_around_the_merge_says_nothing_of_it(remote: Served, opened: Open) -> None:
    """Somebody with an old base branch pulls and pushes: what was the branch's own line is a side of their merge."""
    pull_request = merged(remote)
    later(remote, "n = 1\n")
    remote.work.git("checkout", "--quiet", "-b", "old", "main~2")
    remote.work.write("other.py", "x = 1\n")
    remote.work.commit("Own work")
    remote.work.git("merge", "--quiet", "--no-edit", "main")
    remote.push("old:refs/heads/main")
    with pytest.raises(SourceError, match="the base branch's own line of commits does not hold it"):
        list(opened(remote, pull_request).later())


@pytest.mark.parametrize("how", ["rebased", "squashed", "otherwise"])
def test_of_a_pull_request_that_was_brought_up_to_date_all_its_own_commits_are_told(
    remote: Served, opened: Open, how: str
) -> None:
    work = remote.work
    own = [work.rev("topic")]
    work.git("checkout", "--quiet", "main")
    work.write("else.py", "x = 1\n")
    work.commit("Elsewhere")
    work.git("checkout", "--quiet", "topic")
    work.git("merge", "--quiet", "--no-edit", "main")
    work.write("other.py", "y = 1\n")
    own.append(work.commit("Another"))
    pull_request = remote.opens(7)
    work.git("checkout", "--quiet", "main")
    if how == "squashed":
        work.git("merge", "--quiet", "--squash", "topic")
        work.commit("Squashed")
    else:
        work.git("cherry-pick", *(own if how == "rebased" else own[1:]))
    remote.push("main:refs/heads/main")
    done = replace(pull_request, state="merged", merge_commit=work.rev("main"), merged_at=datetime.now(UTC))
    seen = opened(remote, done)
    if how == "otherwise":
        with pytest.raises(SourceError, match="nobody can tell what its merge brought"):
            assert seen.brought
    else:
        assert {each.path for each in seen.brought} == {"app.py", "other.py"}


def test_a_merge_that_nothing_was_before_brought_nothing_that_is_known(remote: Served, opened: Open) -> None:
    pull_request = merged(remote)
    root = remote.work.git("rev-list", "--max-parents=0", "main").decode().strip()
    with pytest.raises(SourceError, match="the merge has no commit before it"):
        assert opened(remote, replace(pull_request, merge_commit=root)).brought


@pytest.mark.parametrize("name", ["a-g1234567", "a\nb", "x^{tree}", "a b", ":(glob)*", "--all", "\u00e9"])
def test_a_path_is_a_name_and_nothing_else(remote: Served, opened: Open, name: str) -> None:
    pull_request = merged(remote)
    remote.work.write(f"folder/{name}", "here\n")
    commit = later(remote, "n = 1\n")
    seen = opened(remote, pull_request)
    assert seen.text(commit, f"folder/{name}") == "here\n"
    (found,) = seen.later()
    assert {each.path for each in found.files} == {"app.py", f"folder/{name}"}
    assert [seen.text(commit, path) for path in ("../app.py", "./app.py", "a\0b", "*", "", "folder")] == [None] * 6


def test_a_link_is_no_file(remote: Served, opened: Open) -> None:
    pull_request = merged(remote)
    (remote.work.path / "link").symlink_to("app.py")
    commit = later(remote, "n = 1\n")
    seen = opened(remote, pull_request)
    assert seen.text(commit, "link") is None
    (found,) = seen.later()
    assert [each.path for each in found.files if each.new] == ["app.py"]


def test_a_file_that_was_moved_is_known_by_its_new_name_as_far_as_git_says_so(remote: Served, opened: Open) -> None:
    remote.work.git("mv", "app.py", "moved.py")
    remote.work.commit("Move it")
    reviewed = remote.work.rev("topic^")
    seen = opened(remote, merged(remote))
    assert seen.moved(reviewed, "app.py") == "moved.py"
    assert seen.moved("f" * 40, "app.py") == "moved.py", "the merge itself renamed it"
    assert seen.moved(reviewed, "app.py") == "moved.py", "asked about several commits in turn"
    assert seen.moved(reviewed, "moved.py") is None
    assert seen.moved(reviewed, ".review-advisor.toml") is None


def test_of_two_submodules_that_were_rebased_the_last_alone_is_not_what_the_merge_brought(
    remote: Served, opened: Open
) -> None:
    work = remote.work
    work.git("checkout", "--quiet", "-b", "submodules", "main")
    own = []
    for name in ("one", "two"):
        work.git("update-index", "--add", "--cacheinfo", f"160000,{work.rev('main')},{name}")
        work.git("commit", "--quiet", "--message", f"Add {name}")
        own.append(work.rev("HEAD"))
    pull_request = remote.opens(7, "submodules")
    work.git("checkout", "--quiet", "main")
    later(remote, "n = 1\n")
    work.git("cherry-pick", *own)
    remote.push("main:refs/heads/main")
    done = replace(pull_request, state="merged", merge_commit=work.rev("main"), merged_at=datetime.now(UTC))
    assert {each.path for each in opened(remote, done).brought} == {"one", "two"}


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_of_a_large_file_nothing_is_told(remote: Served, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    pull_request = merged(remote)
    remote.work.write("large.py", "x" * 1_000)
    commit = later(remote, "n = 1\n")
    monkeypatch.setattr(objects, "MOST_BYTES", 999)
    seen = opened(remote, pull_request)
    with pytest.raises(SourceError, match="its file is too large"):
        seen.text(commit, "large.py")
    assert seen.text(commit, "app.py") == "n = 1\n", "of others it is"


def test_only_so_much_is_read_and_each_file_once(remote: Served, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    pull_request = merged(remote)
    monkeypatch.setattr(objects, "MOST_READ", 200)
    seen = opened(remote, pull_request)
    texts = [seen.text(pull_request.merge_commit, "app.py") for _ in range(20)]
    assert set(texts) == {"one = 1\nzero = 0\ntwo = 2\n"}
    remote.work.write("other.py", "x" * 200)
    commit = later(remote, "n = 1\n")
    monkeypatch.setattr(objects, "MOST_READ", 300)
    with pytest.raises(SourceError, match="there is too much to read"):
        opened(remote, pull_request).text(commit, "other.py")


def test_what_was_read_before_is_not_told_again_when_it_is_late(
    remote: Served, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines are looked for in it each time, and that takes time too."""
    pull_request = merged(remote)
    later(remote, "n = 1\n")
    seen = opened(remote, pull_request)
    (found,) = seen.later()
    assert seen.content(found.files[0].new) == "n = 1\n"
    with monkeypatch.context() as late:
        late.setattr("time.monotonic", lambda: float("inf"))
        with pytest.raises(SourceError, match="it takes too long to read"):
            seen.content(found.files[0].new)


@pytest.mark.parametrize(
    "bound, value, says",
    [
        ("MOST_SECONDS", 0.0, "it takes too long to read"),
        ("MOST_LISTED", 10, "has more to say than 10 bytes"),
        ("MOST_CHANGED", 0, "more than 0 lines are changed"),
    ],
)
def test_past_a_bound_it_is_said_and_nothing_is_told(
    remote: Served, opened: Open, monkeypatch: pytest.MonkeyPatch, *, bound: str, value: float, says: str
) -> None:
    pull_request = merged(remote)
    later(remote, "n = 1\n")
    monkeypatch.setattr(history, bound, value)
    seen = opened(remote, pull_request)
    with pytest.raises(SourceError, match=says):
        assert seen.lines(seen.brought)
    if bound != "MOST_CHANGED":
        with pytest.raises(SourceError, match=says):
            list(seen.later())


def test_a_git_that_does_not_end_is_ended(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never-written")
    git = Git(executable(tmp_path / "git", "#!/bin/sh\nread -r line < never-written\n"), tmp_path)
    with pytest.raises(SourceError, match="git log failed, or took too long"):
        git.limited("log", most=10, seconds=0.0)
    with pytest.raises(SourceError, match="git fetch took too long"):
        git.attempt("fetch", seconds=0.0)
    assert processes_that_know(tmp_path) == []


def test_so_many_processes_read_a_history_however_long_it_is(
    remote: Served, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some hundred files and thirty commits take as many as one file and one commit."""
    counted = counting(tmp_path / "bin", monkeypatch)
    numbers = []
    for files, commits in ((1, 1), (300, 30)):
        for number in range(files):
            remote.work.write(f"many/{number}.py", f"n = {number} of {files}\n")
        remote.work.commit("Many")
        pull_request = merged(remote)
        for number in range(commits):
            later(remote, f"n = {number}\n")
        counted.write_text("")
        seen = opened(remote, pull_request)
        assert seen.lines(seen.brought).total() >= files
        for commit in seen.later():
            seen.lines(commit.files)
            for number in range(files):
                assert seen.text(commit.commit, f"many/{number}.py")
            numbers.append(len(counted.read_text().splitlines()))
        remote.work.git("checkout", "--quiet", "topic")
        remote.work.git("merge", "--quiet", "--ff-only", "main")
    assert numbers[0] == numbers[1]


# --- what cannot be read ----------------------------------------------------------------------------------------------


def test_a_commit_that_is_in_no_branch_any_more_is_fetched_by_its_name(
    remote: Served, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull_request = merged(remote)
    work, gone = remote.work, []
    for number in range(2):
        work.git("checkout", "--quiet", "--detach", "main")
        work.write("app.py", f"n = {number}\n")
        gone.append(work.commit("Reviewed"))
        remote.push("HEAD:refs/pull/8/head")
    remote.push(":refs/pull/8/head")
    seen = opened(remote, pull_request)
    assert seen.has(gone[0])
    assert seen.text(gone[0], "app.py") == "n = 0\n"
    monkeypatch.setattr(history, "MOST_FETCHED", 1)
    assert seen.has(gone[0])
    with pytest.raises(SourceError, match="more than 1 reviewed commits have to be fetched by name"):
        seen.has(gone[1])


@pytest.mark.parametrize("commit", ["", "f" * 40, "--output=x", "main"])
def test_only_the_whole_name_of_a_commit_that_is_there_is_one(remote: Served, opened: Open, commit: str) -> None:
    pull_request = merged(remote)
    seen = opened(remote, pull_request)
    assert not seen.has(commit)
    assert seen.has(pull_request.merge_commit)


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
