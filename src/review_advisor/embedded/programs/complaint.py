"""What a program said about lines of one file."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.answers.answers import Severity
from review_advisor.embedded.rule_table import CheckKind


@dataclass(frozen=True, slots=True)
class Complaint:
    """``rule`` is broken on the lines ``first`` to ``last``. ``is_syntax``: the program reads no further there.

    ``others`` are further lines that the program points to.
    """

    rule: str
    message: str
    first: int
    last: int
    check: CheckKind
    severity: Severity
    confidence: float
    is_syntax: bool = False
    others: tuple[int, ...] = ()


class CannotRead(Complaint):
    """The program does not read this file at all. ``message`` says why."""


def syntax(message: str, line: int) -> Complaint:
    """The program cannot parse the file."""
    return Complaint("invalid-syntax", message, line, line, "bug", "high", 0.9, is_syntax=True)


def cannot_read(message: str) -> CannotRead:
    """The program does not know this kind of file."""
    return CannotRead("", message, 1, 1, "bug", "low", 0.0)
