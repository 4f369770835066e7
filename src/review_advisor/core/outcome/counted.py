"""How a number of things is told. Standard library only: a list of runs must come at once."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def counted_findings(kept: int, merged: int = 0, refused: int = 0) -> str:
    """How many findings there are, and what became of the other remarks: ``2 findings (1 merged into them)``."""
    others = (f"{merged:,} merged into them" if merged else "", f"{refused:,} refused" if refused else "")
    told = ", ".join(filter(None, others))
    return f"{counted(kept, 'finding')}{f' ({told})' if told else ''}"
