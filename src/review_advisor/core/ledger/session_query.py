"""What the address of the sessions may ask for: the filters that reviews and tasks share, and a task's backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from review_advisor.core.ledger.runs import Between

_NAMES = ("status", "backend", "error", "text", "consults")
_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """Which sessions are wanted: those that are all of this. ``backend`` is that of either side of a task."""

    backend: str | None = None
    status: str | None = None
    error: str | None = None
    text: str | None = None
    consults: Between | None = None

    @property
    def of_both(self) -> dict[str, Any]:
        """The filters of a review and of a task."""
        return {"status": self.status, "error": self.error, "text": self.text, "consults": self.consults}


EVERY_SESSION = SessionQuery()


def session_query(asked: Sequence[tuple[str, str]]) -> SessionQuery | None:
    """What the names and values of an address ask for; None where they mean nothing.

    ``consults`` is an exact number.
    """
    found = dict(asked)
    if not found or len(found) < len(asked) or not set(found) <= set(_NAMES) or not all(found.values()):
        return None
    many = found.pop("consults", None)
    query = SessionQuery(found.get("backend"), found.get("status"), found.get("error"), found.get("text"))
    if many is None:
        return query
    if not (many.isascii() and many.isdecimal() and len(many) <= _MOST_DIGITS):
        return None
    return replace(query, consults=Between(int(many), int(many)))
