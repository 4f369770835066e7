"""Ends a review whose preparation takes too long."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

SETUP_SECONDS = 60.0
"""The limit, where the configuration says nothing or was not read yet."""

NOT_RUN = 12
LATE = signal.SIGUSR1
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_STOP_SECONDS = 0.2
"""So long the process that watches has to end by itself: it waits for nothing but that."""

_PATIENCE_SECONDS = 3.0
"""So long a process that is late has to end by itself."""

_STEPS = (
    ("safety.secrets", "the search for secrets"),
    ("safety.secret_reading", "the search for secrets"),
    ("safety.assigned_secrets", "the search for secrets"),
    ("safety.placed_secrets", "the search for secrets"),
    ("safety.private_keys", "the search for secrets"),
    ("safety.data_spans", "hiding secrets and signs that mislead"),
    ("safety.fence", "hiding secrets and signs that mislead"),
    ("change.redaction", "hiding secrets and signs that mislead"),
    ("change.lockfiles", "reading lock files"),
    ("change.lock_formats", "reading lock files"),
    ("change.lock_trees", "reading lock files"),
    ("change.ci_files", "reading the files of CI"),
    ("change.running_workflows", "reading the files of CI"),
    ("change.risky_code", "looking for risky code"),
    ("change.decision_records", "reading decision records"),
    ("change.shards", "cutting the change into parts"),
    ("change.around", "looking for what stands around the change"),
    ("change.git_trees", "reading or writing the files of the change"),
    ("change.tree_edits", "reading or writing the files of the change"),
    ("change.pixels", "comparing pictures"),
    ("change.pictures", "comparing pictures"),
    ("change.picture_deadline", "comparing pictures"),
    ("change.picture_pairs", "comparing pictures"),
    ("change.git", "reading the change with git"),
    ("change.git_diff", "reading the change with git"),
    ("change.git_store", "reading the change with git"),
    ("change.sources", "reading the change with git"),
    ("change", "reading the change"),
    ("policy.roster", "reading who advises"),
    ("policy.roster_layers", "reading who advises"),
    ("policy.declarations", "reading who advises"),
    ("policy.lenses", "reading who advises"),
    ("policy.settings", "reading the configuration"),
    ("policy.prices", "reading the configuration"),
    ("app.configuration", "reading the configuration"),
    ("policy", "the decisions on the change"),
    ("agents.prompts", "writing the questions"),
    ("agents.roles", "writing the questions"),
    ("ledger.database", "opening the ledger"),
    ("ledger.recorder", "opening the ledger"),
)
"""What the work of a module is called, the innermost first."""


class SetupWatch:
    """The second process, and until when this one has time."""

    def __init__(self) -> None:
        self._pipe: int | None = None
        self._child = 0
        self._began = 0.0
        self._seconds: float | None = None
        self._refusal = ""

    def start(self) -> None:
        """Fork the process that watches. Before any thread is started."""
        readable, writable = os.pipe()
        watched = os.getpid()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # none may reach the new process before it ignores
        self._child = os.fork()
        if self._child == 0:
            try:
                os.close(writable)
                for number in _ENDING:
                    signal.signal(number, signal.SIG_IGN)
                _keep_watch(readable, watched)
            finally:
                os._exit(0)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(readable)
        self._pipe = writable

    def stop(self) -> None:
        """End the process that watches, which takes a moment, and leave nothing of it. Does nothing without one."""
        pipe, self._pipe = self._pipe, None
        if pipe is None:
            return
        os.close(pipe)
        until = time.monotonic() + _STOP_SECONDS
        with suppress(ChildProcessError):  # whoever started this process may have had it ignore its children
            while os.waitpid(self._child, os.WNOHANG) == (0, 0):
                if time.monotonic() >= until:
                    os.kill(self._child, signal.SIGKILL)
                    os.waitpid(self._child, 0)
                    return
                time.sleep(_STOP_SECONDS / 100)

    @contextmanager
    def running(self, refusal: Path | None) -> Iterator[None]:
        """Within it the time runs, until ``over``. ``refusal``: the file that says why there is no outcome."""
        self._began, self._refusal = time.monotonic(), "" if refusal is None else str(refusal)
        self.allow(SETUP_SECONDS)
        try:
            yield
        finally:
            self.over()

    def allow(self, seconds: float) -> None:
        """Allow so many seconds, counted from the beginning. Does nothing once the time is ``over``."""
        if self._began:
            self._seconds = seconds
            self._tell(max(0.0, self._began + seconds - time.monotonic()))

    def over(self) -> None:
        """The first call is about to be made, or none is made: nothing is watched any more."""
        if self._seconds is not None:
            self._seconds, self._began = None, 0.0
            self._tell(None)

    @property
    def is_late(self) -> bool:
        """Whether the time is over and the work is not."""
        return self._seconds is not None and time.monotonic() >= self._began + self._seconds

    def sentence(self, frame: FrameType | None = None) -> str:
        """What the user is told, with the step in which ``frame`` is."""
        return (
            f"The review did not run: its preparation took longer than {self._seconds or 0.0:g} seconds, the last of "
            f"them for {_step(frame)}. No model was asked. `budget.setup_seconds` in the base's configuration sets the "
            "limit."
        )

    def _tell(self, left: float | None) -> None:
        if self._pipe is not None:
            message = json.dumps([left, self._refusal, self.sentence()])
            with suppress(OSError):  # the other process was killed: whoever did that wants no limit
                os.write(self._pipe, message.encode() + b"\n")


SETUP = SetupWatch()
"""That of this process. It watches only where ``start`` was called: the command line does."""


def _step(frame: FrameType | None) -> str:
    while frame is not None:
        module = frame.f_globals.get("__name__", "").removeprefix("review_advisor.")
        for prefix, step in _STEPS:
            if f"{module}.".startswith(f"{prefix}."):
                return step
        frame = frame.f_back
    return "work that could not be interrupted"


def _keep_watch(readable: int, watched: int) -> None:
    """Until the watched process ends: end it if it is late."""
    until: float | None = None
    refusal = sentence = ""
    begun = b""
    while True:
        left = None if until is None else max(0.0, until - time.monotonic())
        if select.select([readable], [], [], left)[0]:
            if not (read := os.read(readable, 65_536)):
                return
            *whole, begun = (begun + read).split(b"\n")
            if whole:
                seconds, refusal, sentence = json.loads(whole[-1])
                until = None if seconds is None else time.monotonic() + seconds
        elif until is not None:
            _end(readable, watched, refusal, sentence)
            return


def _end(readable: int, watched: int, refusal: str, sentence: str) -> None:
    """Ask the process to end and, if it does not, kill it and say in its place what has happened."""
    if os.getppid() != watched:
        return
    os.kill(watched, LATE)
    until = time.monotonic() + _PATIENCE_SECONDS
    while (left := until - time.monotonic()) > 0:
        if select.select([readable], [], [], left)[0] and not os.read(readable, 65_536):
            return
    if os.getppid() == watched:
        os.kill(watched, signal.SIGKILL)
        with suppress(OSError):
            if refusal:
                Path(refusal).write_text(f"{sentence}\n", encoding="utf-8")
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()
