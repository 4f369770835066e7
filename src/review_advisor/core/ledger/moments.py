"""Moments as the record counts them: whole microseconds since 1970, UTC. Standard library only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The first moment that the record knows."""
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""The last one. Every period that ends later still ends within the calendar."""


def in_the_record(moment: datetime) -> datetime:
    """The moment itself, or the first or last one that the record knows where a wrong clock shows one beyond."""
    return min(max(moment, EPOCH), LATEST)


def microseconds(moment: datetime) -> int:
    """Since 1970, UTC; negative before."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment_of(count: int) -> datetime:
    """The moment so many microseconds after 1970. Raises ``OverflowError`` where no calendar goes."""
    return EPOCH + timedelta(microseconds=count)
