"""What the reviews of a period come to, read from the ledger: their KPIs, their money, and alerts."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from review_advisor.adapters.ledger.browsing import RecordedRun, read_reviews
from review_advisor.adapters.ledger.run_queries import knows_repository, list_runs
from review_advisor.adapters.ledger.shadows.shadow_mode_sums import shadow_mode_sums
from review_advisor.adapters.ledger.shadows.shadow_sums import shadow_sums
from review_advisor.adapters.ledger.sums import add_up
from review_advisor.adapters.price_file import read_prices
from review_advisor.adapters.user_file import required_file
from review_advisor.core.exports.weekly_rollup import WeeklyRollup
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.periods import Period
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.core.metrics.kpis import Alarm, Rollup, alarms, kpis, windows
from review_advisor.core.metrics.price_list import parse_prices
from review_advisor.core.metrics.prices import Price, PriceError, money
from review_advisor.core.shadow.shadow_rollup import ShadowRollup


def roll_up(ledger: Path, period: Period, prices: Path | None = None) -> Rollup:
    """The KPIs and the money of a period, by the list of prices at ``prices`` or the shipped one.

    Raises ``LedgerError``, and ``PriceError`` for a list of prices that cannot be read.
    """
    listed = listed_prices(prices)
    added = add_up(ledger, period)
    return Rollup(added.sums, money(added.reported_usd, added.unpriced, listed), kpis(added.sums))


def listed_prices(prices: Path | None) -> tuple[Price, ...]:
    """The list of prices at ``prices``, or the shipped one. Raises ``PriceError``."""
    return read_prices() if prices is None else prices_of_user(prices)


def prices_of_user(path: Path) -> tuple[Price, ...]:
    """The list of prices in the file at ``path``. Raises ``PriceError``."""
    name = f"The list of prices {path}"
    try:
        return parse_prices(required_file(path, _LARGEST_LIST, PriceError, name).decode(), name)
    except UnicodeDecodeError as error:
        raise PriceError(f"{name} is not valid TOML: {error}.") from None


MOST_READ = 10_000
_LARGEST_LIST = 1_000_000


def roll_up_advice(ledger: Path, period: Period) -> WeeklyRollup:
    """What was advised in the reviews of a period, read from the events of its newest reviews.

    Raises ``LedgerError``.
    """
    wanted = RunFilter(since=period.since, until=period.until, repository=period.repository, limit=MOST_READ)
    told = WeeklyRollup(left_out=max(add_up(ledger, period).sums.runs - MOST_READ, 0))
    run_ids = [line.run_id for line in list_runs(ledger, wanted)]
    for run_id, kept in zip(run_ids, read_reviews(ledger, run_ids), strict=True):
        match kept:
            case RecordedRun():
                told.add(run_id, kept.events)
            case _:
                told.unreadable += 1
    return told


def roll_up_shadows(ledger: Path, period: Period) -> ShadowRollup:
    """What ran in shadow in a period, and what it would have decided. Raises ``LedgerError``."""
    return ShadowRollup(shadow_sums(ledger, period), shadow_mode_sums(ledger, period))


def look_for_alarms(ledger: Path, now: datetime, repository: str | None = None) -> tuple[Alarm, ...]:
    """What every alert says of the time before ``now``.

    Raises ``LedgerError``, also for a repository that the ledger has no run of.
    """
    if repository is not None and not knows_repository(ledger, repository):
        raise LedgerError(f"The ledger {ledger} has no run of {repository}. Check its name.")
    return alarms({window: add_up(ledger, Period(now - window, now, repository)).sums for window in windows()})
