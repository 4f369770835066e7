"""A clock for a world in which calls run side by side: together they take as long as the longest of them."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor as Pool
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from review_advisor.mockworld.world import FakeClock

Done = TypeVar("Done")
Given = ParamSpec("Given")
_MOST_THREADS = 1_000


@dataclass
class SharedClock(FakeClock):
    """Time that several threads live through.

    Only one of them runs at a time, the one that sleeps to the earliest moment. So a story plays the same way each
    time, and takes no time of the machine's.
    """

    _here: threading.local = field(default_factory=threading.local)

    def threads(self, count: int) -> Pool:
        """``count`` threads that live by this clock."""
        return _Threads(self, count)

    def sleep(self, seconds: float) -> None:
        """Let time go by for this thread; the others run meanwhile."""
        task: _Task | None = getattr(self._here, "task", None)
        if task is None:
            super().sleep(seconds)
        else:
            task.threads.rest(task, self.seconds + seconds)

    def advance_to(self, moment: float) -> None:
        """Let it be that moment, if it is not later already."""
        super().sleep(max(0.0, moment - self.seconds))

    def lives_in(self, task: _Task | None) -> None:
        """From now on this thread does that work."""
        self._here.task = task


@dataclass(eq=False)
class _Task:
    """One piece of work. ``turn`` is given to it whenever it may go on."""

    threads: _Threads
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    is_over: bool = False


class _Promise(Future[Any]):
    """What comes of a piece of work. Whoever asks for it lets the threads run."""

    def __init__(self, task: _Task, real: Future[Any]) -> None:
        super().__init__()
        self._task = task
        self._real = real

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._task.threads.play(self._task)
        return self._real.exception(timeout)

    def result(self, timeout: float | None = None) -> Any:
        self._task.threads.play(self._task)
        return self._real.result(timeout)


class _Threads(Pool):
    """A pool whose threads take turns: ``count`` pieces of work are under way at a time."""

    def __init__(self, clock: SharedClock, count: int) -> None:
        self._clock = clock
        self._count = count
        self._pool = ThreadPoolExecutor(_MOST_THREADS)
        self._rests = threading.Semaphore(0)
        self._waiting: deque[_Task] = deque()
        self._order = itertools.count()
        self._asleep: list[tuple[float, int, _Task]] = []
        self._tasks: list[_Task] = []

    def submit(self, fn: Callable[Given, Done], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Done]:
        """Take on work. It begins once somebody asks what came of it, or of any other."""
        task = _Task(self)
        self._tasks.append(task)
        if len(self._tasks) <= self._count:
            self._wakes(task, self._clock.seconds)
        else:
            self._waiting.append(task)
        return _Promise(task, self._pool.submit(self._lived, task, lambda: fn(*args, **kwargs)))

    def _lived(self, task: _Task, work: Callable[[], Done]) -> Done:
        task.turn.acquire()
        self._clock.lives_in(task)
        try:
            return work()
        finally:
            self._clock.lives_in(None)
            task.is_over = True
            if self._waiting:
                self._wakes(self._waiting.popleft(), self._clock.seconds)
            self._rests.release()

    def rest(self, task: _Task, moment: float) -> None:
        """Let the others run until that moment."""
        self._wakes(task, moment)
        self._rests.release()
        task.turn.acquire()

    def _wakes(self, task: _Task, moment: float) -> None:
        """Of several that wake at one moment, the one that has slept longest goes first."""
        heapq.heappush(self._asleep, (moment, next(self._order), task))

    def play(self, task: _Task) -> None:
        """Let the threads run until this work is done."""
        while not task.is_over:
            moment, _, runs = heapq.heappop(self._asleep)
            self._clock.advance_to(moment)
            runs.turn.release()
            self._rests.acquire()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """Let all work be done."""
        for task in self._tasks:
            self.play(task)
        self._pool.shutdown(wait, cancel_futures=cancel_futures)
