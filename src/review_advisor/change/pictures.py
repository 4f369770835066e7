"""The pairs of pictures of a change, before and after."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from review_advisor.change.change import Change, FileChange, SourceError, Status
from review_advisor.change.picture_deadline import Deadline, TooLargeError
from review_advisor.change.picture_pairs import (
    PictureDifference,
    changed_pictures,
    is_compared,
    is_vector,
)
from review_advisor.safety.children import make_folder, remove_folder
from review_advisor.safety.stop import ReviewInterrupted

MOST_BYTES = 20_000_000
MOST_PICTURES = 200

MOST_PLACES = 24
"""Places shown in one review: an agent reads two files for each, within the turns of one call."""

_LFS = b"version https://git-lfs"


NO_PILLOW = "it is compared by Pillow, which is missing: pip install 'review-advisor[pictures]'"


Tree = Callable[[str, int], bytes | None]
"""Reads so many first bytes of a file of one tree; None if there is none."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a pair. ``content`` is None where it has none: rightly, or because of ``why``."""

    content: bytes | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Pair:
    """``read`` fetches both sides. ``in_the_diff``: its text, if it is text, is reviewed with the change."""

    name: str
    read: Callable[[], tuple[_Side, _Side]]
    in_the_diff: bool


class ComparedPictures:
    """Compares a change's pictures. The gallery is private and removed by ``close``, at the latest at exit.

    ``base`` and ``head`` read the change's two trees, under ``globs``.
    """

    def __init__(self, base: Tree, head: Tree, globs: tuple[str, ...]) -> None:
        self._base = base
        self._head = head
        self._globs = globs
        self._places_left = MOST_PLACES
        self._gallery: Path | None = None
        self._remove: Callable[[], object] | None = None

    @property
    def gallery(self) -> Path | None:
        """The folder of the crops, once there are any."""
        return self._gallery

    def close(self) -> None:
        """Remove the gallery now."""
        if self._remove is not None:
            self._remove()

    def differences(self, change: Change, check_interrupt: Callable[[], None]) -> tuple[PictureDifference, ...]:
        """Every pair of the change. Raises ``SourceError`` if no crop can be written.

        Once ``check_interrupt`` raises, or the time for all pictures is over, the rest is named and not looked at.
        """
        deadline = Deadline(check_interrupt)
        found: list[PictureDifference] = []
        for pair in self._of_change(change):
            if len(found) < MOST_PICTURES:
                found.append(self._looked_at(len(found) + 1, pair, deadline))
            else:
                why = f"one review compares no more than {MOST_PICTURES} pictures"
                found.append(PictureDifference(pair.name, "too_large", why=why))
        return tuple(found)

    def _looked_at(self, number: int, pair: _Pair, deadline: Deadline) -> PictureDifference:
        try:
            deadline.check()
            return self._compared(number, pair, deadline)
        except TooLargeError as limit:
            return PictureDifference(pair.name, "too_large", why=str(limit))
        except ReviewInterrupted:  # the review hears of it when it asks next, and then ends as stopped
            return PictureDifference(pair.name, "unreadable", why="the review was interrupted before it was compared")

    def _of_change(self, change: Change) -> Iterator[_Pair]:
        for file in changed_pictures(change, self._globs):
            yield _Pair(file.path, partial(self._of_trees, file), in_the_diff=not file.binary)

    def _of_trees(self, file: FileChange) -> tuple[_Side, _Side]:
        before, after = _Side(), _Side()
        if file.status is not Status.ADDED:
            before = _of_tree(self._base, file.old_path or file.path, "before")
        if file.status is not Status.DELETED:
            after = _of_tree(self._head, file.path, "after")
        return before, after

    def _compared(self, number: int, pair: _Pair, deadline: Deadline) -> PictureDifference:
        sides = pair.read()
        settled = _settled(pair, *sides)
        if settled is not None:
            return settled
        if find_spec("PIL") is None:
            return PictureDifference(pair.name, "unreadable", why=NO_PILLOW)
        from review_advisor.change.pixels import Gallery, compare  # noqa: PLC0415 (only a pair needs Pillow)

        # A key of one length for all: no crop's name is a part of another's.
        gallery = Gallery(self._made_gallery(), f"p{number:03}", self._places_left)
        before, after = (side.content for side in sides)
        compared = compare(pair.name, before, after, gallery, deadline)
        self._places_left -= len({crop.rpartition("-")[0] for crop in compared.crops})
        return compared

    def _made_gallery(self) -> Path:
        if self._gallery is None:
            try:
                self._gallery = make_folder("pictures")
            except OSError as error:
                raise SourceError(f"A temporary folder cannot be made: {error.strerror}.") from None
            self._remove = weakref.finalize(self, remove_folder, self._gallery)
        return self._gallery


def _of_tree(tree: Tree, path: str, side: str) -> _Side:
    content = tree(path, MOST_BYTES + 1)
    if content is None:
        return _Side(why=f"its {side} side is no regular file that can be had")
    return _Side(content, "its content is in Git LFS, not in the repository" if content.startswith(_LFS) else "")


def _settled(pair: _Pair, before: _Side, after: _Side) -> PictureDifference | None:
    """What is known without looking at a pixel, or None."""
    why = before.why or after.why
    if why:
        return PictureDifference(pair.name, "unreadable", why=why)
    if any(len(side.content or b"") > MOST_BYTES for side in (before, after)):
        return PictureDifference(pair.name, "too_large", why=f"a file of more than {MOST_BYTES // 1_000_000} MB")
    if before.content == after.content:
        return PictureDifference(pair.name, "identical")
    if is_vector(pair.name) and pair.in_the_diff:
        return PictureDifference(pair.name, "vector")
    if not is_compared(pair.name):
        return PictureDifference(pair.name, "unreadable", why="this kind of picture is not compared")
    return None
