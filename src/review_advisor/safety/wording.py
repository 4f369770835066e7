"""How numbers, sums and lines are worded."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, what: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def counted_findings(kept: int, merged: int = 0, refused: int = 0) -> str:
    """How many findings there are, and what became of the other remarks: ``2 findings (1 merged into them)``."""
    others = (f"{merged:,} merged into them" if merged else "", f"{refused:,} refused" if refused else "")
    rest = ", ".join(filter(None, others))
    return f"{counted(kept, 'finding')}{f' ({rest})' if rest else ''}"


def and_unknown(unpriced: int, what: str = "call") -> str:
    """What stands behind a sum that lacks the cost of so many calls or consults; nothing behind a whole one."""
    return f", and {counted(unpriced, what)} unknown" if unpriced else ""


def printable_line(text: str) -> str:
    """Untrusted text on one line of a terminal: an invisible character becomes an escape sequence."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


def table(rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Columns in line with one another; where the lines are longer than ``width``, the last one gives way."""
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    room = None if width is None else max(width - sum(wide) - 2 * len(wide), 12)
    lines = []
    for *cells, last in rows:
        fitted = last if room is None or len(last) <= room else last[: room - 3] + "..."
        lines.append("  ".join([*(f"{cell:<{w}}" for cell, w in zip(cells, wide, strict=True)), fitted]).rstrip())
    return "\n".join(lines) + "\n"
