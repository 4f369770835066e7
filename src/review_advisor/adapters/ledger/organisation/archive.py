"""A ledger out of the archive of an artifact, which anybody may have made: nothing in it chooses a path or a size."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from pathlib import Path

from review_advisor.core.ledger.chain import LEDGER_FILE, LedgerError

MOST_PACKED = 64 * 1024**2
"""Bytes of the largest archive."""
MOST_UNPACKED = 256 * 1024**2
"""Bytes of all its files: four times the events of the largest run."""
MOST_RATIO = 200
"""An empty ledger, which is mostly zeros, unpacks to some forty times its archive; a bomb to a thousand times."""
_ALWAYS = 1024**2
"""So much may come out of the smallest archive."""
_NAME = LEDGER_FILE.rpartition("/")[2]
_LOG = f"{_NAME}-wal"
_TAKEN = (_NAME, _LOG)
"""What is written: the file, and what a killed run left beside it."""
_NAMES = frozenset({*_TAKEN, f"{_NAME}-shm"})
_END = struct.Struct("<4s4H2LH")
"""The record at the end of an archive: mark, disks, counts of entries, the list's length and place, a comment."""
_MOST_LIST = 4_096
_LARGER = b"PK\x06\x07"
_CHUNK = 1 << 16
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Whatever else an archive can be packed by unpacks a chunk of any size at once."""


class RefusedArtifact(LedgerError):  # noqa: N818 (what was done with it)
    """An artifact is not what the action uploads, or not this repository's. A clause for the user."""


def unpack_ledger(archive: bytes, folder: Path) -> Path:
    """Write the ledger of an archive into an empty folder; its file. Raises ``RefusedArtifact``."""
    if len(archive) > MOST_PACKED:
        raise RefusedArtifact(f"its archive is larger than {MOST_PACKED // 1024**2} MB")
    _refuse_long_list(archive)
    left = min(MOST_UNPACKED, _ALWAYS + MOST_RATIO * len(archive))
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = opened.infolist()
            for member in members:
                _refuse_member(member)
            names = [member.filename for member in members]
            if len(set(names)) < len(names) or _NAME not in names:
                raise RefusedArtifact(f"its archive does not hold one {_NAME}")
            for member in members:
                if member.filename in _TAKEN:
                    left = _unpack(opened, member, folder / member.filename, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError):
        raise RefusedArtifact("its archive cannot be read") from None
    except OSError as error:
        raise LedgerError(f"The archive of a ledger cannot be unpacked in {folder}: {error.strerror}.") from None
    return folder / _NAME


def _refuse_long_list(archive: bytes) -> None:
    """Refuse an archive with a long list before anything reads it: entries take memory, and 64 MB hold a million."""
    place = archive.rfind(b"PK\x05\x06")
    if place < 0 or len(archive) < place + _END.size:
        raise RefusedArtifact("it is no archive")
    _, _, _, _, entries, length, _, _ = _END.unpack_from(archive, place)
    if entries > len(_NAMES) or length > _MOST_LIST or archive[max(place - 20, 0) :].startswith(_LARGER):
        raise RefusedArtifact("its archive holds more than a ledger")


def _refuse_member(member: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if member.orig_filename not in _NAMES or member.filename not in _NAMES:
        raise RefusedArtifact("its archive holds another file than a ledger")
    if kind not in (0, stat.S_IFREG):
        raise RefusedArtifact(f"{member.filename} in its archive is a link, or no file")
    if member.flag_bits & 0x1:
        raise RefusedArtifact("its archive is encrypted")
    if member.compress_type not in _PACKED:
        raise RefusedArtifact("its archive is packed in a way that is not the action's")


def _unpack(opened: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, left: int) -> int:
    """Write one file; how many bytes may still be unpacked after it."""
    with opened.open(member) as stream, path.open("xb") as file:
        while chunk := stream.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise RefusedArtifact("its archive unpacks to more than a ledger of its size can be")
            file.write(chunk)
    return left
