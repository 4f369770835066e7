"""What a process frees goes back to the system."""

from __future__ import annotations

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
