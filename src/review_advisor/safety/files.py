"""Files and folders of a user: bounded reads, and folders that git ignores."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

LARGEST = 100_000_000
"""Bytes of the largest text that a user may name, where nothing smaller is said."""

_STREAMS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts what it pipes into a command: such a pipe has an end."""

_IGNORE_ALL = b"*\n"


class UserFileError(Exception):
    """The file cannot be read. One sentence, without a full stop."""


def required_file(path: Path, most: int, refusal: type[Exception], named: str = "") -> bytes:
    """The bytes of a file without which nothing goes on. Raises ``refusal`` with a sentence that calls it ``named``."""
    try:
        return read_user_file(path, most)
    except UserFileError as problem:
        raise refusal(f"{named or path} cannot be read: {problem}.") from None


def read_user_file(path: Path, most: int) -> bytes:
    """The bytes of a file that has at most ``most``. Raises ``UserFileError``.

    A link is followed: it is the user who names the file. A named pipe or a device is refused and never waited for.
    """
    streams = str(path).startswith(_STREAMS)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if streams else os.O_NONBLOCK))
        with os.fdopen(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not (stat.S_ISREG(mode) or (streams and stat.S_ISFIFO(mode))):
                raise UserFileError("it is no file")
            data = file.read(most + 1)
    except OSError as error:
        raise UserFileError(str(error.strerror)) from None
    except ValueError as error:  # a name that no file can have
        raise UserFileError(str(error)) from None
    if len(data) > most:
        raise UserFileError(f"it is larger than {most:,} bytes")
    return data


def ignore_all(folder: Path) -> None:
    """Put a ``.gitignore`` there, in the place of whatever has its name. Raises ``OSError``.

    A change may bring a link under that name, which nothing is written through, or a file that ignores nothing.
    """
    path = folder / ".gitignore"
    if path.is_file() and not path.is_symlink() and path.read_bytes() == _IGNORE_ALL:
        return
    path.unlink(missing_ok=True)
    with suppress(FileExistsError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
            file.write(_IGNORE_ALL)
