"""Cutting a time into periods of equal length, for plots. Standard library only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from review_advisor.core.record.kpis import Period

MOST_PERIODS = 100
"""More points than this are no picture."""
_DAYS = (1, 7, 28, 364)


def periods(first: datetime, last: datetime, since: datetime | None = None) -> tuple[Period, ...]:
    """From the day of ``first`` (UTC) to that of ``last``, in days, weeks, or longer: ``MOST_PERIODS`` at most.

    The first one begins no earlier than ``since``. Together they hold every moment from ``first`` to ``last`` once.
    """
    start = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = (last - start).days + 1
    length = next((each for each in _DAYS if days <= each * MOST_PERIODS), -(-days // MOST_PERIODS))
    starts = [start + timedelta(days=day) for day in range(0, days, length)]
    ends: list[datetime | None] = [*starts[1:], None]
    begins = [max(starts[0], since) if since else starts[0], *starts[1:]]
    return tuple(Period(begin, end) for begin, end in zip(begins, ends, strict=True))
