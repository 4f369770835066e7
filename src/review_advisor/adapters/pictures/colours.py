"""What a file says of how its pixels are to look: its colour profile, and whatever else stands for one."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from PIL import Image

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
    told = [(kind, data) for kind, data in _png_chunks(content) if kind in _CHUNKS]
    if all(kind == b"sRGB" or data == _SRGB_CHUNKS.get(kind) for kind, data in told):
        return ()
    if profile and sum(kind == b"iCCP" for kind, _ in told) == 1:  # however it is compressed
        told = [(kind, profile if kind == b"iCCP" else data) for kind, data in told]
    return tuple(told)


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
