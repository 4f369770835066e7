"""Ends what a child left running: its session, and whatever left that session but kept its environment."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_ROUNDS = 20


def kill_leftovers(session: int, marker: str) -> None:
    """Kill every process of ``session``, and every one of ours whose environment mentions ``marker``.

    The CLI gives hooks sessions of their own, so the session alone does not find them all. Without /proc
    only the process group can be reached.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)
    if not (_PROC / "self" / "stat").exists():
        return
    # A process may be born while the list is read: look again until a round finds none.
    for _ in range(_ROUNDS):
        found = _leftovers(session, marker.encode())
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _leftovers(session: int, marker: bytes) -> list[int]:
    own = os.getpid()
    pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if pid != own and _belongs(pid, session, marker)]


def _belongs(pid: int, session: int, marker: bytes) -> bool:
    try:
        # The command's name is in parentheses and may itself contain spaces and parentheses.
        state, _, _, its_session = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[:4]
        if state in (b"Z", b"X"):
            return False
        return int(its_session) == session or marker in (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
