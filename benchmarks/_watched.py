"""A process watched from outside: its wall clock, and the peak of its own resident memory."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
_GLANCE_SECONDS = 0.01
_COMPLAINT_KEPT = 2_000


@dataclass(frozen=True, slots=True)
class Watched:
    """How a process ran. ``peak_mb`` is of that process alone, not of those that it started."""

    code: int
    seconds: float
    peak_mb: float
    complaint: str


def watch(words: Sequence[str | Path], cwd: Path, environment: Mapping[str, str]) -> Watched:
    """Run a process to its end.

    The kernel keeps the peak, which is read until the process is gone: only one in its last hundredth of a second can
    be missed. What ``wait4`` reports would not do: it counts the children in, and what the parent held at the start.
    """
    peak = 0
    with tempfile.TemporaryFile() as complaints:
        began = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, words)),
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
        )
        while process.poll() is None:
            peak = max(peak, _peak(process.pid))
            time.sleep(_GLANCE_SECONDS)
        seconds = time.perf_counter() - began
        complaints.seek(0)
        complaint = complaints.read().decode("utf-8", "replace")
    return Watched(process.returncode, seconds, peak / 1024, complaint[-_COMPLAINT_KEPT:])


def _peak(process: int) -> int:
    try:
        found = _PEAK.search(Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0
