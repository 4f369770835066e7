"""Two pictures compared pixel by pixel, and cropped where they differ."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import reduce
from itertools import zip_longest
from pathlib import Path

from PIL import ExifTags, Image, ImageChops, ImageOps, PngImagePlugin

from review_advisor.change.change import SourceError
from review_advisor.change.picture_deadline import Deadline, TooLargeError
from review_advisor.change.picture_pairs import PictureDifference, PictureState

# https://www.w3.org/TR/png-3/#11addnlcolinfo. What says no more than sRGB looks like a file that says nothing.
_SRGB_CHUNKS = {
    b"cHRM": struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000),
    b"cICP": bytes((1, 13, 0, 1)),
    b"gAMA": struct.pack(">I", 45455),
}

_CHUNKS = frozenset({*_SRGB_CHUNKS, b"cLLI", b"iCCP", b"mDCV", b"sRGB"})
_JPEG_PROFILE = b"ICC_PROFILE\0"
_GIF_PROFILE = b"ICCRGBG1"
_BMP_V4 = 108

_BMP_PLAIN = (b"BGRs", b" niW")
"""The colour spaces of a BMP file that mean sRGB, as the file writes them."""


def colours(image: Image.Image, content: bytes) -> tuple[object, ...]:
    """What differs between two files whose same pixels may look different; empty for plain sRGB.

    ``image`` is ``content``, opened. Two files of different formats that both bring a profile may count as different.
    """
    match image.format:
        case "PNG":
            return _png_colours(content, image.info.get("icc_profile"))
        case "JPEG" | "MPO":  # by the segments: Pillow drops a profile whose parts are numbered wrongly, others do not
            return tuple(part for _, part in getattr(image, "applist", ()) if part.startswith(_JPEG_PROFILE))
        case "BMP":
            return _bmp_colours(content)
        case "GIF":
            return (content,) if _GIF_PROFILE in content else ()
        case _:
            profile = image.info.get("icc_profile")
            return (profile,) if profile else ()


def _png_colours(content: bytes, profile: bytes | None) -> tuple[object, ...]:
    chunks = [(kind, data) for kind, data in _png_chunks(content) if kind in _CHUNKS]
    if all(kind == b"sRGB" or data == _SRGB_CHUNKS.get(kind) for kind, data in chunks):
        return ()
    if profile and sum(kind == b"iCCP" for kind, _ in chunks) == 1:  # however it is compressed
        chunks = [(kind, profile if kind == b"iCCP" else data) for kind, data in chunks]
    return tuple(chunks)


def _png_chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while len(header := content[at : at + 8]) == 8:  # noqa: PLR2004 (a chunk's length and kind)
        length = int.from_bytes(header[:4], "big")
        yield header[4:], content[at + 8 : at + 8 + length] if header[4:] in _CHUNKS else b""
        at += length + 12


def _bmp_colours(content: bytes) -> tuple[object, ...]:
    """All of a file that is calibrated or has a profile: with other bytes, it may look different."""
    header = content[14 : 14 + int.from_bytes(content[14:18], "little")]
    return (content,) if len(header) >= _BMP_V4 and header[56:60] not in _BMP_PLAIN else ()


MOST_PIXELS = 16_000_000
MOST_PIXELS_JPEG = 9_000_000

MOST_PIXELS_HEAVY = 5_000_000
"""For WebP and for moving pictures."""

MOST_PIXELS_OF_ALL_FRAMES = 64_000_000
MOST_FRAMES = 100

MOST_SCANS = 100
"""In a JPEG file, which is decoded in one step however often it repeats itself. Encoders make about ten."""

MOST_READS = 500_000
"""In one file: Pillow reads each chunk, segment or block on its own, and may keep something of each."""

MOST_BESIDE = 4_000_000
"""Bytes of a file before its pixels, or of its text once that is unpacked: all of it is kept in memory."""

# Pillow needs up to 4 bytes a pixel for PNG, BMP and GIF, 12 for a progressive JPEG, 13 for frames that build on one
# another, and 16 for WebP: each limit keeps one comparison, of both sides at once, below 150 MB.
_MOST_PIXELS = {"PNG": MOST_PIXELS, "BMP": MOST_PIXELS, "GIF": MOST_PIXELS, "JPEG": MOST_PIXELS_JPEG}

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
PngImagePlugin.MAX_TEXT_MEMORY = MOST_BESIDE
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, turned as the EXIF data says; ``colours`` and ``timing`` are what changes how the same pixels look."""

    picture: Image.Image
    colours: tuple[object, ...]
    timing: tuple[object, ...]

    def part(self, box: Box) -> Image.Image:
        """A box of it in RGBA at eight bits a channel; what lies outside the frame is transparent."""
        is_inside = box[2] <= self.picture.width and box[3] <= self.picture.height
        picture = self.picture if is_inside else self.picture.convert("RGBA")
        return picture.crop(box).convert("RGBA")


