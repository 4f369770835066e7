"""The frames of a picture: decoded one at a time within a bounded memory, and kept on disk until the other side is."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from PIL import ExifTags, Image, PngImagePlugin

from review_advisor.adapters.pictures.colours import colours
from review_advisor.adapters.pictures.deadline import Deadline, TooLargeError
from review_advisor.ports.review import SourceError

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
PIECE = 1_024
"""Pixels are compared, and kept on disk, in squares of this side."""
# Pillow needs up to 4 bytes a pixel for PNG, BMP and GIF, 12 for a progressive JPEG, 13 for frames that build on one
# another, and 16 for WebP: each limit keeps one comparison below 150 MB.
_MOST_PIXELS = {"PNG": MOST_PIXELS, "BMP": MOST_PIXELS, "GIF": MOST_PIXELS, "JPEG": MOST_PIXELS_JPEG}
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
_RGBA = 4
PngImagePlugin.MAX_TEXT_MEMORY = MOST_BESIDE

Box = tuple[int, int, int, int]
Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame. ``part`` cuts a box out of it, in RGBA at eight bits a channel, turned as the EXIF data says.

    What of a box lies outside the frame is transparent. ``colours`` and ``timing`` are what changes how the same pixels
    look.
    """

    size: Size
    part: Callable[[Box], Image.Image]
    colours: tuple[object, ...]
    timing: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Turn:
    """What EXIF asks for: the source is mirrored along an axis, or both, and then perhaps read by columns."""

    method: Image.Transpose
    columns: bool = False
    left_right: bool = False
    top_bottom: bool = False

    def source(self, box: Box, size: Size) -> Box:
        """Where a box of the turned picture lies in the source of this size."""
        left, top, right, bottom = box
        if self.columns:
            left, top, right, bottom = top, left, bottom, right
        if self.left_right:
            left, right = size[0] - right, size[0] - left
        if self.top_bottom:
            top, bottom = size[1] - bottom, size[1] - top
        return left, top, right, bottom


_TURNS = {
    2: _Turn(Image.Transpose.FLIP_LEFT_RIGHT, left_right=True),
    3: _Turn(Image.Transpose.ROTATE_180, left_right=True, top_bottom=True),
    4: _Turn(Image.Transpose.FLIP_TOP_BOTTOM, top_bottom=True),
    5: _Turn(Image.Transpose.TRANSPOSE, columns=True),
    6: _Turn(Image.Transpose.ROTATE_270, columns=True, top_bottom=True),
    7: _Turn(Image.Transpose.TRANSVERSE, columns=True, left_right=True, top_bottom=True),
    8: _Turn(Image.Transpose.ROTATE_90, columns=True, left_right=True),
}


def pieces(size: Size, touching: Box | None = None) -> Iterator[Box]:
    """The squares that a picture of this size is worked on in, row by row, or those of them that touch a box."""
    box = _shared(touching or (0, 0, *size), (0, 0, *size)) or (0, 0, 0, 0)
    for top in range(box[1] // PIECE * PIECE, box[3], PIECE):
        for left in range(box[0] // PIECE * PIECE, box[2], PIECE):
            yield left, top, min(size[0], left + PIECE), min(size[1], top + PIECE)


def frames(content: bytes | None, deadline: Deadline) -> Iterator[Frame]:
    """Each frame of a picture, none for None. A frame's pixels can be had until the next one is asked for.

    Raises ``TooLargeError``, what ``deadline`` raises, and whatever Pillow raises for damage.
    """
    if content is None:
        return
    pixels = 0
    file = _Watched(content, deadline)
    with Image.open(file, formats=_FORMATS) as image:
        _check_file(image, content, file.tell())
        told = colours(image, content)
        for number in range(MOST_FRAMES + 1):
            if number and not _has(image, number):
                return
            _check_size(image)
            pixels += image.width * image.height
            if number == MOST_FRAMES or pixels > MOST_PIXELS_OF_ALL_FRAMES:
                raise TooLargeError(f"more than {MOST_FRAMES} frames, or too many pixels in them")
            yield _decoded(image, told)


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


def _decoded(image: Image.Image, told: tuple[object, ...]) -> Frame:
    timing = (image.info.get("duration"), image.info.get("loop"))
    image.load()
    turn = _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 1))
    size = (image.height, image.width) if turn is not None and turn.columns else image.size
    return Frame(size, partial(_part, image, turn, size), told, timing)


def _part(image: Image.Image, turn: _Turn | None, size: Size, box: Box) -> Image.Image:
    inner = _shared(box, (0, 0, *size))
    if inner == box:
        return _inner_part(image, turn, box)
    part = Image.new("RGBA", _size(box))
    part.info = dict(image.info)
    if inner is not None:
        part.paste(_inner_part(image, turn, inner), _within(inner, box)[:2])
    return part


def _inner_part(image: Image.Image, turn: _Turn | None, box: Box) -> Image.Image:
    part = image.crop(box) if turn is None else image.crop(turn.source(box, image.size)).transpose(turn.method)
    if part.mode.startswith("I"):  # sixteen bits of grey, which a plain conversion would cut off at 255
        part = part.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return part.convert("RGBA")


class KeptFrames:
    """Frames as raw pixels in a file, so that no two decoded pictures are in memory at the same time.

    Raises ``SourceError`` if the file, opened without a buffer, cannot be written or read.
    """

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._end = 0

    def keep(self, decoded: Iterable[Frame]) -> list[Frame]:
        """The same frames, their pixels read from the file."""
        return [self._kept(frame) for frame in decoded]

    def _kept(self, frame: Frame) -> Frame:
        start, profile = self._end, None
        for box in pieces(frame.size):
            piece = frame.part(box)
            profile = piece.info.get("icc_profile")  # what is no pixel and still goes into a crop
            self._append(piece.tobytes())
        return Frame(frame.size, partial(self._part, start, frame.size, profile), frame.colours, frame.timing)

    def _append(self, raw: bytes) -> None:
        left = memoryview(raw)
        try:
            self._file.seek(self._end)
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise _not_kept(error) from None
        self._end += len(raw)

    def _part(self, start: int, size: Size, profile: bytes | None, box: Box) -> Image.Image:
        part = Image.new("RGBA", _size(box))
        part.info = {"icc_profile": profile}
        for piece in pieces(size, box):
            if (shared := _shared(box, piece)) is not None:
                part.paste(self._piece(start, size, piece).crop(_within(shared, piece)), _within(shared, box)[:2])
        return part

    def _piece(self, start: int, size: Size, piece: Box) -> Image.Image:
        left, top, right, bottom = piece
        pixels_before = top * size[0] + left * (bottom - top)
        try:
            self._file.seek(start + pixels_before * _RGBA)
            raw = self._file.read((right - left) * (bottom - top) * _RGBA)
        except OSError as error:
            raise _not_kept(error) from None
        return Image.frombytes("RGBA", _size(piece), raw)


def _size(box: Box) -> Size:
    return box[2] - box[0], box[3] - box[1]


def _shared(one: Box, other: Box) -> Box | None:
    """What both boxes cover."""
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[2], other[2]), min(one[3], other[3])
    return (left, top, right, bottom) if left < right and top < bottom else None


def _within(box: Box, outer: Box) -> Box:
    """The box as seen from the outer one's corner."""
    return box[0] - outer[0], box[1] - outer[1], box[2] - outer[0], box[3] - outer[1]


def _not_kept(error: OSError) -> SourceError:
    return SourceError(f"A picture cannot be kept while it is compared: {error.strerror}.")
