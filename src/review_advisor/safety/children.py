"""Child processes and temporary folders: each ends with this process."""

from __future__ import annotations

import os
import re
import secrets
import selectors
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.stop import Receipt, ReviewInterrupted

PROC = Path("/proc")

OWNER = "REVIEW_ADVISOR_OWNER"
"""The variable by which a child carries the name of the process that it belongs to."""

_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Process:
    """A living process. ``started`` counts clock ticks since the machine's start: no later process has both."""

    pid: int
    session: int
    started: int


def process(pid: int) -> Process | None:
    """The process with this number; None if there is none, if it has ended, or if nothing is known of any."""
    try:
        # The command's name is in parentheses and may itself contain spaces and parentheses.
        facts = _proc_file(pid, "stat").rpartition(b")")[2].split()
        return None if facts[0] in (b"Z", b"X") else Process(pid, int(facts[3]), int(facts[19]))
    except (OSError, IndexError):
        return None


def kill_leftovers(session: int, marker: str) -> None:
    """Kill every process of ``session``, and every one whose environment mentions ``marker``.

    The CLI gives hooks sessions of their own, so the session alone does not find them all. Without /proc only the
    process group can be reached.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)
    _kill_all(lambda each: each.session == session or _mentions(each.pid, marker.encode()))


def kill_marked(name: str, since: int) -> None:
    """Kill every process of this user, begun at ``since`` or later, that carries the name of this owner.

    So are those in a session that such a process leads.
    """

    def marked(each: Process | None) -> bool:
        return each is not None and each.started >= since and _is_ours(each.pid) and _mentions(each.pid, wanted)

    def led(each: Process) -> bool:
        return each.started >= since and _is_ours(each.pid) and marked(process(each.session))

    wanted = f"{OWNER}={name}\0".encode()
    _kill_all(lambda each: marked(each) or led(each))


def _kill_all(belongs: Callable[[Process], bool]) -> None:
    # A process may be born while the list is read: look again until a round finds none. The leaders of sessions go
    # last, because the others are known by them.
    for _ in range(_ROUNDS):
        found = [each for each in _living() if belongs(each)]
        for each in sorted(found, key=lambda each: each.pid == each.session):
            _kill(each)
        if not found:
            return
        time.sleep(0.01)


def _kill(found: Process) -> None:
    """Kill this very process: its number may have become another one's since it was found."""
    with suppress(OSError):
        if not hasattr(os, "pidfd_open"):
            os.kill(found.pid, signal.SIGKILL)
            return
        handle = os.pidfd_open(found.pid)
        try:
            if process(found.pid) == found:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def _living() -> list[Process]:
    own = os.getpid()
    if not PROC.is_dir():
        return []
    pids = (int(name) for name in os.listdir(PROC) if name.isdigit())  # noqa: PTH208
    return [found for pid in pids if pid != own and (found := process(pid)) is not None]


def _mentions(pid: int, marker: bytes) -> bool:
    try:
        return marker in _proc_file(pid, "environ")
    except OSError:
        return False


