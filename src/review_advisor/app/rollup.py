"""Asking what the reviews of a period come to: their KPIs, their money, and what there is to be alarmed about."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from review_advisor.adapters.ledger.run_queries import knows_repository
from review_advisor.adapters.ledger.sums import add_up
from review_advisor.adapters.price_file import read_prices
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.periods import Period
from review_advisor.core.metrics.kpis import Alarm, Rollup, alarms, kpis, windows
from review_advisor.core.metrics.prices import money


def roll_up(ledger: Path, period: Period, prices: Path | None = None) -> Rollup:
    """The KPIs and the money of a period, by the list of prices at ``prices`` or the shipped one.

    Raises ``LedgerError``, and ``PriceError`` for a list of prices that cannot be read.
    """
    listed = read_prices(prices)
    added = add_up(ledger, period)
    return Rollup(added.sums, money(added.reported_usd, added.unpriced, listed), kpis(added.sums))


def look_for_alarms(ledger: Path, now: datetime, repository: str | None = None) -> tuple[Alarm, ...]:
    """What every alert says of the time before ``now``.

    Raises ``LedgerError``, also for a repository that the ledger has no run of.
    """
    if repository is not None and not knows_repository(ledger, repository):
        raise LedgerError(f"The ledger {ledger} has no run of {repository}: nothing would ever be said of it.")
    return alarms({window: add_up(ledger, Period(now - window, now, repository)).sums for window in windows()})
