"""The one door to child processes and temporary folders: whatever goes through it ends with this process.

Children carry the name of this process in their environment and its temporary folders lie in a folder of that name,
so that whoever knows the name finds all of them, also after this process was killed.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from review_advisor.core.roles.calls import Receipt, ReviewInterrupted
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.lifetime.processes import OWNER, kill_marked, process

PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
TimeoutExpired = subprocess.TimeoutExpired
_PREFIX = "review-advisor-"
_NAME = re.compile("[0-9a-f]{16}")
_making = threading.Lock()
_elsewhere: set[Path] = set()


@cache
def own_name() -> str:
    """The name of this process: random, and in no argument list."""
    return secrets.token_hex(8)


os.register_at_fork(after_in_child=own_name.cache_clear)  # or each would kill what belongs to the other


def check_interrupt(receipt: Receipt | None = None) -> None:
    """Raise ``ReviewInterrupted`` once this process was told to end, with what the last call has used."""
    if INTERRUPTION.number:
        raise ReviewInterrupted("The review was interrupted.", receipt, INTERRUPTION.number)


# --- children ---------------------------------------------------------------------------------------------------------


class Child(subprocess.Popen[bytes]):
    """A child process. As a context manager it is gone at the end of the block.

    Whatever was raised in the block is an interrupt if there was one: the child was ended, and told half.
    """

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.kill()
        super().__exit__(kind, error, at)
        if error is not None:
            check_interrupt()


@dataclass(frozen=True, slots=True)
class Done:
    """A child that has ended: its exit code, negative for a signal, and both outputs."""

    code: int
    stdout: bytes
    stderr: bytes


def start(
    argv: Sequence[str],
    environment: Mapping[str, str],
    cwd: Path,
    *,
    stdin: IO[bytes] | int = PIPE,
    stderr: int = PIPE,
    **more: Any,
) -> Child:
    """Start a child in a session of its own. Raises ``OSError``, and ``ReviewInterrupted`` once none may start."""
    INTERRUPTION.first_belonging(_clear_away_own)
    with INTERRUPTION.starting:
        check_interrupt()
        child = Child(
            list(argv),
            env={**environment, OWNER: own_name()},
            cwd=cwd,
            stdin=stdin,
            stdout=PIPE,
            stderr=stderr,
            start_new_session=True,
            **more,
        )
        INTERRUPTION.add_child(child)
    return child


def run(
    argv: Sequence[str], environment: Mapping[str, str], cwd: Path, *, stdin: bytes = b"", seconds: float | None = None
) -> Done:
    """Run a child to its end.

    Raises ``OSError`` where it cannot be started, ``TimeoutError`` where it does not end within so many seconds, and
    ``ReviewInterrupted``.
    """
    with start(argv, environment, cwd) as child:
        try:
            stdout, stderr = child.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{argv[0]} took too long") from None
    check_interrupt()
    return Done(child.returncode, stdout, stderr)


# --- temporary folders ------------------------------------------------------------------------------------------------


def folder_of(name: str) -> Path:
    """Where the temporary folders of the process of this name lie. Raises ``ValueError`` for what is no name."""
    if not _NAME.fullmatch(name):
        raise ValueError(name)
    return Path(tempfile.gettempdir()) / f"{_PREFIX}{name}"


def make_folder(kind: str, within: Path | None = None) -> Path:
    """A new private folder, under ``within`` if that is given. Raises ``OSError``."""
    INTERRUPTION.first_belonging(_clear_away_own)
    if within is not None:
        made = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-", dir=within)).resolve()
        _elsewhere.add(made)
        return made
    with _making:
        root = folder_of(own_name())
        with suppress(FileExistsError):
            root.mkdir(mode=0o700)
        if not _is_own_folder(root):
            raise FileExistsError(0, "something else is there", str(root))
        return Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=root)).resolve()


def remove_folder(folder: Path) -> None:
    """Remove what ``make_folder`` made, also where parts of it are read-only; as far as that is possible."""
    _remove(folder)
    _elsewhere.discard(folder)
    with _making, suppress(OSError):  # others may lie beside it
        folder_of(own_name()).rmdir()


@contextmanager
def temporary_folder(kind: str, within: Path | None = None) -> Iterator[Path]:
    """The same, removed at the end of the block."""
    folder = make_folder(kind, within)
    try:
        yield folder
    finally:
        remove_folder(folder)


def clear_away(name: str) -> None:
    """Remove the temporary folders of the process of this name.

    Only a real folder of this user, directly below the present folder for temporary files, is removed.
    """
    with suppress(FileNotFoundError):  # no folder for temporary files can be written to
        root = folder_of(name)
        if _is_own_folder(root):
            _remove(root)


def _clear_away_own() -> None:
    own = process(os.getpid())
    kill_marked(own_name(), own.started if own else 0)
    clear_away(own_name())
    for folder in tuple(_elsewhere):
        _remove(folder)


def _is_own_folder(path: Path) -> bool:
    try:
        facts = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid()


def _remove(folder: Path) -> None:
    """No link is followed, and no depth is too much."""
    ahead, found = [folder], list[Path]()
    while ahead:
        place = ahead.pop()
        found.append(place)
        with suppress(OSError):
            place.chmod(0o700)
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        ahead.append(Path(entry.path))
                    else:
                        Path(entry.path).unlink(missing_ok=True)
    for place in reversed(found):
        with suppress(OSError):
            place.rmdir()