def _proc_file(pid: int, what: str) -> bytes:
    """A file of the kernel's. Every process of the machine is asked: this is five times as fast as by ``Path``."""
    with open(f"{PROC}/{pid}/{what}", "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()


def _is_ours(pid: int) -> bool:
    try:
        return (PROC / str(pid)).stat().st_uid == os.getuid()
    except OSError:
        return False


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
    """A new private folder (see ``make_folder``), removed at the end of the block."""
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


_SLICE_SECONDS = 0.05
_CHUNK = 65_536
_STDERR_KEPT = 16_384
_DRAIN_SECONDS = 0.5
Observe = Callable[[bytes], bool]


class EndedBy(StrEnum):
    """Why we ended a child that would have gone on."""

    DEADLINE = "deadline"
    REQUEST = "request"
    OBSERVER = "observer"
    OVERFLOW = "overflow"


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of one child. ``code`` is negative for a signal; ``ended_by`` None means it ended by itself."""

    code: int
    ended_by: EndedBy | None = None
    stderr_tail: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a child may print, and how long it has from being told to end until it is killed."""

    max_line_bytes: int = 32 * 1024 * 1024
    max_stream_bytes: int = 512 * 1024 * 1024
    terminate_grace_seconds: float = 5.0
    end_grace_seconds: float = 0.8


@dataclass(frozen=True, slots=True)
class Launch:
    """One child to run."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    """Variables, and what a pipe carries for each: the variable holds the pipe's descriptor."""
    cwd: Path
    stdin: bytes
    deadline_seconds: float
    marker: str
    """Unique to this child's environment (its temp folder): tells which processes that left its session are its."""


@dataclass(slots=True)
class _Child:
    process: Child
    ended_by: EndedBy | None = None
    kill_at: float = 0.0

    def end(self, reason: EndedBy, grace_seconds: float) -> None:
        """Ask it to end; the loop that owns it kills it after the grace."""
        if self.ended_by is None:
            self.ended_by, self.kill_at = reason, time.monotonic() + grace_seconds
            with suppress(ProcessLookupError):
                self.process.terminate()

    def kill_if_overdue(self) -> None:
        if self.ended_by is not None and time.monotonic() >= self.kill_at and self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)


@dataclass(slots=True)
class Children:
    """Every child in flight. ``end_running`` may be called from any thread: it takes no lock and does not wait."""

    bounds: Bounds
    _running: dict[int, _Child] = field(default_factory=dict)
    _ended: bool = False

    def run(self, launch: Launch, observe: Observe) -> Exit:
        """Run one child to its end. ``observe`` sees every line of stdout and returns whether to go on.

        When this returns, the child and everything it started is gone. An interrupt ends it as ``end_running`` does.
        Raises ``CannotStartError``, as every run after ``end_running`` does; after an interrupt ``ReviewInterrupted``.
        """
        if self._ended:
            raise CannotStartError("The review was ended before this call could start.")
        started = time.monotonic()
        child = _Child(_spawn(launch))
        self._running[child.process.pid] = child
        try:
            self._end_if_late(child)
            return _Conversation(child, launch, observe, self.bounds, started).hold()
        finally:
            # Also after a bug in ``observe``: no child outlives its call.
            if child.process.poll() is None:
                child.process.kill()
            child.process.wait()
            kill_leftovers(child.process.pid, launch.marker)
            del self._running[child.process.pid]

    def _end_if_late(self, child: _Child) -> None:
        """End a child that was being started while all were asked to end."""
        if self._ended:
            child.end(EndedBy.REQUEST, self.bounds.end_grace_seconds)

    def end_running(self) -> None:
        """Start no further child, and ask all in flight to end (SIGTERM; SIGKILL after the grace, by who runs it)."""
        self._ended = True
        for child in list(self._running.values()):
            child.end(EndedBy.REQUEST, self.bounds.end_grace_seconds)


class CannotStartError(Exception):
    """The child could not be started at all: nothing was asked. Says why, for people."""


def _spawn(launch: Launch) -> Child:
    environment, descriptors = dict(launch.environment), []
    try:
        for variable, secret in launch.secrets.items():
            descriptors.append(_pipe_with(secret))
            environment[variable] = str(descriptors[-1])
        return start(launch.argv, environment, launch.cwd, bufsize=0, pass_fds=descriptors)
    except OSError as error:
        raise CannotStartError(f"{launch.argv[0]} cannot be started: {error.strerror}.") from error
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _pipes(process: Child) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise RuntimeError("a child was started without its pipes")
    return process.stdin, process.stdout, process.stderr


def _pipe_with(secret: str) -> int:
    readable, writable = os.pipe()
    try:
        os.set_blocking(writable, False)  # a secret larger than a pipe would block for ever
        os.write(writable, os.fsencode(secret))
    finally:
        os.close(writable)
    return readable


