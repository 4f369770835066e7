"""Preparing a review, unseen, of comments on the diff: one line that the forge does not take loses one comment."""

from __future__ import annotations

from review_advisor.core.publication.writes import InlineComment
from review_advisor.ports.forge import Forge, ForgeRejected


def prepared(forge: Forge, number: int, commit: str, body: str, comments: tuple[InlineComment, ...]) -> int | None:
    """The id of a pending review with all ``comments`` that the forge takes; None if it takes none of them.

    Raises ``ForgeError``.
    """
    try:
        return forge.start_review(number, commit, body, comments)
    except ForgeRejected:
        fitting = _fitting(forge, number, comments)
    if len(fitting) == len(comments):
        fitting = _taken(forge, number, commit, body, comments)
    return forge.start_review(number, commit, body, fitting) if fitting else None


def _fitting(forge: Forge, number: int, comments: tuple[InlineComment, ...]) -> tuple[InlineComment, ...]:
    """The comments whose lines the forge shows in its diff."""
    lines = forge.commentable_lines(number)
    fitting = []
    for each in comments:
        shown = lines.get(each.path)
        side = frozenset[int]() if shown is None else shown.right if each.side == "RIGHT" else shown.left
        if all(line in side for line in range(each.start_line or each.line, each.line + 1)):
            fitting.append(each)
    return tuple(fitting)


def _taken(
    forge: Forge, number: int, commit: str, body: str, comments: tuple[InlineComment, ...]
) -> tuple[InlineComment, ...]:
    """The forge refuses the whole for a reason it does not name: find the comments that it takes alone."""
    taken: tuple[InlineComment, ...] = ()
    for each in comments:
        try:
            begun = forge.start_review(number, commit, body, (each,))
        except ForgeRejected:
            continue
        taken += (each,)
        forge.discard_review(number, begun)
    return taken
