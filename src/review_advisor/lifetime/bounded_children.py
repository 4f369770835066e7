"""Child processes: started in their own session, bounded in time and output, and gone afterwards."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO

from review_advisor.lifetime import belongings
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.lifetime.processes import kill_leftovers

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
    """One child to run. ``secrets`` maps a variable to what a pipe will carry; the variable gets its descriptor.

    ``marker``, a string unique to this child's environment (its temp folder), is how processes that left its
    session are recognised afterwards.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    cwd: Path
    stdin: bytes
    deadline_seconds: float
    marker: str


@dataclass(slots=True)
class _Child:
    process: belongings.Child
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
        """End a child that was being started while all were told to end."""
        if self._ended:
            child.end(EndedBy.REQUEST, self.bounds.end_grace_seconds)

    def end_running(self) -> None:
        """Start no further child, and ask all in flight to end (SIGTERM; SIGKILL after the grace, by who runs it)."""
        self._ended = True
        for child in list(self._running.values()):
            child.end(EndedBy.REQUEST, self.bounds.end_grace_seconds)


class CannotStartError(Exception):
    """The child could not be started at all: nothing was asked. Says why, for people."""


def _spawn(launch: Launch) -> belongings.Child:
    environment, descriptors = dict(launch.environment), []
    try:
        for variable, secret in launch.secrets.items():
            descriptors.append(_pipe_with(secret))
            environment[variable] = str(descriptors[-1])
        return belongings.start(launch.argv, environment, launch.cwd, bufsize=0, pass_fds=descriptors)
    except OSError as error:
        raise CannotStartError(f"{launch.argv[0]} cannot be started: {error.strerror}.") from error
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _pipes(process: belongings.Child) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
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
        said = self._stderr.decode(errors="replace")
        return Exit(process.returncode, self.child.ended_by, said, time.monotonic() - self.started)

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
