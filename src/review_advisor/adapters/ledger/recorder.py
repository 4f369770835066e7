"""Recording reviews, tasks and shadows while they happen: each event at once, so that a killed run leaves them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from review_advisor.adapters.ledger.chains import add_link, begin_chain
from review_advisor.adapters.ledger.database import open_to_write, sentences
from review_advisor.adapters.ledger.rows import add_readings, event_text, write_readings, write_tables
from review_advisor.adapters.ledger.transactions import transaction
from review_advisor.core.ledger.chain import FIRST, LedgerError, link
from review_advisor.core.ledger.event_rows import event_rows
from review_advisor.core.ledger.moments import in_the_record, microseconds
from review_advisor.core.ledger.readings import readings_of, readings_so_far, used_so_far
from review_advisor.core.ledger.row import Tables
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document
from review_advisor.core.outcome.events import Event, PolicyFrozen, ReviewEnded
from review_advisor.core.policy.policy import Policy

if TYPE_CHECKING:
    from review_advisor.core.shadow.shadow_events import ShadowBegan, ShadowEvent
    from review_advisor.core.task.task_events import TaskBegun, TaskEvent

Told = TypeVar("Told", bound="Event | TaskEvent | ShadowEvent")


@dataclass
class _GrowingChain(Generic[Told]):
    """A chain that is written event by event, each within a transaction."""

    row: int = 0
    events: list[Told] = field(default_factory=list)
    _run_id: str = ""
    _last: str = FIRST

    def since_it_began(self, event: Told) -> Told:
        """The event at a moment that every reader takes, whatever a wrong clock shows.

        A clock may be set back meanwhile: then the event happened when the run began.
        """
        began = self.events[0].at if self.events else event.at
        return replace(event, at=in_the_record(max(event.at, began)))

    def begin(self, connection: sqlite3.Connection, first: PolicyFrozen | TaskBegun | ShadowBegan) -> None:
        self._run_id = first.run_id
        self.row = begin_chain(connection, first.run_id, microseconds(first.at))

    def add(self, connection: sqlite3.Connection, event: Told) -> None:
        made = link(self._run_id, len(self.events), self._last, event_text(event))
        add_link(connection, self.row, made)
        self._last = made.hash
        self.events.append(event)


class Recorder:
    """A subscriber of one review's events that writes them into the ledger at ``path``.

    The ledger is opened with the first event. The end is recorded by ``finish``, once it is settled. Whatever goes
    wrong with the ledger is one sentence to ``warn``; the review goes on without it.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._warn = warn
        self._connection: sqlite3.Connection | None = None
        self._chain = _GrowingChain[Event]()
        self._policy: Policy | None = None
        self._given_up = False

    def __call__(self, event: Event) -> None:
        """Record one event. Events come one at a time, from whatever thread."""
        if isinstance(event, ReviewEnded):
            return  # what is stored may yet say otherwise: an interrupt counts until then
        self._try(lambda: self._begin(event) if isinstance(event, PolicyFrozen) else self._append(event))

    def finish(self, document: OutcomeDocument) -> None:
        """Record the review's end, and the rows that are read from its document."""
        self._try(lambda: self._finish(document))

    def _try(self, step: Callable[[], None]) -> None:
        if self._given_up:
            return
        try:
            with sentences(self._path):
                step()
        except LedgerError as problem:
            self._given_up = True
            self.close()
            self._warn(f"{problem} This review is not recorded there to its end.")

    def _append(self, happened: Event) -> None:
        chain, event = self._chain, self._chain.since_it_began(happened)
        with transaction(self._open()):
            tables = event_rows(self._policy, len(chain.events), event) if self._policy else {}
            chain.add(self._open(), event)
            if self._policy and tables:
                add_readings(self._open(), chain.row, tables, *used_so_far(self._policy, chain.events))

    def _begin(self, happened: PolicyFrozen) -> None:
        first = replace(happened, at=in_the_record(happened.at))
        self._policy = first.policy
        with transaction(self._open()):
            self._chain.begin(self._open(), first)
            self._chain.add(self._open(), first)
            write_readings(self._open(), self._chain.row, readings_so_far([first]))

    def _finish(self, settled: OutcomeDocument) -> None:
        events = tuple(map(self._chain.since_it_began, settled.events))
        document = settled if events == settled.events else outcome_document(events)
        with transaction(self._open()):
            for event in document.events[len(self._chain.events) :]:
                self._chain.add(self._open(), event)
            write_readings(self._open(), self._chain.row, readings_of(document))

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_to_write(self._path)
        return self._connection

    def close(self) -> None:
        """Let go of the ledger; the next event would open it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class ChainRecorder(Generic[Told]):
    """A subscriber of one task's or shadow's events that writes them into the ledger at ``path``, with their tables.

    Whatever goes wrong with the ledger is one sentence to ``warn``, which calls the chain ``what``; its work goes on.
    """

    def __init__(
        self, path: Path, warn: Callable[[str], None], what: str, readings: Callable[[list[Told]], Tables]
    ) -> None:
        self._path = path
        self._warn = warn
        self._what = what
        self._readings = readings
        self._chain = _GrowingChain[Told]()
        self._given_up = False

    def __call__(self, event: Told) -> None:
        """Record one event."""
        if self._given_up:
            return
        try:
            again = bool(self._chain.events)
            opened = open_to_write(self._path, again=again)
            with sentences(self._path), closing(opened) as connection, transaction(connection):
                self._add(connection, self._chain.since_it_began(event))
        except LedgerError as problem:
            self._given_up = True
            self._warn(f"{problem} This {self._what} is not recorded there to its end.")

    def _add(self, connection: sqlite3.Connection, event: Told) -> None:
        from review_advisor.core.shadow.shadow_events import ShadowBegan  # noqa: PLC0415 (no review needs it)
        from review_advisor.core.task.task_events import TaskBegun  # noqa: PLC0415 (as above)

        if isinstance(event, TaskBegun | ShadowBegan):
            self._chain.begin(connection, event)
        self._chain.add(connection, event)
        write_tables(connection, self._chain.row, self._readings(self._chain.events))


class TaskRecorder(ChainRecorder["TaskEvent"]):
    """The recorder of one task."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        from review_advisor.core.ledger.task_rows import readings_of_task  # noqa: PLC0415 (as above)

        super().__init__(path, warn, "task", readings_of_task)
