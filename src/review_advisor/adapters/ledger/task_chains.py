"""Chains of other events than a review's in the ledger, each with one row: recorded as the events happen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from review_advisor.adapters.ledger.chains import add_link, begin_chain
from review_advisor.adapters.ledger.database import open_to_write, sentences
from review_advisor.adapters.ledger.rows import event_text, write_task
from review_advisor.adapters.ledger.transactions import transaction
from review_advisor.core.ledger.chain import FIRST, LedgerError, link
from review_advisor.core.ledger.moments import in_the_record, microseconds
from review_advisor.core.shadow.shadow_events import ShadowBegan, ShadowEvent
from review_advisor.core.task.task_events import TaskBegun, TaskEvent

Told = TypeVar("Told", bound=TaskEvent | ShadowEvent)


class ChainRecorder(Generic[Told]):
    """A subscriber of one chain's events that writes them into the ledger at ``path``, and its row with ``write``.

    Whatever goes wrong with the ledger is one sentence to ``warn``, which calls the chain ``what``; its work goes on.
    """

    def __init__(
        self,
        path: Path,
        warn: Callable[[str], None],
        what: str,
        write: Callable[[sqlite3.Connection, int, list[Told]], None],
    ) -> None:
        self._path = path
        self._warn = warn
        self._what = what
        self._write = write
        self._chain = 0
        self._run_id = ""
        self._events: list[Told] = []
        self._last = FIRST
        self._given_up = False

    def __call__(self, event: Told) -> None:
        """Record one event."""
        if self._given_up:
            return
        try:
            with sentences(self._path), closing(open_to_write(self._path)) as connection, transaction(connection):
                self._add(connection, event)
        except LedgerError as problem:
            self._given_up = True
            self._warn(f"{problem} This {self._what} is not recorded there to its end.")

    def _add(self, connection: sqlite3.Connection, happened: Told) -> None:
        began = self._events[0].at if self._events else happened.at
        event = replace(happened, at=in_the_record(max(happened.at, began)))
        if isinstance(event, TaskBegun | ShadowBegan):
            self._run_id = event.run_id
            self._chain = begin_chain(connection, event.run_id, microseconds(event.at))
        made = link(self._run_id, len(self._events), self._last, event_text(event))
        add_link(connection, self._chain, made)
        self._last = made.hash
        self._events.append(event)
        self._write(connection, self._chain, self._events)


class TaskRecorder(ChainRecorder[TaskEvent]):
    """The recorder of one task."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        super().__init__(path, warn, "task", write_task)
