"""Periods of time, and cutting one into some of equal length, for plots. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

MOST_PERIODS = 100
"""More points than this are no picture."""
_DAYS = (1, 7, 28, 364)


@dataclass(frozen=True, slots=True)
class Period:
    """The runs that began at ``since`` or later, and before ``until``, of one repository or of all (None)."""

    since: datetime | None = None
    until: datetime | None = None
    repository: str | None = None


def periods(first: datetime, last: datetime, whole: Period) -> tuple[Period, ...]:
    """From the day of ``first`` (UTC) to that of ``last``, in days, weeks, or longer: ``MOST_PERIODS`` at most.

    The first one begins no earlier than the ``whole`` period, and the last one ends with it. Together they hold every
    moment from ``first`` to ``last`` once.
    """
    start = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = (last - start).days + 1
    length = next((each for each in _DAYS if days <= each * MOST_PERIODS), -(-days // MOST_PERIODS))
    starts = [start + timedelta(days=day) for day in range(0, days, length)]
    ends: list[datetime | None] = [*starts[1:], whole.until]
    begins = [max(starts[0], whole.since) if whole.since else starts[0], *starts[1:]]
    return tuple(Period(begin, end) for begin, end in zip(begins, ends, strict=True))
