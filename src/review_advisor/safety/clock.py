"""The machine's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """Real time."""

    def now(self) -> datetime:
        """The present moment, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class ReplayClock:
    """The clock of a review that is played again: from ``began`` on, time goes by only where somebody waits."""

    def __init__(self, began: datetime) -> None:
        self._began = began
        self._waited = 0.0

    def now(self) -> datetime:
        """The moment that it has come to."""
        return self._began + timedelta(seconds=self._waited)

    def monotonic(self) -> float:
        """The seconds that were waited."""
        return self._waited

    def sleep(self, seconds: float) -> None:
        """Let so much time go by at once."""
        self._waited += seconds
