"""The history after a merge, read by real git: what it holds, where it ends, and what cannot be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.git_remote import Served, served

from review_advisor.adapters.git import history
from review_advisor.adapters.git.fetch import Remote
from review_advisor.adapters.git.history import GitHistory, open_history
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.ports.review import SourceError


@pytest.fixture
def remote(tmp_path: Path) -> Served:
    return served(tmp_path)


def merged(remote: Served) -> PullRequest:
    """The pull request from ``topic``, merged into ``main``."""
    pull_request = remote.opens(7)
    remote.work.git("checkout", "--quiet", "main")
    remote.work.git("merge", "--quiet", "--no-ff", "--message", "Merge #7", "topic")
    remote.push("main:refs/heads/main")
    return replace(pull_request, state="merged", merge_commit=remote.work.rev("main"))


def opened(remote: Served, pull_request: PullRequest, *options: str) -> GitHistory:
    place = remote.root / f"clone-{len(list(remote.root.iterdir()))}"
    return open_history(remote.clone(place, *options), pull_request, Remote(remote.url))


def later(remote: Served, text: str) -> str:
    """Another commit on the base branch."""
    remote.work.write("app.py", text)
    commit = remote.work.commit("Later")
    remote.push("main:refs/heads/main")
    return commit


@pytest.mark.parametrize("options", [(), ("--depth=1",)])
def test_a_merge_and_what_came_after_it_whatever_the_clone_holds(remote: Served, options: tuple[str, ...]) -> None:
    pull_request = merged(remote)
    remote.work.write("other.py", "x = 1\n")
    remote.work.commit("Elsewhere")
    commit = later(remote, "one = 1\n")
    seen = opened(remote, pull_request, *options)
    brought = seen.brought()
    assert set(brought.commits) == {pull_request.merge_commit, pull_request.head_sha}
    assert [(file.path, file.added, file.removed) for file in brought.files] == [("app.py", 1, 0)]
    (found,) = seen.later(("app.py",))
    assert (found.commit, found.message.strip(), found.files[0].removed) == (commit, "Later", 2)
    assert seen.later(()) == ()
    assert seen.text(pull_request.merge_commit, "app.py") == "one = 1\nzero = 0\ntwo = 2\n"
    assert seen.text(commit, "gone.py") is None
    seen.close()


def test_only_so_many_commits_after_the_merge_are_looked_at(remote: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    pull_request = merged(remote)
    commits = [later(remote, f"n = {number}\n") for number in range(3)]
    monkeypatch.setattr(history, "MOST_LATER", 2)
    seen = opened(remote, pull_request)
    assert [each.commit for each in seen.later(("app.py",))] == commits[:2]


def test_what_comes_much_later_says_nothing_about_the_merge(remote: Served) -> None:
    pull_request = merged(remote)
    seen_then = later(remote, "n = 1\n")
    tree = remote.work.rev("HEAD^{tree}")
    person = "Ada <ada@example.org> 4102444800 +0000"
    raw = f"tree {tree}\nparent {pull_request.merge_commit}\nauthor {person}\ncommitter {person}\n\nIn 2100\n"
    commit = remote.work.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw.encode()).decode().strip()
    assert [each.commit for each in opened(remote, pull_request).later(("app.py",))] == [seen_then]
    remote.push(f"{commit}:refs/heads/main")
    assert opened(remote, pull_request).later(("app.py",)) == ()


def test_a_merge_that_nothing_was_before_brought_nothing_that_is_known(remote: Served) -> None:
    pull_request = merged(remote)
    root = remote.work.git("rev-list", "--max-parents=0", "main").decode().strip()
    with pytest.raises(SourceError, match="the merge has no commit before it"):
        opened(remote, replace(pull_request, merge_commit=root)).brought()


def test_a_path_is_a_name_and_no_pattern(remote: Served) -> None:
    pull_request = merged(remote)
    later(remote, "n = 1\n")
    seen = opened(remote, pull_request)
    assert seen.later((":(glob)*", "*", "--all")) == ()
    assert seen.text(pull_request.merge_commit, "../app.py") is None
    assert seen.text(pull_request.merge_commit, "a\0b") is None


def test_of_a_large_file_nothing_is_told(remote: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    pull_request = merged(remote)
    monkeypatch.setattr(history, "MOST_BYTES", 10)
    with pytest.raises(SourceError, match="its file is too large"):
        opened(remote, pull_request).text(pull_request.merge_commit, "app.py")


@pytest.mark.parametrize("commit", ["", "f" * 40, "--output=x", "main"])
def test_a_commit_that_is_not_there_is_told_from_a_file_that_is_not(remote: Served, commit: str) -> None:
    with pytest.raises(SourceError, match="is not there any more"):
        opened(remote, merged(remote)).text(commit, "app.py")


@pytest.mark.parametrize(
    "about, says",
    [
        ({"merge_commit": ""}, "GitHub does not say which commit merged it"),
        ({"merge_commit": "--all"}, "GitHub does not say which commit merged it"),
        ({"merge_commit": "f" * 40}, "its merge is not in the history of the base branch"),
        ({"base_ref": "a:b"}, "the name of its base branch cannot be fetched"),
        ({"base_ref": "gone"}, "Pull request #7 cannot be fetched from "),
    ],
)
def test_a_history_that_cannot_be_read_says_why_and_leaves_nothing(
    remote: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, about: dict[str, str], says: str
) -> None:
    pull_request = replace(merged(remote), **about)  # type: ignore[arg-type]
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with pytest.raises(SourceError) as refusal:
        opened(remote, pull_request)
    assert str(refusal.value).startswith(says)
    assert list((tmp_path / "temporary").iterdir()) == []
