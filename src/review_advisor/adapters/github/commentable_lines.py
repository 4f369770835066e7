"""On which lines of a patch GitHub takes comments."""

from __future__ import annotations

from review_advisor.core.facts.change import Hunk
from review_advisor.core.facts.patches.patch import PatchError, split_patch
from review_advisor.ports.forge import CommentableLines

_HEADER = b"--- old\n+++ new\n"
"""GitHub's patches begin with their first hunk."""


def commentable(patch: str) -> CommentableLines | None:
    """Every line that the patch shows, unchanged ones on both sides; None for a patch that does not hold together."""
    try:
        sections = split_patch(_HEADER + patch.encode("utf-8", "replace"))
    except PatchError:
        return None
    right: set[int] = set()
    left: set[int] = set()
    for section in sections:
        for hunk in section.hunks:
            _walk(hunk, right, left)
    return CommentableLines(frozenset(right), frozenset(left))


def _walk(hunk: Hunk, right: set[int], left: set[int]) -> None:
    old, new = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        mark = line[0]
        if mark in " -":
            left.add(old)
            old += 1
        if mark in " +":
            right.add(new)
            new += 1
