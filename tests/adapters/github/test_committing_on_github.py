"""Commits through GitHub's Git Data API, by PyGithub and real requests that are held against GitHub's description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest
from tests.adapters.github.scene import REPOSITORY, Scene, open_scene

from review_advisor.change.change import CommittedFile
from review_advisor.github.forge import ForgeDenied, ForgeMissing, ForgeRejected, ForgeUnavailable
from review_advisor.mockworld.github_records import Protection
from review_advisor.mockworld.github_traffic import RequestMoment, ServerFailure

BRANCH = "fix/50% of #1"
FILES = (
    CommittedFile("src/app.py", "100644", b"a = 2\n"),
    CommittedFile("run.sh", "100755", "echo \u00fc\r\n".encode()),
)
MESSAGE = "Repair\n\nReview-Advisor-Run: run-1\n"


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A repository with one pull request by mona, and the adapter with a token that may write contents."""
    with open_scene() as opened:
        opened.opens(branch=BRANCH, contents={"src/app.py": "a = 1\n", "other.py": "b = 1\n"})
        yield opened


def head(scene: Scene) -> str:
    return scene.github.repository(REPOSITORY).branches[BRANCH]


def test_a_commit_holds_the_files_and_nothing_leads_to_it_before_the_branch_moves(scene: Scene) -> None:
    before = head(scene)
    made = scene.forge.make_commit(before, FILES, MESSAGE)
    assert head(scene) == before
    scene.forge.advance_branch(BRANCH, made.sha)
    assert head(scene) == made.sha
    commit = scene.github.objects.commits[made.sha]
    assert (commit.parents, commit.message, commit.tree) == ((before,), MESSAGE, made.tree)
    held = scene.github.objects.files(made.sha)
    assert {path: mode for path, (mode, _) in held.items()} == {
        "README.md": "100644",
        "other.py": "100644",
        "run.sh": "100755",
        "src/app.py": "100644",
    }
    assert [scene.github.objects.content(made.sha, each.path) for each in FILES] == [each.content for each in FILES]


def test_both_forges_make_the_same_tree(scene: Scene) -> None:
    made = scene.forge.make_commit(head(scene), FILES, MESSAGE)
    assert scene.fake.make_commit(head(scene), FILES, MESSAGE).tree == made.tree


def test_a_branch_that_went_on_is_not_forced(scene: Scene) -> None:
    made = scene.forge.make_commit(head(scene), FILES, MESSAGE)
    mine = scene.github.commits(REPOSITORY, BRANCH, {"other.py": "b = 2\n"}, by="mona")
    with pytest.raises(ForgeRejected, match="Update is not a fast forward"):
        scene.forge.advance_branch(BRANCH, made.sha)
    assert head(scene) == mine


def test_moving_a_branch_to_where_it_is_changes_nothing(scene: Scene) -> None:
    made = scene.forge.make_commit(head(scene), FILES, MESSAGE)
    for _ in range(2):
        scene.forge.advance_branch(BRANCH, made.sha)
    assert head(scene) == made.sha


@pytest.mark.parametrize("k", range(5))
@pytest.mark.parametrize("after", [False, True])
def test_no_write_is_sent_twice(scene: Scene, k: int, after: bool) -> None:
    scene.github.traffic.meets(ServerFailure(502), RequestMoment(k, "write", after=after))
    with pytest.raises(ForgeUnavailable):
        scene.forge.advance_branch(BRANCH, scene.forge.make_commit(head(scene), FILES, MESSAGE).sha)
    assert len(scene.github.traffic.writes) == k + 1


def test_a_token_that_may_only_read_makes_nothing(scene: Scene) -> None:
    with pytest.raises(ForgeDenied, match="may not store a file"):
        scene.reading().make_commit(head(scene), FILES, MESSAGE)


def test_a_commit_or_branch_that_is_not_there(scene: Scene) -> None:
    with pytest.raises(ForgeMissing):
        scene.forge.make_commit("1" * 40, FILES, MESSAGE)
    with pytest.raises(ForgeRejected, match="not the full name of a commit"):
        scene.forge.make_commit("main", FILES, MESSAGE)
    with pytest.raises(ForgeMissing):
        scene.forge.is_protected("nowhere")


@pytest.mark.parametrize("name", ["../../user", "a/./b", "", "a//b"])
def test_a_name_that_would_lead_to_another_place_is_never_sent(scene: Scene, name: str) -> None:
    before = len(scene.github.traffic.log)
    for ask in (lambda: scene.forge.is_protected(name), lambda: scene.forge.advance_branch(name, "1" * 40)):
        with pytest.raises(ForgeRejected, match="not the name of a branch"):
            ask()
    assert len(scene.github.traffic.log) == before


def protected(scene: Scene, branch: str = BRANCH) -> bool:
    told = scene.forge.is_protected(branch)
    assert scene.fake.is_protected(branch) is told
    return told


def test_a_branch_is_protected_by_a_rule_a_ruleset_or_as_the_default_one(scene: Scene) -> None:
    assert not protected(scene)
    assert protected(scene, "main")


@pytest.mark.parametrize("by", get_args(Protection))
def test_any_rule_counts(scene: Scene, by: Protection) -> None:
    scene.github.protects(REPOSITORY, BRANCH, by)
    assert protected(scene)
