"""Folders of ours that git ignores by themselves."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_ALL = b"*\n"


def ignore_all(folder: Path) -> None:
    """Put a ``.gitignore`` there, in the place of whatever has its name. Raises ``OSError``.

    A change may bring a link under that name, which nothing is written through, or a file that ignores nothing.
    """
    path = folder / ".gitignore"
    if path.is_file() and not path.is_symlink() and path.read_bytes() == _ALL:
        return
    path.unlink(missing_ok=True)
    with suppress(FileExistsError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
            file.write(_ALL)
