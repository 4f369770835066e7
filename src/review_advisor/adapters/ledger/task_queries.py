"""Asking the ledger about tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, get_type_hints

from review_advisor.adapters.ledger.chain_events import task_in
from review_advisor.adapters.ledger.chains import read_chain
from review_advisor.adapters.ledger.conditions import bindable
from review_advisor.adapters.ledger.database import open_to_read, sentences
from review_advisor.adapters.ledger.transactions import line_of, rows
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.moments import microseconds
from review_advisor.core.ledger.runs import ANY_ERROR, NO_ERROR, Between
from review_advisor.core.ledger.task_lines import TaskFilter, TaskLine
from review_advisor.core.task.task_events import TaskEvent

_HINTS = get_type_hints(TaskLine)


def list_tasks(path: Path, wanted: TaskFilter) -> list[TaskLine]:
    """The newest tasks that are all of this, at most ``wanted.limit``. Raises ``LedgerError``."""
    conditions, values = _conditions(wanted)
    where = " AND ".join(conditions) or "1"
    question = (
        "SELECT run_id, chain AS started_at, tasks.* FROM tasks JOIN chains ON chains.id = chain"  # noqa: S608 (own)
        f" WHERE {where} ORDER BY chain DESC LIMIT ?"
    )
    with sentences(path), closing(open_to_read(path)) as connection:
        return [line_of(TaskLine, _HINTS, path, row) for row in rows(connection, question, (*values, wanted.limit))]


def count_tasks(path: Path, wanted: TaskFilter) -> int:
    """How many tasks are all of this, whatever its limit. Raises ``LedgerError``."""
    conditions, values = _conditions(wanted)
    question = f"SELECT count(*) FROM tasks WHERE {' AND '.join(conditions) or '1'}"  # noqa: S608 (own)
    with sentences(path), closing(open_to_read(path)) as connection:
        return int(connection.execute(question, values).fetchone()[0])


def read_tasks(path: Path, run_ids: Iterable[str]) -> Iterator[tuple[TaskEvent, ...] | str]:
    """The events of each of these tasks, or one sentence on why they cannot be told. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        for run_id in run_ids:
            try:
                yield task_in(read_chain(connection, run_id)) or f"The events of {run_id} are those of no task."
            except LedgerError as trouble:
                yield str(trouble)


def _conditions(wanted: TaskFilter) -> tuple[list[str], list[Any]]:
    consults = wanted.consults or Between()
    words = None if wanted.text is None else bindable(wanted.text).replace("\0", "\\x00")
    asked: dict[str, Any] = {
        "status = ?": wanted.status,
        "? IN (executor_backend, advisor_backend)": wanted.backend,
        "error_mode = ?": None if wanted.error == ANY_ERROR else wanted.error,
        "error_mode <> ?": NO_ERROR if wanted.error == ANY_ERROR else None,
        "consults >= ?": consults.low,
        "consults <= ?": consults.high,
        "instr(lower(task), lower(?)) > 0": words,
        "chain >= ?": wanted.since and microseconds(wanted.since),
        "chain < ?": wanted.until and microseconds(wanted.until),
    }
    given = {condition: value for condition, value in asked.items() if value is not None}
    return list(given), [bindable(value) for value in given.values()]
