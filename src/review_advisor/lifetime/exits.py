"""How a child process ended, as facts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EndedBy(StrEnum):
    """Why we ended a child that would have gone on."""

    DEADLINE = "deadline"
    REQUEST = "request"
    OBSERVER = "observer"
    OVERFLOW = "overflow"


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of one child. ``code`` is negative for a signal; ``ended_by`` None means it ended by itself."""

    code: int
    ended_by: EndedBy | None = None
    stderr_tail: str = ""
    seconds: float = 0.0
