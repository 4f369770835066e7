"""Work done in forked processes: what the parent has imported, none of them imports again."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

BROKE = 70
"""The exit code of a piece of work that raised."""
_MOST_BYTES = 6 << 30
_GRACE_SECONDS = 5
WALL_SECONDS = 600
"""What a piece of work may take."""


def forked(
    work: Mapping[int, Callable[[], int]], jobs: int, seconds: float | None = None
) -> Iterator[tuple[int, int | None]]:
    """Run each piece of work in a fork, ``jobs`` at a time, and give its number and exit code, as it ends.

    The code is that of ``os.waitstatus_to_exitcode``, and None for what ran longer than ``seconds`` (None:
    ``WALL_SECONDS``) and was killed.
    """
    most = WALL_SECONDS if seconds is None else seconds
    waiting, running = list(reversed(list(work.items()))), dict[int, tuple[int, float]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, doing = waiting.pop()
                running[_forked(doing)] = number, time.monotonic() + most
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in running:
                number, _ = running.pop(pid)
                yield number, os.waitstatus_to_exitcode(status)
                continue
            for late in [pid for pid, (_, until) in running.items() if time.monotonic() > until]:
                number, _ = running.pop(late)
                _killed(late)
                yield number, None
            time.sleep(0.002)
    finally:  # whoever is interrupted leaves none behind, nor do they
        for pid in running:
            _ended(pid)


def speak_into(path: str | Path) -> None:
    """Let everything that this process says go into a file."""
    with Path(path).open("wb") as there:
        sys.stdout.flush()
        os.dup2(there.fileno(), 1)
        os.dup2(there.fileno(), 2)


def _forked(doing: Callable[[], int]) -> int:
    pid = os.fork()
    if pid:
        os.setpgid(pid, pid)  # in both: whichever comes first
    else:
        code = BROKE
        try:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            speak_into(os.devnull)
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
            code = doing()
        except BaseException:  # noqa: BLE001 -- the parent's own ways out of here are not this process's
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return pid


def _ended(pid: int) -> None:
    os.killpg(pid, signal.SIGTERM)
    until = time.monotonic() + _GRACE_SECONDS
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            _killed(pid)
            return
        time.sleep(0.002)


def _killed(pid: int) -> None:
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
