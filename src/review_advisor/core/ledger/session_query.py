"""What the address of the sessions may ask for: the filters that reviews and tasks share, and a task's backend."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.ledger.runs import Between
from review_advisor.core.ledger.task_lines import TaskFilter

MOST_SESSIONS = 1_000
EVERY_SESSION = TaskFilter(limit=MOST_SESSIONS)
_NAMES = ("status", "backend", "error", "text", "consults")
_MOST_DIGITS = 9


def session_query(asked: Sequence[tuple[str, str]]) -> TaskFilter | None:
    """What the names and values of an address ask for; None where they mean nothing.

    ``consults`` is an exact number.
    """
    found = dict(asked)
    if not found or len(found) < len(asked) or not set(found) <= set(_NAMES) or not all(found.values()):
        return None
    many = found.pop("consults", None)
    if many is not None and not (many.isascii() and many.isdecimal() and len(many) <= _MOST_DIGITS):
        return None
    return TaskFilter(
        status=found.get("status"),
        backend=found.get("backend"),
        error=found.get("error"),
        consults=None if many is None else Between(int(many), int(many)),
        text=found.get("text"),
        limit=MOST_SESSIONS,
    )
