"""Pairs of pictures, before and after, as facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from review_advisor.change.change import Change, FileChange
from review_advisor.change.kinds import PathRule

PictureState = Literal["identical", "differs", "added", "removed", "unreadable", "too_large", "vector"]
COMPARED = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"})
VECTOR = ".svg"
_NOT_COMPARED = frozenset({".apng", ".avif", ".heic", ".heif", ".ico", ".jxl", ".svgz", ".tif", ".tiff"})


@dataclass(frozen=True, slots=True)
class PictureDifference:
    """One pair of pictures, compared pixel by pixel before any model is asked."""

    name: str
    """The picture's path in the repository."""
    state: PictureState
    changed_pixels: int = 0
    crops: tuple[str, ...] = ()
    """Lossless files of the gallery that show what differs, named by the picture's key, a dash and the place."""
    why: str = ""
    """What must be known beside the state."""
    partly: bool = False
    """The crops do not show all that differs."""

    @property
    def unread(self) -> bool:
        """Whether something of it can be seen by nobody: such a picture is never approved."""
        return self.partly or self.state in ("unreadable", "too_large")


def is_picture(path: str) -> bool:
    """Whether a file of this name is a picture, compared here or not."""
    return _suffix(path) in {*COMPARED, *_NOT_COMPARED, VECTOR}


def is_compared(path: str) -> bool:
    """Whether pictures of this name are compared pixel by pixel."""
    return _suffix(path) in COMPARED


def is_vector(path: str) -> bool:
    """Whether a file of this name is text that draws."""
    return _suffix(path) == VECTOR


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def changed_pictures(change: Change, globs: tuple[str, ...]) -> tuple[FileChange, ...]:
    """The changed files under ``globs`` whose name on either side is a picture's."""
    if not globs:
        return ()
    rule = PathRule(globs)
    return tuple(file for file in change.files if rule.touched_by((file,)) and any(map(is_picture, file.paths)))


def judged_pictures(pictures: Sequence[PictureDifference]) -> tuple[PictureDifference, ...]:
    """Those that agents are shown."""
    return tuple(picture for picture in pictures if picture.crops)
