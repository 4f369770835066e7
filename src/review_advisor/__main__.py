"""The process: it runs the command line, and ends on a signal with a message and the documented exit code."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.memory import collect_rarely
from review_advisor.safety.setup_watch import LATE, NOT_RUN, SETUP

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ALL_SECONDS = 1.8
"""So long after a signal the process has ended."""
_GRACE_SECONDS = 1.2
"""The part of it in which a review may end by itself: ``safety/children.py`` gives its calls a part of that."""
_TICK_SECONDS, _TURN_SECONDS = 0.02, 0.005


def main() -> None:
    """Run the command line and exit."""
    collect_rarely()
    if sys.argv[1:2] == ["review"]:
        SETUP.start()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would look through every installed distribution
    watch = _Watch()
    from review_advisor.app.main import run, sign_in

    INTERRUPTION.announce = sign_in
    try:
        code = run(sys.argv[1:])
    except Exception as error:
        from review_advisor.safety.stop import ReviewInterrupted

        if not isinstance(error, ReviewInterrupted):
            raise
        watch.end()
    finally:
        INTERRUPTION.leave()
        for number in (*_ENDING, signal.SIGALRM, LATE):  # the interpreter would undo its handlers while it ends
            signal.signal(number, signal.SIG_IGN)
    if watch.speaks:
        watch.end()
    SETUP.stop()
    sys.exit(128 + watch.number if watch.number else code)


class _Watch:
    """Hears every signal that ends this process, whatever the main thread does.

    The kernel's handler writes the signal's number into a pipe, and a thread reads it there: it needs no turn of the
    main thread, which may compute, wait for a lock of SQLite or be in the midst of an import. A review is left its time
    to end by itself, unless a second signal comes; everything else ends at once, also a review that is late.
    """

    def __init__(self) -> None:
        self.number = 0
        self.late = ""
        """Why the work before the first call was ended, once it was."""
        self.speaks = False
        """Whether a signal came that no review of its own takes: the watch says so, and ends the process."""
        self._rests = False
        self._heard, writable = os.pipe()
        os.set_blocking(writable, False)
        signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
        for number in (*_ENDING, signal.SIGALRM, LATE):
            # A process under nohup outlives its terminal.
            if number != signal.SIGHUP or signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._yield)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def end(self) -> NoReturn:
        """The main thread has noticed the signal and has nothing to add: wait for the end, which is on its way."""
        self._thread.join(_ALL_SECONDS)
        os._exit(NOT_RUN if self.late else 128 + self.number)

    def _yield(self, number: int, frame: FrameType | None) -> None:
        """In the main thread: note the signal, and let the watch have its turn.

        Once it ends the process, nothing else happens here. A regular expression holds the interpreter for as long as
        it takes, but lets handlers run: from now on, every tick.
        """
        if number == LATE and SETUP.is_late and not self.number:
            self.late, self.speaks, INTERRUPTION.parked = SETUP.sentence(frame), True, True
        elif number in _ENDING:
            self.number = self.number or number
            self.speaks = self.speaks or not INTERRUPTION.is_taken
        if self.number or self.late:
            signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)
        self._rests = INTERRUPTION.parked
        time.sleep(60 if self._rests else _TURN_SECONDS)

    def _listen(self) -> None:
        number = self._next(None)
        if number == LATE:
            self._end_late()
        self.number = number
        until = time.monotonic() + _ALL_SECONDS
        INTERRUPTION.interrupt(self.number)
        if INTERRUPTION.is_taken:
            self._next(_GRACE_SECONDS)
        sentence = INTERRUPTION.end_now(until - time.monotonic())
        rests_by = (
            time.monotonic() + 2 * _TICK_SECONDS
        )  # until then the main thread may have a line of its own to write
        while not self._rests and time.monotonic() < rests_by:
            time.sleep(_TICK_SECONDS / 10)
        _say(sentence)
        SETUP.stop()
        os._exit(128 + self.number)

    def _end_late(self) -> NoReturn:
        """The work before the first call took too long: leave the reason where the outcome would be, and end."""
        until = time.monotonic() + _GRACE_SECONDS
        while not self.late and time.monotonic() < until:
            time.sleep(_TICK_SECONDS / 10)
        main_thread = threading.main_thread().ident or 0
        frame = sys._current_frames().get(main_thread)  # noqa: SLF001 (its documented name)
        INTERRUPTION.late = self.late = self.late or SETUP.sentence(frame)
        INTERRUPTION.end_now(until + _GRACE_SECONDS - time.monotonic())
        _say(self.late)
        SETUP.stop()
        os._exit(NOT_RUN)

    def _next(self, seconds: float | None) -> int:
        """The number of the next signal that ends; 0 if none comes within so many seconds."""
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._heard], [], [], left)[0]:
                return 0
            number = os.read(self._heard, 1)[0]
            if number in _ENDING or (number == LATE and SETUP.is_late):
                return number


def _say(sentence: str) -> None:
    """On stderr, unless nobody reads it: a full pipe would hold the end up."""
    with suppress(OSError, ValueError):
        if select.select([], [2], [], 0)[1]:
            cursor = "\r\x1b[?25h" if os.isatty(2) else ""  # the live line of a review hides it
            os.write(2, f"{cursor}{sentence}\n".encode())


if __name__ == "__main__":
    main()
