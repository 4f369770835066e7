"""The user's working folder, entered without following links."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkFolder:
    """One folder below ``root``, which itself is trusted."""

    def __init__(self, root: Path, folder: str) -> None:
        self._root = root
        self._folder = PurePosixPath(folder).parts

    def read(self, name: str, most: int) -> bytes | str:
        """The first ``most`` bytes of a regular file, or why there are none."""
        *folders, last = (*self._folder, *PurePosixPath(name).parts)
        try:
            with self._opened(tuple(folders)) as folder:
                handle = os.open(last, _READ, dir_fd=folder)
                with os.fdopen(handle, "rb") as file:
                    if not stat.S_ISREG(os.fstat(handle).st_mode):
                        return "it is no regular file"
                    return file.read(most)
        except OSError as error:
            return f"it is a symbolic link or cannot be opened: {error.strerror}"

    def store(self, name: str, text: str) -> str | None:
        """Store a new file, making the folder where it is missing. None when it stands, else why it does not.

        It stands whole or not at all: it is written under another name, and linked to its own only then.
        """
        return self._write(
            name,
            text,
            lambda part, folder: os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False),
        )

    def replace(self, name: str, text: str) -> str | None:
        """The same, also in the place of a file of that name, which is the old one or the new one at any moment."""
        return self._write(
            name, text, lambda part, folder: os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        )

    def _write(self, name: str, text: str, settle: Callable[[str, int], None]) -> str | None:
        part = f".{name}.{secrets.token_hex(4)}.part"
        try:
            with self._opened(self._folder, make=True) as folder:
                handle = os.open(part, _NEW, 0o666, dir_fd=folder)
                try:
                    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                        file.write(text)
                    settle(part, folder)
                finally:
                    with suppress(FileNotFoundError):
                        os.unlink(part, dir_fd=folder)
        except FileExistsError:
            return "a file of that name is there already"
        except OSError as error:
            return f"the folder cannot be written to: {error.strerror}"
        return None

    @contextmanager
    def _opened(self, steps: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        handle = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for step in steps:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(step, 0o777, dir_fd=handle)
                inner = os.open(step, _DIRECTORY, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)


class NoFolder:
    """There is no working folder to store in, or none is configured; ``why`` is a phrase."""

    def __init__(self, why: str = "the change comes without a working folder") -> None:
        self._why = why

    def store(self, name: str, text: str) -> str | None:
        """Never stored."""
        del name, text
        return self._why
