"""What a row of the ledger is, and what a database takes as its values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Scalar = str | int | float | None
Row = Mapping[str, Scalar]
"""One row of a table, by column."""
Tables = Mapping[str, tuple[Row, ...]]
"""Rows by their table."""

_LARGEST = 10**15


@dataclass(frozen=True, slots=True)
class Participant:
    """Who took part in a run. ``role`` is empty for a surface in which nobody was asked, ``error`` for an answer."""

    surface: str
    role: str = ""
    model: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """All rows of one run. ``run`` lacks what the ledger numbers itself: repository, author and casting."""

    repository: str | None
    author: str | None
    casting: tuple[Participant, ...]
    run: Row
    tables: Tables


def row(**values: Scalar) -> Row:
    """A row that can be stored."""
    return {name: storable(value) for name, value in values.items()}


def storable(value: Scalar) -> Scalar:
    """What a database takes: no half characters, no NUL, no number without bounds. The events keep it as it was."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, int):
        return max(-_LARGEST, min(int(value), _LARGEST))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def storable_text(text: str) -> str:
    """The same for a text."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def casting_of(parts: Iterable[Participant]) -> tuple[Participant, ...]:
    """Each part once, in an order of their own: runs in which the same took part have the same casting."""
    kept = {Participant(*map(storable_text, (p.surface, p.role, p.model, p.error))) for p in parts}
    return tuple(sorted(kept, key=lambda part: (part.surface, part.role, part.model, part.error)))
