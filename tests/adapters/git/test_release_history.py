"""What a branch has brought since a tag, read by the real git."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.change.change import SourceError
from review_advisor.change.git_history import open_release_history, origin_of


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.commit("First")
    repo.git("tag", "-a", "-m", "1.0", "v1.0")
    return repo


@pytest.mark.parametrize(
    "message, number, title",
    [
        ("Retry payments (#8)", 8, "Retry payments (#8)"),
        ("Retry payments (#8)\n\nMerge pull request #9 from x/y", 8, "Retry payments (#8)"),
        ("Revert (#8) in part", None, "Revert (#8) in part"),
        ("Merge pull request #7 from acme/topic", None, "Merge pull request #7 from acme/topic"),  # of one parent
        ("Mend #8", None, "Mend #8"),
        ("Big (#99999999999)", None, "Big (#99999999999)"),
        ("Zero (#0)", None, "Zero (#0)"),
    ],
)
def test_a_commit_names_its_pull_request_as_github_writes_it(
    repo: Repo, message: str, number: int | None, title: str
) -> None:
    commit = repo.commit(message)
    (change,) = open_release_history(repo.path, "").changes
    assert (change.commit, change.pull_request, change.title, change.head) == (commit, number, title, "")


def test_a_merge_names_its_head_and_hides_what_it_merged(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "topic")
    head = repo.commit("Work")
    repo.git("checkout", "-q", "-")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7 from acme/topic\n\nMove orders", "topic")
    history = open_release_history(repo.path, "")
    (change,) = history.changes
    assert (change.pull_request, change.title, change.head) == (7, "Move orders", head)
    start = repo.rev("v1.0^{commit}")
    assert (history.since, history.start, history.head, history.more) == ("v1.0", start, repo.rev("HEAD"), False)


def test_a_merge_of_another_form_names_its_head_as_well(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "topic")
    head = repo.commit("Work")
    repo.git("checkout", "-q", "-")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge evil (#8)", "topic")
    (change,) = open_release_history(repo.path, "").changes
    assert (change.pull_request, change.title, change.head) == (8, "Merge evil (#8)", head)


def test_of_a_merge_of_several_heads_nobody_knows_which_one_was_reviewed(repo: Repo) -> None:
    for name in ("one", "two"):
        repo.git("checkout", "-q", "-b", name, "v1.0")
        repo.write(f"{name}.py", "x = 1\n")
        repo.commit(name)
    repo.git("checkout", "-q", "-b", "main-line", "v1.0")
    repo.commit("Third (#3)")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7 from acme/one", "one", "two")
    change = open_release_history(repo.path, "").changes[0]
    assert (change.pull_request, change.head) == (7, "")


def test_a_lightweight_tag_is_no_release(repo: Repo) -> None:
    repo.commit("Second")
    repo.git("tag", "v1.1")
    repo.git("branch", "v1.0")
    history = open_release_history(repo.path, "")
    assert (history.since, [each.title for each in history.changes]) == ("v1.0", ["Second"])


def test_the_newest_tag_that_leads_to_head_is_the_last(repo: Repo) -> None:
    repo.commit("Second")
    repo.git("tag", "-a", "-m", "1.1", "v1.1")
    repo.commit("Third (#3)")
    assert open_release_history(repo.path, "").since == "v1.1"
    assert [each.title for each in open_release_history(repo.path, "v1.0").changes] == ["Third (#3)", "Second"]


def test_an_annotated_tag_that_names_no_version_is_passed_over_and_named(repo: Repo) -> None:
    repo.git("tag", "-a", "-m", "old", "old")
    repo.commit("Unreviewed (#5)")
    for name in ("mid", "version", "vain"):
        repo.git("tag", "-a", "-m", name, name)
    repo.git("tag", "v1.1")
    repo.commit("Reviewed (#6)")
    history = open_release_history(repo.path, "")
    assert (history.since, [each.pull_request for each in history.changes]) == ("v1.0", [6, 5])
    assert history.passed == ("mid", "old", "vain", "version")
    chosen = open_release_history(repo.path, "mid")
    assert (chosen.since, [each.pull_request for each in chosen.changes], chosen.passed) == ("mid", [6], ())


@pytest.mark.parametrize("name", ["v2", "v1.1.0-rc.1", "1.1", "2026.11"])
def test_a_tag_that_is_called_like_a_version_is_a_release(repo: Repo, name: str) -> None:
    repo.commit("Second")
    repo.git("tag", "-a", "-m", name, name)
    repo.commit("Third (#3)")
    history = open_release_history(repo.path, "")
    assert (history.since, history.passed, len(history.changes)) == (name, (), 1)


def test_no_more_than_so_many_changes_are_told(repo: Repo) -> None:
    branch = repo.git("symbolic-ref", "HEAD").decode().strip()
    by = "committer Ada <ada@example.org> 0 +0000"
    commits = [f"commit {branch}\n{by}\ndata 13\nChange (#{number})" for number in range(100, 301)]
    commits[0] += f"\nfrom {repo.rev('HEAD')}"
    repo.git("fast-import", "--quiet", stdin="\n\n".join(commits).encode() + b"\n")
    history = open_release_history(repo.path, "")
    assert (len(history.changes), history.more, history.changes[0].pull_request) == (200, True, 300)


@pytest.mark.parametrize(
    "since, words", [("", "No annotated tag of a version leads"), ("v9", "names no commit"), ("-x", "no commit")]
)
def test_a_start_that_is_not_there_is_one_sentence(repo: Repo, since: str, words: str) -> None:
    repo.git("tag", "-d", "v1.0")
    with pytest.raises(SourceError, match=words):
        open_release_history(repo.path, since)


def test_a_clone_knows_where_it_comes_from(repo: Repo) -> None:
    assert origin_of(repo.path) == ""
    repo.git("remote", "add", "origin", "https://github.com/acme/shop.git")
    assert origin_of(repo.path) == "https://github.com/acme/shop.git"


def test_outside_a_repository_there_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        open_release_history(tmp_path, "")
