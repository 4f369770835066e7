"""The promise about flips: what is switched while a review runs changes nothing in it."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.mockworld.promises import Broken
from review_advisor.mockworld.stage import PlayedReview, PlayedStory, play


def told_still(told: PlayedStory) -> PlayedStory:
    """The story told again without its flips, as far as its first flipped review; nothing of it if there is none."""
    flipped = _first_flipped(told)
    if flipped is None:
        return replace(told, reviews=(), steps=(), unplayed=())
    return play(told.story, flipped.number, flips=False)


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