def frames(content: bytes | None, deadline: Deadline) -> Generator[Frame, None, None]:
    """Each frame of a picture, none for None. A frame's pixels can be had until the next one is asked for.

    Raises ``TooLargeError``, what ``deadline`` raises, and whatever Pillow raises for damage.
    """
    if content is None:
        return
    pixels = 0
    file = _Watched(content, deadline)
    with Image.open(file, formats=_FORMATS) as image:
        _check_file(image, content, file.tell())
        chunks = colours(image, content)
        for number in range(MOST_FRAMES + 1):
            if number and not _has(image, number):
                return
            _check_size(image)
            pixels += image.width * image.height
            if number == MOST_FRAMES or pixels > MOST_PIXELS_OF_ALL_FRAMES:
                raise TooLargeError(f"more than {MOST_FRAMES} frames, or too many pixels in them")
            yield _decoded(image, chunks)


class _Watched(io.BytesIO):
    """A file's content. Whenever more of it is read, the deadline is checked, and the reads are counted."""

    def __init__(self, content: bytes, deadline: Deadline) -> None:
        super().__init__(content)
        self._deadline = deadline
        self._reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self._deadline.check()
        self._reads += 1
        if self._reads > MOST_READS:
            raise TooLargeError("a file of too many small parts")
        return super().read(size)


def _check_file(image: Image.Image, content: bytes, pixels_at: int) -> None:
    if image.format != "WEBP" and pixels_at > MOST_BESIDE:  # whose whole file is read at once
        raise TooLargeError(f"more than {MOST_BESIDE // 1_000_000} MB before its pixels")
    # A scan's marker, wherever it stands: what is none of one is counted too, and no scan is missed.
    if image.format in ("JPEG", "MPO") and content.count(b"\xff\xda") > MOST_SCANS:
        raise TooLargeError(f"more than {MOST_SCANS} scans, the most in a JPEG file")


def _has(image: Image.Image, frame: int) -> bool:
    try:
        image.seek(frame)
    except EOFError:
        return False
    return True


def _check_size(image: Image.Image) -> None:
    pixels = image.width * image.height
    if pixels > MOST_PIXELS:
        raise TooLargeError(f"more than {MOST_PIXELS} pixels")
    most = _MOST_PIXELS.get(image.format or "", MOST_PIXELS_HEAVY)
    if pixels > most:
        raise TooLargeError(f"more than {most} pixels, the most in a {image.format} file")
    if pixels > MOST_PIXELS_HEAVY and getattr(image, "is_animated", False):
        raise TooLargeError(f"more than {MOST_PIXELS_HEAVY} pixels, the most in a moving picture")


def _decoded(image: Image.Image, colours: tuple[object, ...]) -> Frame:
    timing = (image.info.get("duration"), image.info.get("loop"))
    image.load()
    turned = image.getexif().get(ExifTags.Base.Orientation, 1) in range(2, 9)
    picture = ImageOps.exif_transpose(image) if turned else image  # it copies what is not turned
    if picture.mode.startswith("I"):  # sixteen bits of grey, which a plain conversion would cut off at 255
        picture = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return Frame(picture, colours, timing)


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
        for side, picture in sides.items():
            if picture is None:
                continue
            crop = picture.part(box)
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
            places, hidden = _places(mask, min(MOST_PLACES, gallery.places) - found.places)
            found.places += len(places)
            found.hidden += hidden
            for box in places:
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
    heaviest = by_weight[: max(0, most)]
    return sorted(heaviest, key=lambda box: (box[1], box[0])), len(boxes) - len(heaviest)


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
