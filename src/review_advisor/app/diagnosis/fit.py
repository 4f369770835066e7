"""``doctor --fit``: whether the advisor pays here, read from the ledger."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from review_advisor.app.doctor import Diagnosis
from review_advisor.app.rollup import roll_up, roll_up_advice
from review_advisor.core.ledger.periods import Period
from review_advisor.core.metrics.fitness import fitness

DAYS = 90
"""Older reviews say little about today's models and changes."""


def examine_fit(ledger: Path, now: datetime) -> tuple[Diagnosis, ...]:
    """Each condition under which advice pays, by the reviews of the three months before ``now``.

    Raises ``LedgerError``.
    """
    period = Period(now - timedelta(days=DAYS), now)
    told = fitness(roll_up(ledger, period).sums, roll_up_advice(ledger, period).ratings)
    return tuple(
        Diagnosis(
            "fit",
            each.name,
            each.holds,
            f"{each.says}{f'; {each.remedy}' if each.holds is False else ''}.",
        )
        for each in told
    )
