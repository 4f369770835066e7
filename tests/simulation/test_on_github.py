"""Reviews of seeded worlds on the simulated GitHub: what stands there keeps its promises, and a lie is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.simulation.forged import NOTED, told

from review_advisor.mockworld.promises.on_github import PROMISES_ON_GITHUB, broken_on_github
from review_advisor.mockworld.publishing import Standing, standings
from review_advisor.mockworld.seeds.worlds import story_of
from review_advisor.mockworld.stories.stage import play
from review_advisor.mockworld.stories.story import Story

MOVES = {"push": {"files": [{"path": "src/app.py", "added": 4}]}}


def standing(review: dict[str, Any] | None = None) -> Standing:
    """What stands after one review."""
    (found,) = standings([told(review)])
    return found


REJECTED = standing({"executor": [{"says": "reject", "findings": [NOTED]}]})
LIES: dict[str, Callable[[], Standing]] = {
    "one_check_concludes_the_head": lambda: replace(REJECTED, checks=standing().checks),
    "one_summary_stands": lambda: replace(REJECTED, summaries=REJECTED.summaries * 2),
    "every_finding_is_said": lambda: replace(REJECTED, summaries=(), threads=()),
    "nothing_is_said_twice": lambda: replace(REJECTED, threads=REJECTED.threads * 2),
    "a_person_is_called_to_an_escalation_alone": lambda: replace(REJECTED, labels=frozenset({"needs-human-review"})),
    "publishing_again_writes_nothing": lambda: replace(REJECTED, written_again=1),
    "another_pull_requests_check_is_left_alone": lambda: replace(REJECTED, foreign=REJECTED.checks[0]),
    "the_memory_is_of_the_last_review": lambda: replace(REJECTED, memory=standing().memory),
}
BY_NAME = {promise.__name__: promise for promise in PROMISES_ON_GITHUB}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_lie_about_what_stands_on_github_is_caught(name: str) -> None:
    assert list(BY_NAME[name](REJECTED)) == []
    assert list(BY_NAME[name](LIES[name]()))


@pytest.mark.parametrize("first", [1, 1_001])
def test_what_seeded_worlds_leave_on_github_breaks_no_promise(first: int) -> None:
    broken = {seed: broken_on_github(play(story_of(seed))) for seed in range(first, first + 50)}
    assert {seed: its for seed, its in broken.items() if its} == {}


def test_a_finding_gets_its_comment_on_the_line() -> None:
    assert len(REJECTED.threads) == 1


def test_a_review_of_a_head_that_moved_is_cancelled_there_and_says_nothing() -> None:
    found = standing({"executor": [{"says": "approve", "meanwhile": MOVES}]})
    assert found.review.stale
    assert [run.conclusion for run in found.checks] == ["cancelled"]
    assert found.summaries == ()


def test_the_reviews_of_one_story_share_their_pull_request() -> None:
    twice = [{"review": {"executor": [{"says": "reject", "findings": [NOTED]}]}}, MOVES, "review"]
    story = play(Story.model_validate({"story": "twice", "steps": twice}))
    assert broken_on_github(story) == ()
    first, second = standings(story.reviews)
    assert [len(each.summaries) for each in (first, second)] == [1, 1]
    assert [run.conclusion for each in (first, second) for run in each.checks] == ["failure", "success"]
