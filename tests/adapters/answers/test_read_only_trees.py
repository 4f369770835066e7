"""The tree under review stays as it is: a call that changes it without leave ends the review."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.command_line import script, scripted_review
from tests.adapters.git_repository import Repo

from review_advisor.agents.calls import AgentCall, Answered, EditGrant, TreeChangedError
from review_advisor.agents.kept_replies import ReadOnlyTrees
from review_advisor.mockworld.agents import approve
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded, ReviewStopped
from review_advisor.review.rulings import Outcome


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("x = 1\n")
    return folder


def a_call(tree: Path, happens: Callable[[], object]) -> tuple[ReadOnlyTrees, AgentCall]:
    """An executor's call while which something happens on the disk."""
    world = MockWorld()
    world.review()

    def meanwhile() -> None:
        happens()

    world.agents.script(Role.EXECUTOR, replace(approve(), meanwhile=meanwhile))
    return ReadOnlyTrees(world.agents), replace(world.calls(Role.EXECUTOR)[0], tree=tree)


def overwritten_and_set_back(file: Path) -> None:
    """Another content of the same length, with the times of before."""
    before = file.stat()
    file.write_text("x = 2\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], object]] = {
    "a new file": lambda tree: (tree / "planted.py").write_text("x"),
    "other text": lambda tree: overwritten_and_set_back(tree / "src" / "app.py"),
    "another mode": lambda tree: (tree / "src" / "app.py").chmod(0o755),
    "a file gone": lambda tree: (tree / "src" / "app.py").unlink(),
    "a link": lambda tree: (tree / "link").symlink_to("/etc"),
    "another name": lambda tree: (tree / "src" / "app.py").rename(tree / "app.py"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_a_call_changes_without_leave_ends_the_review(change: Callable[[Path], object], tree: Path) -> None:
    agents, call = a_call(tree, lambda: change(tree))
    with pytest.raises(TreeChangedError) as stop:
        agents.run(call)
    assert stop.value.receipt.resolved_model == call.model, "what the call cost is not lost"


UNREADABLE: dict[str, tuple[bool, bool]] = {
    "before the call": (True, False),
    "after the call": (False, True),
    "before and after the call": (True, True),
}


@pytest.mark.parametrize("before, after", UNREADABLE.values(), ids=UNREADABLE)
def test_a_tree_that_cannot_be_read_ends_the_review(before: bool, after: bool, tree: Path) -> None:
    """Nobody can tell whether it changed: two failures to read it are not the same tree."""
    away = tree.with_name("away")

    def happens() -> None:
        if before is not after:
            away.rename(tree) if before else tree.rename(away)

    agents, call = a_call(tree, happens)
    if before:
        tree.rename(away)
    with pytest.raises(TreeChangedError, match="cannot be read"):
        agents.run(call)


def test_with_leave_to_edit_or_without_a_change_it_goes_on(tree: Path) -> None:
    agents, call = a_call(tree, (tree / "src" / "app.py").read_text)
    assert isinstance(agents.run(call), Answered)
    agents, call = a_call(tree, lambda: (tree / "new.py").write_text("x"))
    assert isinstance(agents.run(replace(call, edits=EditGrant(()))), Answered)


def test_a_review_whose_tree_was_changed_stops_and_says_so(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.write("app.py", "x = 1\n")
    repo.commit("the beginning")
    repo.write("app.py", "x = 2\n")
    repo.commit("a change")
    edits = {"edit": {"planted.py": "x"}, "then": {"answer": {"verdict": "approve", "summary": "", "confidence": 1}}}
    document = scripted_review(repo.path, script(tmp_path, ReviewReport=[edits])).document
    assert document.outcome is Outcome.STOPPED
    (stopped,) = (event for event in document.events if isinstance(event, ReviewStopped))
    assert stopped.reason == "tree_changed"
    assert document.because == ("The tree under review changed during a call without leave to edit it.",)
    (ended,) = (event for event in document.events if isinstance(event, CallEnded))
    assert (ended.ended, ended.usage.cost_usd) == ("stopped", 0.01)
