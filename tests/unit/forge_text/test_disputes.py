"""What is told of a disagreement: who said what, in which part, at which attempt, and why it ended."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.forge_text.stories import STORIES, told

from review_advisor.github.findings_text import MOST_AHEAD, disputes, positions, transcript, vetoes, with_next
from review_advisor.github.sections import Section
from review_advisor.mockworld.agents import approve, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.safety.markdown import phrase


def escalated(parts: int) -> OutcomeDocument:
    """So many parts, each of which ends with a person."""

    def tell(world: MockWorld) -> None:
        world.rules = replace(world.rules, shard_tokens=180)
        world.change(*(edited(f"src/{number}.py") for number in range(parts)))
        world.agents.script(Role.EXECUTOR, *(approve(summary="fine") for _ in range(2 * parts)))
        world.agents.script(Role.POST_VERIFY, *(veto("look") for _ in range(parts)))

    return told(tell)


@pytest.mark.parametrize("parts, ahead", [(2, 2), (3, 3), (4, 3)])
def test_at_most_three_parts_are_told_in_the_open_and_each_says_why_it_ended(parts: int, ahead: int) -> None:
    document = escalated(parts)
    (surface,) = document.surfaces
    because = [part.ended.because for part in surface.parts if part.ended is not None]
    assert len(because) == parts
    assert all(because)
    headings = [f"**pr_review, part {n + 1} of {parts}**: {phrase(because[n])}" for n in range(parts)]
    assert [block for block in positions(document) if block.startswith("**pr_review")] == headings[:ahead]
    rest = [block for block in transcript(document) if block.startswith("**pr_review")]
    assert rest == [*(heading.partition(":")[0] for heading in headings[:ahead]), *headings[ahead:]]


def test_a_single_part_needs_no_heading() -> None:
    assert [block for block in positions(told(STORIES["escalated"])) if block.startswith("**pr_review")] == []


def test_each_veto_is_told_with_the_attempt_that_it_was_of() -> None:
    lines = vetoes(told(STORIES["escalated"]))
    assert [line.partition(":")[0] for line in lines] == ["- pr_review, attempt 1", "- pr_review, attempt 2"]
    assert [line.partition(",")[0] for line in vetoes(escalated(2))] == ["- pr_review"] * 2


def test_a_dispute_is_told_in_the_open_only_where_a_person_is_called() -> None:
    shown, opened = disputes(told(STORIES["approved"]))
    assert (shown.text, opened.text) == ("", "")
    shown, opened = disputes(told(STORIES["escalated"]))
    assert "The **executor** approves (attempt 2)" in shown.text
    assert "The **executor** approves (attempt 1)" in opened.text


def test_a_long_dispute_waits_behind_what_a_person_does_next() -> None:
    following = Section(("next",))
    fits, longer = Section(("x" * MOST_AHEAD,)), Section(("x" * (MOST_AHEAD + 1),))
    assert with_next(fits, following) == (fits, following)
    assert with_next(longer, following) == (following, longer)
