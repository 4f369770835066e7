"""Two pictures, frame by frame and pixel by pixel, and lossless crops of the places that differ."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import reduce
from itertools import zip_longest
from pathlib import Path

from PIL import Image, ImageChops

from review_advisor.adapters.pictures.deadline import Deadline, TooLargeError
from review_advisor.adapters.pictures.frames import MOST_PIXELS, Box, Frame, frames
from review_advisor.core.facts.pictures import PictureDifference, PictureState
from review_advisor.ports.review import SourceError

MOST_PLACES = 12
LONGEST_SIDE = 1_000
MARGIN = 24
_FINE, _COARSE = 8, 4
_ROWS = 16
"""So many rows are compared at a time: what lies between two pictures takes no room of its own."""
_CELL = _FINE * _COARSE
"""Differing pixels in neighbouring squares of this size are one place."""
_DAMAGED = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    EOFError,
    struct.error,
    zlib.error,
)
"""What Pillow raises for bytes that are no sound picture."""


@dataclass(frozen=True, slots=True)
class Gallery:
    """Where the crops of one picture go, at most ``places`` of them; their names begin with ``key`` and a dash."""

    folder: Path
    key: str
    places: int

    def add(self, frame: int, box: Box, sides: dict[str, Frame | None]) -> Iterator[str]:
        """Store the same box of each side there is; their names."""
        for side, shown in sides.items():
            if shown is None:
                continue
            crop = shown.part(box)
            if crop.getchannel("A").getextrema() == (255, 255):
                crop = crop.convert("RGB")
            name = f"{self.key}-f{frame}-x{box[0]}-y{box[1]}-{side}.png"
            try:
                crop.save(self.folder / name, "PNG")
            except OSError as error:
                raise SourceError(f"A crop of a picture cannot be written: {error.strerror}.") from None
            yield name


@dataclass(slots=True)
class _Found:
    """What a comparison has found so far. ``hidden``: places that differ and are not shown."""

    changed: int = 0
    frames: int = 0
    places: int = 0
    hidden: int = 0
    looks_differ: bool = False
    notes: list[str] = field(default_factory=list)
    crops: list[str] = field(default_factory=list)


def compare(
    name: str, before: bytes | None, after: bytes | None, gallery: Gallery, deadline: Deadline
) -> PictureDifference:
    """Compare two pictures of which one may be missing; their crops go to ``gallery``.

    Pixels count at eight bits a channel, turned as the EXIF data says. Takes less than 150 MB of memory whatever the
    pictures are, and checks ``deadline`` at every step: what that raises of its own goes up. Raises ``SourceError`` if
    a crop cannot be written.
    """
    state: PictureState = "unreadable"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Pillow warns of is found out here: sizes and damage
            return _compared(name, before, after, gallery, deadline)
    except TooLargeError as limit:
        state, why = "too_large", str(limit)
    except Image.DecompressionBombError:
        state, why = "too_large", f"more than {MOST_PIXELS} pixels"
    except _DAMAGED as damage:
        why = f"damaged, or not what its name says ({type(damage).__name__})"
    for half in gallery.folder.glob(f"{gallery.key}-*"):  # the frames before the one that failed
        half.unlink()
    return PictureDifference(name, state, why=why)


def _compared(
    name: str, before: bytes | None, after: bytes | None, gallery: Gallery, deadline: Deadline
) -> PictureDifference:
    with closing(frames(before, deadline)) as old, closing(frames(after, deadline)) as new:
        found = _found(old, new, gallery, deadline)
    return _difference(name, _state(before, after, differs=bool(found.changed) or found.looks_differ), found)


def _found(before: Iterable[Frame], after: Iterable[Frame], gallery: Gallery, deadline: Deadline) -> _Found:
    found = _Found()
    timing: list[tuple[object, object]] = []
    for old, new in zip_longest(before, after):
        found.frames += 1
        mask = _mask(old, new)
        differing = mask.histogram()[255]
        if old is not None and new is not None:
            timing.append((old.timing, new.timing))
            found.looks_differ |= old.colours != new.colours
            if old.picture.size != new.picture.size and not found.notes:
                found.notes.append("{}x{} became {}x{}".format(*old.picture.size, *new.picture.size))
        if differing:
            found.changed += differing
            shown, hidden = _places(mask, min(MOST_PLACES, gallery.places) - found.places)
            found.places += len(shown)
            found.hidden += hidden
            for box in shown:
                deadline.check()
                found.crops += gallery.add(found.frames, box, {"before": old, "after": new})
    found.looks_differ |= len(timing) > 1 and any(old != new for old, new in timing)
    return found


def _state(before: bytes | None, after: bytes | None, *, differs: bool) -> PictureState:
    if before is None:
        return "added"
    if after is None:
        return "removed"
    return "differs" if differs else "identical"


def _difference(name: str, state: PictureState, found: _Found) -> PictureDifference:
    notes = list(found.notes)
    if found.frames > 1 and state != "identical":
        notes.append(f"animated, {found.frames} frames")
    if found.looks_differ:
        notes.append("its colour profile or timing differs, which no crop can show")
    if found.hidden:
        notes.append(f"{found.hidden} more places are not shown")
    partly = bool(found.hidden) or found.looks_differ
    return PictureDifference(name, state, found.changed, tuple(found.crops), "; ".join(notes), partly)


def _mask(old: Frame | None, new: Frame | None) -> Image.Image:
    """White where the two differ; what only one of them covers differs."""
    sizes = [frame.picture.size for frame in (old, new) if frame is not None]
    mask = Image.new("L", (max(width for width, _ in sizes), max(height for _, height in sizes)), 255)
    if old is not None and new is not None:
        width, height = (min(side) for side in zip(*sizes, strict=True))
        for top in range(0, height, _ROWS):
            box = (0, top, width, min(height, top + _ROWS))
            bands = ImageChops.difference(old.part(box), new.part(box)).split()
            mask.paste(_black_or_white(reduce(ImageChops.lighter, bands)), box[:2])
    return mask


def _black_or_white(grey: Image.Image) -> Image.Image:
    return grey.point([0] + [255] * 255)


def _places(mask: Image.Image, most: int) -> tuple[list[Box], int]:
    """The boxes to show, in reading order, and how many more there are."""
    boxes = [tile for box in _regions(mask) for tile in _tiles(mask, box)]
    if len(boxes) > most:
        boxes = min(boxes, list(_tiles(mask, (0, 0, *mask.size))), key=len)
    by_weight = sorted(boxes, key=lambda box: -mask.crop(box).histogram()[255])
    shown = by_weight[: max(0, most)]
    return sorted(shown, key=lambda box: (box[1], box[0])), len(boxes) - len(shown)


def _regions(mask: Image.Image) -> Iterator[Box]:
    """Boxes around what differs, with a margin; near places are one."""
    cells = _black_or_white(mask.reduce(_FINE)).reduce(_COARSE)
    width, height = cells.size
    open_cells = {at for at, value in enumerate(cells.tobytes()) if value}
    while open_cells:
        ahead = [open_cells.pop()]
        columns, rows = set(), set()
        while ahead:
            row, column = divmod(ahead.pop(), width)
            columns.add(column)
            rows.add(row)
            near = {
                y * width + x
                for y in range(max(0, row - 1), min(height, row + 2))
                for x in range(max(0, column - 1), min(width, column + 2))
            }
            ahead += near & open_cells
            open_cells -= near
        around = (min(columns) * _CELL, min(rows) * _CELL, (max(columns) + 1) * _CELL, (max(rows) + 1) * _CELL)
        yield _tight(mask, around)


def _tight(mask: Image.Image, around: Box) -> Box:
    left, top = around[:2]
    inner = mask.crop(around).getbbox() or (0, 0, _CELL, _CELL)
    return (
        max(0, left + inner[0] - MARGIN),
        max(0, top + inner[1] - MARGIN),
        min(mask.width, left + inner[2] + MARGIN),
        min(mask.height, top + inner[3] + MARGIN),
    )


def _tiles(mask: Image.Image, box: Box) -> Iterator[Box]:
    """The box in pieces that an agent gets to see unscaled, those without a difference left out."""
    for top in range(box[1], box[3], LONGEST_SIDE):
        for left in range(box[0], box[2], LONGEST_SIDE):
            tile = (left, top, min(box[2], left + LONGEST_SIDE), min(box[3], top + LONGEST_SIDE))
            if mask.crop(tile).getbbox():
                yield tile
