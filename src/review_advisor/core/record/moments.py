"""Moments as the record counts them: whole microseconds since 1970, UTC. Standard library only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    """Since 1970, UTC; negative before."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment_of(count: int) -> datetime:
    """The moment so many microseconds after 1970. Raises ``OverflowError`` where no calendar goes."""
    return EPOCH + timedelta(microseconds=count)
