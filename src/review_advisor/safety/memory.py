"""How much memory a process keeps: collection of garbage, and pages given back."""

from __future__ import annotations

import atexit
import gc
from contextlib import suppress

_OWN_PAGES_FROM = -3  # M_MMAP_THRESHOLD of glibc's malloc.h

_BYTES = 64 * 1024
"""Prompts and answers of a large change are longer. Of so many bytes or more, a text has pages of its own."""


def give_back_freed_memory() -> None:
    """Let the long texts that are freed go back to the system at once.

    Parts of a large change are judged side by side, and each thread would keep a heap with holes where its prompts
    were. Does nothing where the C library is not glibc.
    """
    with suppress(ImportError, OSError, TypeError, AttributeError):
        import ctypes  # noqa: PLC0415 - not every Python has it

        ctypes.CDLL(None).mallopt(_OWN_PAGES_FROM, _BYTES)


_NEW_OBJECTS = 100_000
"""Nearly all that a start makes is kept. To look through it after every 700 new objects takes a tenth of the start."""


def collect_rarely() -> None:
    """Look for garbage only after many new objects, and not at the end. What is in no circle goes at once, as ever."""
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)  # all that is left goes with the process: to look through it takes a tenth of a review
