"""A branch that is made by plumbing, in whatever kind of repository."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.app.retro import NewBranch, make_branch
from review_advisor.change.change import SourceError
from review_advisor.change.git import open_repository

AT = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "project")
    made.write("REVIEW.md", "# Rules\n")
    made.write("other.txt")
    made.commit()
    return made


def branch(repo: Repo, folder: Path | None = None, path: str = "REVIEW.md", name: str = "proposed/one") -> str:
    wanted = NewBranch(name, repo.rev("main"), path, "after\n", "Say it once\n\nIn full.\n", AT)
    return make_branch(open_repository(folder or repo.path), wanted)


def changed(repo: Repo, commit: str) -> bytes:
    return repo.git("diff-tree", "-r", "--name-status", "--no-commit-id", commit)


def test_it_is_one_commit_with_one_file_and_says_who_made_it(repo: Repo) -> None:
    commit = branch(repo)
    assert repo.rev("proposed/one") == commit
    assert changed(repo, commit) == b"M\tREVIEW.md\n"
    assert repo.git("log", "-1", "--format=%an %cI %B", commit).decode().split("\n")[0] == (
        "review-advisor 2027-01-01T00:00:00+00:00 Say it once"
    )


def test_a_worktree_and_a_bare_repository_have_it_too(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    before = Repo(tmp_path / "side").git("status", "--porcelain", "--branch")
    assert changed(repo, branch(repo, tmp_path / "side")) == b"M\tREVIEW.md\n"
    assert Repo(tmp_path / "side").git("status", "--porcelain", "--branch") == before
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    assert branch(repo, tmp_path / "bare", name="proposed/two")


def test_hooks_and_settings_of_the_repository_do_nothing(repo: Repo) -> None:
    for name in ("reference-transaction", "post-commit", "pre-commit"):
        hook = repo.path / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\ntouch hooked\nexit 1\n")
        hook.chmod(0o755)
    repo.git("config", "core.autocrlf", "true")
    commit = branch(repo)
    assert repo.git("cat-file", "blob", f"{commit}:REVIEW.md") == b"after\n"
    assert not list(repo.path.rglob("hooked"))


def test_what_is_no_plain_file_is_refused_and_leaves_no_branch(repo: Repo) -> None:
    repo.symlink("REVIEW.md", "other.txt")
    repo.commit()
    with pytest.raises(SourceError, match="is no plain file"):
        branch(repo)
    with pytest.raises(SourceError, match="alone cannot be changed"):
        branch(repo, path="other.txt/REVIEW.md")
    assert repo.git("branch", "--list") == b"* main\n"


def test_a_branch_that_is_there_stays(repo: Repo) -> None:
    repo.git("branch", "proposed/one")
    with pytest.raises(SourceError, match="already"):
        branch(repo)
    assert repo.rev("proposed/one") == repo.rev("main")


def test_a_branch_that_a_head_names_already_is_not_born_under_it(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "side"))
    for place in (Repo(tmp_path / "side"), repo):
        place.git("symbolic-ref", "HEAD", "refs/heads/proposed/one")
        with pytest.raises(SourceError, match="A worktree is on the branch proposed/one, which has no commit yet"):
            branch(repo)
        place.git("symbolic-ref", "HEAD", "refs/heads/main")
    assert branch(repo)


@pytest.mark.parametrize("there", ["proposed", "proposed/one/more"])
def test_a_branch_whose_name_is_in_the_way_is_named(repo: Repo, there: str) -> None:
    repo.git("branch", there)
    repo.git("branch", "proposer")
    with pytest.raises(SourceError) as refused:
        branch(repo)
    assert str(refused.value) == f"There can be no branch proposed/one beside the branch {there}: rename that one."
