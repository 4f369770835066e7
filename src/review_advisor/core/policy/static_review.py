"""A review by static checks alone: no model is asked, so no advisor role runs, and some code is read by no rule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from review_advisor.core.facts.change import Change
from review_advisor.core.facts.files.languages import unread_code
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.facts.shards import Extent, Unsent
from review_advisor.core.policy.surfaces import Surface

PYTHON = "Python"
"""The language that the embedded agent always has rules for; it reads others where their checkers are installed."""

_NEEDS_A_MODEL = {
    Surface.PRE_MERGE_SPEC_CHECK: "the specification",
    Surface.ADR_REVIEW: "decision records",
    Surface.VISUAL_GATE: "pictures",
}


@dataclass(frozen=True, slots=True)
class StaticReview:
    """What a review by static checks leaves out, in words: languages that no rule reads, and surfaces."""

    unchecked: tuple[str, ...] = ()


def static_checks(change: Change, surfaces: Sequence[Surface], read: Collection[str]) -> StaticReview:
    """What static checks cannot say anything about in ``change``, to which ``surfaces`` would apply.

    ``read`` are the languages that they have rules for.
    """
    languages = sorted({language for _, language in unread_code(change.files, read)})
    left_out = [words for surface, words in _NEEDS_A_MODEL.items() if surface in surfaces]
    return StaticReview((*languages, *left_out))


def unchecked_files(
    change: Change, pictures: Sequence[PictureDifference], read: Collection[str], *, waived: bool
) -> tuple[Unsent, ...]:
    """The files of code, and the pictures of visual_gate, that no rule reads. ``waived``: they may be approved."""
    extent: Extent = "waived" if waived else "unchecked"
    code = [Unsent(path, extent, f"no rule reads {language}") for path, language in unread_code(change.files, read)]
    seen = {gap.path for gap in code}
    differing = (picture.name for picture in pictures if picture.state != "identical" and picture.name not in seen)
    return (*code, *(Unsent(name, extent, "no rule sees a picture") for name in differing))
