"""The frames of a picture: decoded one at a time, within a bounded memory."""

from __future__ import annotations

import io
from collections.abc import Generator
from dataclasses import dataclass

from PIL import ExifTags, Image, ImageOps, PngImagePlugin

from review_advisor.adapters.pictures.colours import colours
from review_advisor.adapters.pictures.deadline import Deadline, TooLargeError

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
    turned = image.getexif().get(ExifTags.Base.Orientation, 1) in range(2, 9)
    picture = ImageOps.exif_transpose(image) if turned else image  # it copies what is not turned
    if picture.mode.startswith("I"):  # sixteen bits of grey, which a plain conversion would cut off at 255
        picture = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return Frame(picture, told, timing)
