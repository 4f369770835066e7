"""How often a process looks for garbage in circles."""

from __future__ import annotations

import atexit
import gc

_NEW_OBJECTS = 100_000
"""Nearly all that a start makes is kept. To look through it after every 700 new objects takes a tenth of the start."""


def collect_rarely() -> None:
    """Look for garbage only after many new objects, and not at the end. What is in no circle goes at once, as ever."""
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)  # all that is left goes with the process: to look through it takes a tenth of a review
