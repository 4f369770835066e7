"""Moments and periods as they are typed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

_AGO = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_YEARS = (1970, 9998)
"""Runs begin in or after the first; a zone, or a window before it, leads out of the calendar beyond the second."""


def moment(text: str) -> datetime:
    """A day or a moment (ISO 8601; UTC where no zone is given), or how long ago: ``24h``, ``7d``, ``2w``."""
    ago = re.fullmatch(r"(\d{1,4})([hdw])", text, re.ASCII)
    if ago is not None:
        return datetime.now(UTC) - int(ago[1]) * _AGO[ago[2]]
    try:
        said = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a date: give one like 2026-01-31, or 24h, 7d, 2w ago.") from None
    if not _YEARS[0] <= said.year <= _YEARS[1]:
        raise click.BadParameter(f"{text!r} is out of reach: give a date from {_YEARS[0]} to {_YEARS[1]}.")
    return said if said.tzinfo else said.replace(tzinfo=UTC)


def in_order(since: datetime | None, until: datetime | None) -> None:
    """Refuse a period in which nothing can be."""
    if since is not None and until is not None and since >= until:
        raise click.UsageError(f"--since ({since.isoformat()}) is not before --until ({until.isoformat()}).")