@dataclass(slots=True)
class _Conversation:
    child: _Child
    launch: Launch
    observe: Observe
    bounds: Bounds
    started: float
    _unsent: memoryview = field(default_factory=lambda: memoryview(b""))
    _line: bytearray = field(default_factory=bytearray)
    _stderr: bytearray = field(default_factory=bytearray)
    _received: int = 0
    _selector: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)

    def hold(self) -> Exit:
        process = self.child.process
        pipes = (stdin, stdout, stderr) = _pipes(process)
        self._unsent = memoryview(self.launch.stdin)
        deadline = self.started + self.launch.deadline_seconds
        try:
            for pipe, events in (
                (stdin, selectors.EVENT_WRITE),
                (stdout, selectors.EVENT_READ),
                (stderr, selectors.EVENT_READ),
            ):
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, events)
            silent_until = float("inf")
            while self._reading() and time.monotonic() < silent_until:
                moved = self._exchange()
                self._end_in_time(deadline)
                # A grandchild may hold the pipe open for ever after the child is gone.
                if process.poll() is not None and (moved or silent_until == float("inf")):
                    silent_until = time.monotonic() + _DRAIN_SECONDS
            self._wait(deadline)
            if self._line:
                self._see(bytes(self._line))
        finally:
            self._selector.close()
            for pipe in pipes:
                with suppress(BrokenPipeError):
                    pipe.close()
        stderr_tail = self._stderr.decode(errors="replace")
        return Exit(process.returncode, self.child.ended_by, stderr_tail, time.monotonic() - self.started)

    def _reading(self) -> bool:
        mapped = self._selector.get_map()
        return any(key.events & selectors.EVENT_READ for key in mapped.values())

    def _exchange(self) -> bool:
        ready = self._selector.select(_SLICE_SECONDS)
        for key, _ in ready:
            if key.fileobj is self.child.process.stdin:
                self._write(key.fd)
            else:
                self._read(key)
        return bool(ready)

    def _write(self, stdin: int) -> None:
        try:
            sent = os.write(stdin, self._unsent[:_CHUNK]) if self._unsent else 0
            self._unsent = self._unsent[sent:]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = memoryview(b"")
        if not self._unsent:
            self._selector.unregister(stdin)
            _pipes(self.child.process)[0].close()

    def _read(self, key: selectors.SelectorKey) -> None:
        chunk = os.read(key.fd, _CHUNK)
        if not chunk:
            self._selector.unregister(key.fileobj)
        elif key.fileobj is self.child.process.stderr:
            self._stderr += chunk
            del self._stderr[:-_STDERR_KEPT]
        elif self.child.ended_by is not EndedBy.OVERFLOW:
            self._split(chunk)

    def _split(self, chunk: bytes) -> None:
        self._received += len(chunk)
        first, *rest = chunk.split(b"\n")
        self._line += first
        for part in rest:
            self._see(bytes(self._line))
            self._line = bytearray(part)
        if len(self._line) > self.bounds.max_line_bytes or self._received > self.bounds.max_stream_bytes:
            self._line.clear()
            self.child.end(EndedBy.OVERFLOW, self.bounds.terminate_grace_seconds)

    def _see(self, line: bytes) -> None:
        if not self.observe(line):
            self.child.end(EndedBy.OBSERVER, self.bounds.terminate_grace_seconds)

    def _end_in_time(self, deadline: float) -> None:
        if INTERRUPTION.number:
            self.child.end(EndedBy.REQUEST, self.bounds.end_grace_seconds)
        if time.monotonic() >= deadline:
            self.child.end(EndedBy.DEADLINE, self.bounds.terminate_grace_seconds)
        self.child.kill_if_overdue()

    def _wait(self, deadline: float) -> None:
        while self.child.process.poll() is None:
            self._end_in_time(deadline)
            time.sleep(_SLICE_SECONDS / 5)
