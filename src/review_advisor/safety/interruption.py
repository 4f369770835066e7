"""How this process is asked to end, and what it does then."""

from __future__ import annotations

import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

_PATIENCE_SECONDS = 0.4
"""So long the end waits for a result that is just being stored."""


class _Child(Protocol):
    pid: int

    def poll(self) -> int | None:
        """The exit code, once it has ended."""
        ...

    def terminate(self) -> None:
        """Ask it to end."""
        ...


class Interruption:
    """Whether this process was told to end, and all that ends with it.

    ``starting`` is held while a child is started and entered here, and while the process is told to end. So a child is
    either never started or known to whoever ends it. ``storing`` is held while the result of a piece of work is stored,
    which the end does not cut in two.
    """

    def __init__(self) -> None:
        self.number = 0
        self.starting = threading.Lock()
        self.storing = threading.Lock()
        self.parked = False
        self.late = ""
        """Why the work before the first call was ended, if it took too long."""
        self.announce: Callable[[], None] | None = None
        self._children: weakref.WeakSet[_Child] = weakref.WeakSet()
        self._last_words: Callable[[int], str] | None = None
        self._taken = False
        self._clear_away: list[Callable[[], None]] = []
        self._unfinished: set[Path] = set()

    @property
    def is_taken(self) -> bool:
        """Whether something runs that ends by itself once it is interrupted."""
        return self._taken

    def add_child(self, child: _Child) -> None:
        """A child has started. Call it under ``starting``."""
        self._children.add(child)

    def first_belonging(self, clear_away: Callable[[], None]) -> None:
        """Something is about to be made that must not outlive this process; ``clear_away`` removes what there is."""
        announce, self.announce = self.announce, None
        if announce is not None:
            announce()
        if clear_away not in self._clear_away:
            self._clear_away.insert(0, clear_away)

    def at_the_end(self, step: Callable[[], None]) -> None:
        """Do this when the process ends, after everything was cleared away."""
        self._clear_away.append(step)

    def interrupt(self, number: int) -> None:
        """Start no further child and ask those that run to end. Does not wait for them. Only the first call counts."""
        with self.starting:
            if self.number:
                return
            self.number = number
            running = list(self._children)
        for child in running:
            with suppress(OSError):
                child.terminate()

    @contextmanager
    def taken(self, last_words: Callable[[int], str]) -> Iterator[None]:
        """Within it an interrupt is looked for, and the work ends by itself.

        If it does not in time, ``last_words`` is called in its place, with the signal's number: it leaves on disk what
        an interrupted piece of work leaves, and returns the sentence for the user. Afterwards the interrupt is over.
        """
        self._taken = True
        try:
            with self.with_last_words(last_words):
                yield
        finally:
            self._taken = False
            self.number = 0

    @contextmanager
    def with_last_words(self, last_words: Callable[[int], str]) -> Iterator[None]:
        """Within it an interrupt ends the process at once. ``last_words`` is called meanwhile, as in ``taken``."""
        self._last_words = last_words
        try:
            yield
        finally:
            self._last_words = None

    @contextmanager
    def unfinished(self, file: Path) -> Iterator[None]:
        """Within it ``file`` is being written and not yet in its place: whatever ends the block ends the file."""
        self._unfinished.add(file)
        try:
            yield
        except BaseException:
            file.unlink(missing_ok=True)
            raise
        finally:
            self._unfinished.discard(file)

    def leave(self) -> None:
        """The process ends in peace: remove what is left of its belongings."""
        for step in self._clear_away:
            step()

    def end_now(self, seconds: float) -> str:
        """Stop the main thread, kill every child, leave the last words and remove the temporary folders.

        That takes at most so many seconds; the next run removes what is left. Returns the sentence for the user. The
        caller ends the process at once.
        """
        until = time.monotonic() + seconds
        alone = self.storing.acquire(timeout=_PATIENCE_SECONDS)
        self.parked = True
        for child in list(self._children):
            if child.poll() is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
        sentences = ["Interrupted."]
        for file in tuple(self._unfinished):
            with suppress(OSError):
                file.unlink()
        steps = [self.leave]
        last_words = self._last_words
        if alone and last_words is not None:
            steps.append(lambda: sentences.append(last_words(self.number)))
        ending = [threading.Thread(target=step, daemon=True) for step in steps]
        for step in ending:
            step.start()
        for step in ending:
            step.join(max(0.0, until - time.monotonic()))
        return sentences[-1]


INTERRUPTION = Interruption()
"""That of this process."""
