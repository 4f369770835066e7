"""The recordings of an artefact folder: private files, one a run, deleted when they are too old."""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from review_advisor.lifetime.ignored_folder import ignore_all

RECORDINGS = ".recordings"
"""Begins with a dot: ``actions/upload-artifact`` leaves such folders out unless the workflow asks for them."""
_NAME = re.compile(r"run_[0-9A-Za-z_]+\.jsonl")
MOST_BYTES = 200_000_000
"""Of one recording."""


@dataclass(frozen=True, slots=True)
class KeptRecordings:
    """How many recordings there are, and their bytes. ``others_may_read``: the folder is open to other users."""

    recordings: int
    size: int
    others_may_read: bool


class RecordingFolder:
    """``<artefacts>/.recordings``, which only its owner can open. Files that are no recordings are left alone."""

    def __init__(self, artifacts: Path) -> None:
        self.path = artifacts / RECORDINGS

    def kept(self) -> KeptRecordings:
        """What is there."""
        sizes = [facts.st_size for _, facts in self._recordings()]
        return KeptRecordings(len(sizes), sum(sizes), bool(sizes) and bool(self.path.stat().st_mode & 0o077))

    def read(self, run: str) -> bytes:
        """The recording of the run whose id begins so. Raises ``LookupError``, and ``OSError`` if it cannot be read."""
        found = [path for path, _ in self._recordings() if path.name.startswith(run)]
        exact = [path for path in found if path.stem == run]
        match exact or found:
            case [path]:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                with os.fdopen(descriptor, "rb") as file:
                    return file.read()
            case []:
                raise LookupError(f"No recording in {self.path} is of a run {run!r}.")
            case more:
                raise LookupError(f"{len(more)} recordings are of runs that begin with {run!r}: give more of the id.")

    def prune(self, now: datetime, days: int) -> int:
        """Delete what was last written more than ``days`` ago; how many recordings that were."""
        oldest = (now - timedelta(days=days)).timestamp()
        gone = 0
        for path, facts in list(self._recordings()):
            if facts.st_mtime < oldest:
                with suppress(OSError):
                    path.unlink()
                    gone += 1
        return gone

    def make(self) -> None:
        """Make the folder, for its owner only. Raises ``OSError``."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._is_linked():
            raise OSError(0, "it is a symbolic link")
        self.path.mkdir(mode=0o700, exist_ok=True)
        self.path.chmod(0o700)
        ignore_all(self.path)

    def _is_linked(self) -> bool:
        return self.path.is_symlink() or self.path.parent.is_symlink()

    def _recordings(self) -> Iterator[tuple[Path, os.stat_result]]:
        if self._is_linked():
            return
        try:
            paths = sorted(self.path.iterdir())
        except OSError:
            return
        for path in paths:
            with suppress(OSError):
                facts = path.lstat()
                if _NAME.fullmatch(path.name) and stat.S_ISREG(facts.st_mode):
                    yield path, facts


class RecordingFile:
    """The recording of one run, line by line. Whatever goes wrong is one sentence to ``warn``; no more is recorded."""

    def __init__(self, folder: RecordingFolder, run_id: str, warn: Callable[[str], None]) -> None:
        self._path = folder.path / f"{run_id}.jsonl"
        self._warn = warn
        self._lock = threading.Lock()
        self._lines = 0
        self._descriptor: int | None = None
        try:
            folder.make()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor = os.open(self._path, flags, 0o600)
        except OSError as error:
            self._give_up(error)

    @property
    def is_open(self) -> bool:
        """Whether lines are still recorded."""
        return self._descriptor is not None

    def add(self, line: bytes) -> None:
        """Write a line, whole or not at all."""
        with self._lock:
            if self._descriptor is None:
                return
            before = os.lseek(self._descriptor, 0, os.SEEK_CUR)
            try:
                _write_all(self._descriptor, line, MOST_BYTES - before)
                self._lines += 1
            except OSError as error:
                with suppress(OSError):
                    os.ftruncate(self._descriptor, before)
                self.close()
                self._give_up(error)

    def close(self) -> None:
        """Close the file. One without a line is removed."""
        if self._descriptor is None:
            return
        os.close(self._descriptor)
        self._descriptor = None
        if not self._lines:
            with suppress(OSError):
                self._path.unlink()

    def _give_up(self, error: OSError) -> None:
        first = "call is" if self._lines == 1 else "calls are"
        had = f"Only its first {self._lines} {first}" if self._lines else "Nothing is"
        self._warn(f"This run cannot be recorded in {self._path.parent}: {error.strerror}. {had} recorded.")


def _write_all(descriptor: int, line: bytes, room: int) -> None:
    if len(line) > room:
        raise OSError(errno.EFBIG, "It would grow too large")
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
