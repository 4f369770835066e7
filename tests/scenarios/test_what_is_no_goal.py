"""What this bot is not for: advisors that edit, a policy that changes by itself, and copies of a ledger elsewhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from review_advisor.agents.claude_argv import argv
from review_advisor.change.kinds import OWN_IMPLEMENTATION_ANYWHERE
from review_advisor.mockworld.stage import PlayedReview, play
from review_advisor.mockworld.story_file import read_story
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import PolicyFrozen

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "review_advisor"
STORIES = sorted((ROOT / "stories").glob("*.yaml"))


@cache
def reviews_of(path: Path) -> tuple[PlayedReview, ...]:
    return play(read_story(path.read_text(encoding="utf-8"), path.name)).reviews


@pytest.mark.one_in(4)
@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_no_advisor_edits_and_no_executor_edits_what_decides_about_it(path: Path) -> None:
    for call in (asked.call for review in reviews_of(path) for asked in review.asked):
        words = argv(("claude",), call, "{}" if call.consults is not None else None)
        tools = set(words[words.index("--tools") + 1].split(","))
        if call.role is not Role.EXECUTOR:
            assert not tools & {"Edit", "Write", "Agent"}
            assert call.edits is None
        if call.edits is not None:
            assert set(OWN_IMPLEMENTATION_ANYWHERE) <= set(call.edits.denied)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_review_is_decided_by_the_one_policy_that_it_began_with(path: Path) -> None:
    for review in reviews_of(path):
        assert [number for number, event in enumerate(review.events) if isinstance(event, PolicyFrozen)] == [0]
        assert review.document is None or review.document.policy == review.events[0].policy  # type: ignore[union-attr]
