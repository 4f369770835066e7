"""What the benchmarks share: the command under test, and how a run is timed."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

BOT = Path(sys.executable).with_name("review-advisor")


def seconds(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long one run takes, by the wall clock if no other is named."""
    started = clock()
    action()
    return clock() - started


def medians(runs: int, *actions: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """The median of each action. They take turns, so that a busy moment of the machine strikes all of them."""
    taken = [[seconds(action, clock) for action in actions] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def processor_seconds(action: Callable[[], object]) -> float:
    """What the child processes of one run take of the processor: other work of the machine hardly counts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(runs: int, *actions: Callable[[], object]) -> list[float]:
    """The least processor time of each action's child processes. The actions take turns."""
    taken = [[processor_seconds(action) for action in actions] for _ in range(runs)]
    return [min(column) for column in zip(*taken, strict=True)]


def command(*words: str | Path, cwd: Path | None = None) -> Callable[[], object]:
    """A process to its end, its output thrown away; a failure ends the benchmark."""
    return lambda: subprocess.run(list(map(str, words)), cwd=cwd, check=True, capture_output=True)


def git(folder: Path, *words: str) -> None:
    """Run git in a repository of its own, without the machine's settings."""
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.test", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, "-C", str(folder), *words], check=True, capture_output=True)
