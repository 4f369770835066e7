"""The readings of a run, written into their tables: in place of those that were there."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from review_advisor.adapters.ledger.chains import chain_id, read_chains
from review_advisor.core.outcome.document import outcome_document
from review_advisor.core.outcome.events import Event, PolicyFrozen, ReviewEnded
from review_advisor.core.record.chain import RUN_ID, Chain, LedgerError, Link, canonical, first_break
from review_advisor.core.record.readings import Part, Readings, Row, readings_of, readings_of_beginning

TABLES = (
    *("titles", "changes", "calls", "findings", "consults", "votes", "dispositions", "questions"),
    *("kept", "unreported"),
)
_VALUES: TypeAdapter[object] = TypeAdapter(object)
"""Writes any value; the adapter of all events, which is slow to make, is needed only to read one."""


def event_text(event: Event) -> str:
    """An event's canonical JSON. Raises ``LedgerError`` for a number that JSON does not know."""
    try:
        return canonical(_VALUES.dump_python(event, mode="json"))
    except ValueError:
        raise LedgerError("An event holds a number that is not finite: it cannot be kept.") from None


def review_in(chain: Chain) -> tuple[PolicyFrozen, list[Event]]:
    """The first event of a chain, which is the policy of its run, and all of them.

    Raises ``LedgerError`` for a chain that does not begin so, and for an event that this version does not know.
    """
    events = [_event(chain, link) for link in chain.links]
    first = events[0] if events else None
    if not isinstance(first, PolicyFrozen) or first.run_id != chain.run_id or not re.fullmatch(RUN_ID, chain.run_id):
        raise LedgerError(f"The events of {chain.run_id} do not begin with its policy.")
    return first, events


def _event(chain: Chain, link: Link) -> Event:
    try:
        told = json.loads(link.event)
        if canonical(told) == link.event:
            return _reader().validate_python(told)
    except (ValidationError, ValueError, RecursionError):
        pass
    raise LedgerError(f"Event {link.index} of {chain.run_id} is none that this version knows.")


@cache
def _reader() -> TypeAdapter[Event]:
    return TypeAdapter(Event)


def readings_of_chain(chain: Chain) -> Readings:
    """The rows of a run, from its events. Raises ``LedgerError``."""
    first, events = review_in(chain)
    if not isinstance(events[-1], ReviewEnded):
        return readings_of_beginning(first)
    try:
        return readings_of(outcome_document(events))
    except (LookupError, TypeError, ValueError, StopIteration):  # whoever forges a chain can forge any order
        raise LedgerError(f"The events of {chain.run_id} are those of no review.") from None


def write_readings(connection: sqlite3.Connection, chain: int, readings: Readings) -> None:
    """Put these rows in the place of the run's present ones. To be called within a transaction."""
    for table in (*TABLES, "runs"):
        connection.execute(f"DELETE FROM {table} WHERE chain = ?", (chain,))  # noqa: S608 (our own names)
    numbers = {
        "chain": chain,
        "repository": _repository(connection, readings.repository),
        "casting": write_casting(connection, readings.casting),
    }
    _insert(connection, "runs", [{**numbers, **readings.run}])
    for table, rows in readings.tables.items():
        _insert(connection, table, [{"chain": chain, **row} for row in rows])


def read_all_anew(connection: sqlite3.Connection) -> None:
    """The rows of every run from its events, after the tables have changed. To be called within a transaction.

    A run whose chain is broken, or which this version cannot read, has none from then on; ``verify`` names it.
    """
    for chain in read_chains(connection):
        with suppress(LedgerError):
            row = chain_id(connection, chain.run_id)
            if row is not None and chain.links and first_break(chain) is None:
                write_readings(connection, row, readings_of_chain(chain))


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[Row]) -> None:
    if rows:
        names, marks = ", ".join(rows[0]), ", ".join("?" * len(rows[0]))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 (our own names)
        connection.executemany(statement, [tuple(row.values()) for row in rows])


def _repository(connection: sqlite3.Connection, name: str | None) -> int | None:
    return None if name is None else _shared(connection, "repositories", "name", name)


def write_casting(connection: sqlite3.Connection, parts: Sequence[Part]) -> int:
    """The number of a casting, which is stored if it is new. To be called within a transaction."""
    rows: list[dict[str, Any]] = [asdict(part) for part in parts]
    casting = _shared(connection, "castings", "key", canonical(rows))
    for row in rows:
        connection.execute(
            "INSERT INTO casting_parts (casting, surface, role, model, error) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (casting, *row.values()),
        )
    return casting


def _shared(connection: sqlite3.Connection, table: str, column: str, value: str) -> int:
    connection.execute(f"INSERT INTO {table} ({column}) VALUES (?) ON CONFLICT DO NOTHING", (value,))  # noqa: S608
    (found,) = connection.execute(f"SELECT id FROM {table} WHERE {column} = ?", (value,)).fetchone()  # noqa: S608
    return int(found)
