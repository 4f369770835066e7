"""What can be asked about tasks, and how the answer is shown. Standard library only: a list must come at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from review_advisor.core.ledger.runs import Between
from review_advisor.core.report.wording import printable_line, table


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks are wanted: those that are all of this. None asks for nothing.

    ``backend`` is that of either side, ``error`` the error mode.
    """

    status: str | None = None
    backend: str | None = None
    error: str | None = None
    consults: Between | None = None
    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 20


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One task in a list. ``cost_usd`` is what its calls reported, None where none did."""

    run_id: str
    started_at: str
    task: str
    status: str
    error_mode: str
    executor_backend: str
    advisor_backend: str
    consults: int
    guidances: int
    proposals: int
    malformed: int
    executor_calls: int
    executor_tokens: int
    advisor_tokens: int
    cost_usd: float | None
    duration_ms: int

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self)


def tasks_text(lines: Sequence[TaskLine], width: int | None = None) -> str:
    """The tasks as a table, one a line, no longer than ``width`` where only the task is shortened."""
    if not lines:
        return "No task matches.\n"
    head = ("run", "started (UTC)", "status", "backends", "consults", "cost", "error", "task")
    rows = [
        (
            each.run_id,
            each.started_at[:16].replace("T", " "),
            each.status,
            f"{each.executor_backend} > {each.advisor_backend}",
            str(each.consults),
            "-" if each.cost_usd is None else f"${each.cost_usd:.4f}",
            each.error_mode,
            printable_line(each.task),
        )
        for each in lines
    ]
    return table([head, *rows], width)
