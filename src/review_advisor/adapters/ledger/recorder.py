"""Recording a review while it happens: each event at once, so that a killed run leaves its events."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from review_advisor.adapters.ledger.chains import add_link, begin_chain
from review_advisor.adapters.ledger.database import open_to_write, sentences
from review_advisor.adapters.ledger.rows import add_readings, event_text, write_readings
from review_advisor.adapters.ledger.transactions import transaction
from review_advisor.core.ledger.chain import FIRST, LedgerError, link
from review_advisor.core.ledger.event_rows import event_rows
from review_advisor.core.ledger.moments import in_the_record, microseconds
from review_advisor.core.ledger.readings import readings_of, readings_so_far, used_so_far
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document
from review_advisor.core.outcome.events import Event, PolicyFrozen, ReviewEnded
from review_advisor.core.policy.policy import Policy


class Recorder:
    """A subscriber of one review's events that writes them into the ledger at ``path``.

    The ledger is opened with the first event. The end is recorded by ``finish``, once it is settled. Whatever goes
    wrong with the ledger is one sentence to ``warn``; the review goes on without it.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._warn = warn
        self._connection: sqlite3.Connection | None = None
        self._chain = 0
        self._run_id = ""
        self._policy: Policy | None = None
        self._events: list[Event] = []
        self._last = FIRST
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
        event = self._since_it_began(happened)
        with transaction(self._open()):
            tables = event_rows(self._policy, len(self._events), event) if self._policy else {}
            self._add(event)
            if self._policy and tables:
                add_readings(self._open(), self._chain, tables, *used_so_far(self._policy, self._events))

    def _begin(self, happened: PolicyFrozen) -> None:
        first = replace(happened, at=in_the_record(happened.at))
        self._run_id, self._policy = first.run_id, first.policy
        with transaction(self._open()):
            self._chain = begin_chain(self._open(), first.run_id, microseconds(first.at))
            self._add(first)
            write_readings(self._open(), self._chain, readings_so_far([first]))

    def _finish(self, settled: OutcomeDocument) -> None:
        events = tuple(map(self._since_it_began, settled.events))
        document = settled if events == settled.events else outcome_document(events)
        with transaction(self._open()):
            for event in document.events[len(self._events) :]:
                self._add(event)
            write_readings(self._open(), self._chain, readings_of(document))

    def _since_it_began(self, event: Event) -> Event:
        """The event at a moment that every reader takes, whatever a wrong clock shows.

        A clock may be set back meanwhile: then the event happened when the run began.
        """
        began = self._events[0].at if self._events else event.at
        return replace(event, at=in_the_record(max(event.at, began)))

    def _add(self, event: Event) -> None:
        made = link(self._run_id, len(self._events), self._last, event_text(event))
        add_link(self._open(), self._chain, made)
        self._last = made.hash
        self._events.append(event)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_to_write(self._path)
        return self._connection

    def close(self) -> None:
        """Let go of the ledger; the next event would open it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
