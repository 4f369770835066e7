"""Proving a ledger: its events by their hashes, and everything else in it by its events."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from review_advisor.adapters.ledger.chain_events import begun_at, observation_in, readings_of_chain
from review_advisor.adapters.ledger.chains import read_chains
from review_advisor.adapters.ledger.database import open_to_read, sentences
from review_advisor.adapters.ledger.rows import MET, OBSERVED_TABLES, TABLES, meeting
from review_advisor.adapters.ledger.transactions import one_moment, rows
from review_advisor.core.ledger.chain import Break, Chain, LedgerError, canonical
from review_advisor.core.ledger.moments import microseconds
from review_advisor.core.ledger.row import Readings, Row
from review_advisor.core.observation.observation_rows import readings_of_observation
from review_advisor.core.report.wording import counted

_READ_ANEW = "`ledger rebuild` reads it anew"
_Rows = Counter[tuple[tuple[str, Any], ...]]


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of proving a ledger: how many runs and events there are, and where each broken run breaks first.

    ``stray`` tells of rows that belong to no run.
    """

    runs: int
    events: int
    broken: tuple[Break, ...]
    stray: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether all is as it was recorded."""
        return not self.broken and not self.stray


def verify(path: Path) -> Proof:
    """Prove every chain of a ledger, and that its rows are what this version reads from the events.

    Raises ``LedgerError`` only where the ledger cannot be read at all.
    """
    runs, before, free = 0, 0, 0
    broken: list[Break] = []
    with sentences(path), closing(open_to_read(path)) as connection, one_moment(connection):
        for row, chain in read_chains(connection):
            runs, free = runs + 1, free if row == before + 1 else row
            found = chain.broken or _other_rows(connection, row, chain, free)
            before = row
            if found is not None:
                broken.append(found)
        (events,) = connection.execute("SELECT count(*) FROM events").fetchone()
        stray = (*_stray(connection), *_met_otherwise(connection))
    return Proof(runs, events, tuple(broken), stray)


def _other_rows(connection: sqlite3.Connection, row: int, chain: Chain, free: int) -> Break | None:
    """Where a chain's rows are not what its events say. Every moment from ``free`` to ``row`` is another chain's."""
    try:
        begun = microseconds(begun_at(chain))
        told = _told(chain, _untold(connection))
    except LedgerError as refusal:
        return Break(chain.run_id, None, str(refusal))
    if not free <= begun <= row:
        return Break(chain.run_id, None, "it began at another moment than the ledger says")
    for table, expected in told.items():
        if _rows(connection, table, row) != expected:
            return Break(chain.run_id, None, f"what {table} says of it is not what its events say: {_READ_ANEW}")
    return None


def _told(chain: Chain, untold: Row) -> dict[str, _Rows]:
    """Every table's rows of one chain, as its events tell them."""
    tables: dict[str, tuple[Row, ...]] = dict.fromkeys((*TABLES, *OBSERVED_TABLES, "runs", "casting_parts"), ())
    observed = observation_in(chain)
    if observed is not None:
        tables |= readings_of_observation(observed)
    else:
        tables |= _of_review(readings_of_chain(chain), untold)
    return {table: Counter(tuple(sorted(each.items())) for each in its) for table, its in tables.items()}


def _of_review(told: Readings, untold: Row) -> dict[str, tuple[Row, ...]]:
    parts: list[dict[str, Any]] = [asdict(part) for part in told.casting]
    run = {**untold, **told.run, "repository": told.repository, "casting": canonical(parts)}
    return {**told.tables, "runs": (run,), "casting_parts": tuple(parts)}


def _untold(connection: sqlite3.Connection) -> Row:
    """What stands in the table of runs where nothing is told."""
    columns = connection.execute("SELECT name, dflt_value FROM pragma_table_info('runs') WHERE name <> 'chain'")
    return {name: None if value is None else int(value) for name, value in columns}


_QUESTIONS = {
    "runs": (
        "SELECT runs.*, repositories.name AS repository, castings.key AS casting FROM runs"
        " LEFT JOIN castings ON castings.id = casting LEFT JOIN repositories ON repositories.id = repository"
        " WHERE chain = ?"
    ),
    "casting_parts": "SELECT casting_parts.* FROM casting_parts JOIN runs USING (casting) WHERE chain = ?",
}


def _rows(connection: sqlite3.Connection, table: str, row: int) -> _Rows:
    """What a table says of one chain."""
    question = _QUESTIONS.get(table, f"SELECT * FROM {table} WHERE chain = ?")  # noqa: S608 (our own names)
    own = {"chain"} | ({"casting"} if table == "casting_parts" else set())
    return Counter(
        tuple(sorted((name, value) for name, value in each.items() if name not in own))
        for each in rows(connection, question, (row,))
    )


def _stray(connection: sqlite3.Connection) -> Iterator[str]:
    """Rows that name what is not there, such as those of a run that was taken out."""
    found = Counter((table, parent) for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"))
    for (table, parent), count in sorted(found.items()):
        yield f"{counted(count, 'row')} of {table} naming {parent} that are not there"


def _met_otherwise(connection: sqlite3.Connection) -> Iterator[str]:
    """Tables in which observations and reviews do not meet as they do when they are read anew."""
    pairs = connection.execute("SELECT DISTINCT repository, pull_request FROM observations").fetchall()
    met = [asked for each in pairs if (asked := meeting(connection, *each)) is not None]
    for table, reading in MET.items():
        expected = Counter(row for each in met for row in connection.execute(reading, each))
        if expected != Counter(connection.execute(f"SELECT * FROM {table}")):  # noqa: S608 (our own names)
            yield f"what {table} says is not what observations and reviews come to: {_READ_ANEW}"
