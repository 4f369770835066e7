"""How long pictures are looked at."""

from __future__ import annotations

import time
from collections.abc import Callable

MOST_SECONDS = 120
"""For all pictures of one review together. They are compared before the review's own clock starts."""


class TooLargeError(Exception):
    """The picture is over a limit; the text says which."""


class Deadline:
    """Begins when it is made. Whoever looks at pictures checks it before each step of the work."""

    def __init__(self, check_interrupt: Callable[[], None]) -> None:
        self._check_interrupt = check_interrupt
        self._began = time.monotonic()

    def check(self) -> None:
        """Raises ``TooLargeError`` once the seconds are over, and whatever ``check_interrupt`` raises."""
        self._check_interrupt()
        if time.monotonic() - self._began >= MOST_SECONDS:
            raise TooLargeError(f"the {MOST_SECONDS} seconds for all pictures were over")
