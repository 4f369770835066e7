"""How a sum of money is told that is known only in part. Standard library only: a list of runs must come at once."""

from __future__ import annotations


def and_unknown(unpriced: int) -> str:
    """What stands behind a sum that lacks the cost of so many calls; nothing behind a whole one."""
    return f", and {unpriced:,} call{'' if unpriced == 1 else 's'} unknown" if unpriced else ""
