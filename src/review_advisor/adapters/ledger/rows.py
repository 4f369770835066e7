"""The readings of a run, written into their tables: in place of those that were there."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from review_advisor.adapters.ledger.chains import chain_id, read_chains
from review_advisor.core.outcome.document import outcome_document
from review_advisor.core.outcome.events import Event, PolicyFrozen, ReviewEnded
from review_advisor.core.record.chain import RUN_ID, Chain, LedgerError, Link, canonical, first_break
from review_advisor.core.record.labels import Observed
from review_advisor.core.record.readings import (
    Part,
    Readings,
    Row,
    Scalar,
    readings_of,
    readings_of_beginning,
    readings_of_observation,
)

TABLES = (
    *("titles", "changes", "calls", "findings", "consults", "votes", "dispositions", "questions"),
    *("kept", "unreported"),
)
OBSERVED_TABLES = ("observations", "labels", "proofs")
_MET = ("validations", "fates")
_REVIEWS = """
    SELECT * FROM runs WHERE pull_request = :number AND status NOT IN ('stopped', 'unfinished')
    AND repository IN (SELECT id FROM repositories WHERE name = :repository COLLATE NOCASE)
"""
_VALIDATE = f"""
    INSERT INTO validations (chain, finding, proved_right, repository)
    SELECT min(reviews.chain), finding, proved_right, reviews.repository
    FROM ({_REVIEWS}) AS reviews JOIN findings USING (chain) JOIN proofs USING (finding)
    WHERE proofs.chain = :newest GROUP BY finding
"""  # noqa: S608 (our own names)
_FATE = f"""
    INSERT INTO fates (chain, repository, approved, consulted, reverted, overridden)
    SELECT max(reviews.chain), reviews.repository, status = 'approved', consults > 0, reverted, overridden
    FROM ({_REVIEWS}) AS reviews JOIN changes USING (chain) JOIN observations USING (head_sha)
    WHERE observations.chain = :newest GROUP BY head_sha
"""  # noqa: S608 (our own names)
_OBSERVED = '"kind":"observed"'
"""Stands in an observation's JSON; in a text of another event its quotes would be escaped."""
_VALUES: TypeAdapter[object] = TypeAdapter(object)
"""Writes any value; the adapter of all events, which is slow to make, is needed only to read one."""


def event_text(event: Event | Observed) -> str:
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


def observation_in(chain: Chain) -> Observed | None:
    """The one event of an observation's chain; None for the chain of a review. Raises ``LedgerError`` as above."""
    if not chain.links or _OBSERVED not in chain.links[0].event:
        return None
    observed: Observed = _read(chain, chain.links[0], _observation_reader())
    if len(chain.links) > 1 or observed.run_id != chain.run_id:
        raise LedgerError(f"The events of {chain.run_id} are those of no observation.")
    return observed


def begun_at(chain: Chain) -> datetime:
    """When a chain's first event happened. Raises ``LedgerError`` for a chain that this version cannot read."""
    observed = observation_in(chain)
    return observed.at if observed is not None else review_in(chain)[0].at


def _event(chain: Chain, link: Link) -> Event:
    event: Event = _read(chain, link, _reader())
    return event


def _read(chain: Chain, link: Link, reader: TypeAdapter[Any]) -> Any:
    try:
        told = json.loads(link.event)
        if canonical(told) == link.event:
            return reader.validate_python(told)
    except (ValidationError, ValueError, RecursionError):
        pass
    raise LedgerError(f"Event {link.index} of {chain.run_id} is none that this version knows.")


@cache
def _reader() -> TypeAdapter[Event]:
    return TypeAdapter(Event)


@cache
def _observation_reader() -> TypeAdapter[Observed]:
    return TypeAdapter(Observed)


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
    for table in (*TABLES, *_MET, "runs"):
        connection.execute(f"DELETE FROM {table} WHERE chain = ?", (chain,))  # noqa: S608 (our own names)
    numbers = {
        "chain": chain,
        "repository": _repository(connection, readings.repository),
        "casting": write_casting(connection, readings.casting),
    }
    _insert(connection, "runs", [{**numbers, **readings.run}])
    for table, rows in readings.tables.items():
        _insert(connection, table, [{"chain": chain, **row} for row in rows])
    _meet(connection, readings.repository, readings.run["pull_request"])


def write_observation(connection: sqlite3.Connection, chain: int, observed: Observed) -> None:
    """The same for an observation's rows."""
    for table in OBSERVED_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE chain = ?", (chain,))  # noqa: S608 (our own names)
    tables = readings_of_observation(observed)
    for table, rows in tables.items():
        _insert(connection, table, [{"chain": chain, **row} for row in rows])
    (about,) = tables["observations"]
    _meet(connection, about["repository"], about["pull_request"])


def _meet(connection: sqlite3.Connection, repository: Scalar, number: Scalar) -> None:
    """Let the newest observation of a pull request meet its reviews, in the place of whatever met them before."""
    named = {"repository": repository, "number": number}
    newest = connection.execute(
        "SELECT max(chain) FROM observations WHERE pull_request = :number AND repository = :repository", named
    ).fetchone()[0]
    if newest is not None:
        for table in _MET:
            connection.execute(f"DELETE FROM {table} WHERE chain IN (SELECT chain FROM ({_REVIEWS}))", named)  # noqa: S608 (our own names)
        connection.execute(_VALIDATE, {**named, "newest": newest})
        connection.execute(_FATE, {**named, "newest": newest})


def read_anew(connection: sqlite3.Connection, row: int, chain: Chain) -> None:
    """The rows of one chain, whatever it is of, from its events. Raises ``LedgerError``."""
    observed = observation_in(chain)
    if observed is None:
        write_readings(connection, row, readings_of_chain(chain))
    else:
        write_observation(connection, row, observed)


def read_all_anew(connection: sqlite3.Connection) -> None:
    """The rows of every run from its events, after the tables have changed. To be called within a transaction.

    A run whose chain is broken, or which this version cannot read, has none from then on; ``verify`` names it.
    """
    for chain in read_chains(connection):
        with suppress(LedgerError):
            row = chain_id(connection, chain.run_id)
            if row is not None and chain.links and first_break(chain) is None:
                read_anew(connection, row, chain)


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
