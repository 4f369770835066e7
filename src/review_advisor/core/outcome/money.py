"""How a sum of money is told that is known only in part. Standard library only: a list of runs must come at once."""

from __future__ import annotations

from review_advisor.core.outcome.counted import counted


def and_unknown(unpriced: int) -> str:
    """What stands behind a sum that lacks the cost of so many calls; nothing behind a whole one."""
    return f", and {counted(unpriced, 'call')} unknown" if unpriced else ""
