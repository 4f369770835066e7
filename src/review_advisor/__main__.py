"""The process, first to last: from its first moment on a signal ends it with a sentence and the documented code."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signalled(BaseException):
    """A signal that came where no review was running; whatever was open is closed on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main() -> None:
    """Run the command line and exit."""
    try:
        for number in _ENDING:
            # A process under nohup outlives its terminal.
            if number != signal.SIGHUP or signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
        from review_advisor.cli import run

        code = run(sys.argv[1:])
        _ignore_signals()
    except Signalled as end:
        code = 128 + end.number
        if sys.stderr is not None:
            with suppress(OSError):  # nobody may be left to read it
                sys.stderr.write("Interrupted.\n")
    sys.exit(code)


def _end(number: int, frame: FrameType | None) -> None:
    del frame
    _ignore_signals()
    raise Signalled(number)


def _ignore_signals() -> None:
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    main()
