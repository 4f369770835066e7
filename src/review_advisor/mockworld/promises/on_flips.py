"""The promise about flips: what is switched while a review runs changes nothing in it."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.mockworld.promises import Broken
from review_advisor.mockworld.stories.stage import PlayedReview, PlayedStory, play
from review_advisor.mockworld.stories.story import ReviewBlock, Story

ROLES = ("pre_flight", "executor", "mid_flight", "post_verify")


def told_still(told: PlayedStory) -> PlayedStory:
    """The story told again without its flips, as far as its first flipped review; nothing of it if there is none."""
    flipped = _first_flipped(told)
    if flipped is None:
        return replace(told, reviews=(), steps=(), unplayed=())
    return play(without_flips(told.story), flipped.number)


def broken_by_a_flip(told: PlayedStory, still: PlayedStory) -> tuple[Broken, ...]:
    """Told again without its flips, a story's first flipped review asks the same questions and ends the same."""
    flipped = _first_flipped(told)
    if flipped is None:
        return ()
    twin = still.reviews[flipped.number - 1]
    if _course(twin) == _course(flipped):
        return ()
    says = f"ended as {flipped.ended} with the flip and as {twin.ended} without it"
    return (Broken(flipped.number, "a_flip_changes_nothing", says),)


def _first_flipped(told: PlayedStory) -> PlayedReview | None:
    return next((review for review in told.reviews if review.flipped), None)


def _course(review: PlayedReview) -> tuple[object, ...]:
    questions = [(asked.call.role, asked.call.prompt, asked.call.consults) for asked in review.asked]
    return questions, review.events, review.document, review.ended, review.exit_code


def without_flips(story: Story) -> Story:
    """The same story, with no switch touched while a review runs."""
    steps = tuple(
        step if step.review is None else step.model_copy(update={"review": _still(step.review)}) for step in story.steps
    )
    return story.model_copy(update={"steps": steps})


def _still(review: ReviewBlock) -> ReviewBlock:
    calm = {}
    for role in ROLES:
        calm[role] = tuple(
            line
            if line.meanwhile is None
            else line.model_copy(update={"meanwhile": line.meanwhile.model_copy(update={"switches": {}})})
            for line in getattr(review, role)
        )
    return review.model_copy(update=calm)
