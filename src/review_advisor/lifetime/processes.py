"""Processes of this machine, by what the kernel says of them. Without /proc nothing is known of any."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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
        facts = _said_of(pid, "stat").rpartition(b")")[2].split()
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
        return marker in _said_of(pid, "environ")
    except OSError:
        return False


def _said_of(pid: int, what: str) -> bytes:
    """A file of the kernel's. Every process of the machine is asked: this is five times as fast as by ``Path``."""
    with open(f"{PROC}/{pid}/{what}", "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()


def _is_ours(pid: int) -> bool:
    try:
        return (PROC / str(pid)).stat().st_uid == os.getuid()
    except OSError:
        return False
