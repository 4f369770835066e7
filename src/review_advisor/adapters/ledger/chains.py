"""Events in the ledger: added one by one, read back as chains."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from typing import Any

from review_advisor.core.record.chain import Chain, LedgerError, Link

_SHORT = 1_000
_LARGEST = 64 * 1024 * 1024


def chain_id(connection: sqlite3.Connection, run_id: str) -> int | None:
    """Which chain is this run's; None for a run that is not there."""
    found = connection.execute("SELECT id FROM chains WHERE run_id = ?", (run_id,)).fetchone()
    return None if found is None else int(found[0])


def begin_chain(connection: sqlite3.Connection, run_id: str, started: int) -> int:
    """A new chain; ``started`` in microseconds since 1970. Ids tell the order: the next free moment is taken."""
    while connection.execute("SELECT 1 FROM chains WHERE id = ?", (started,)).fetchone():
        started += 1
    connection.execute("INSERT INTO chains (id, run_id) VALUES (?, ?)", (started, run_id))
    return started


def add_link(connection: sqlite3.Connection, chain: int, link: Link) -> None:
    """Store the next event of a chain; the database refuses any other."""
    event: str | bytes = link.event
    if len(link.event) > _SHORT:
        event = zlib.compress(link.event.encode(), 3)
    connection.execute(
        "INSERT INTO events (chain, position, previous, hash, event) VALUES (?, ?, ?, ?, ?)",
        (chain, link.index, link.previous, link.hash, event),
    )


def read_chains(connection: sqlite3.Connection) -> Iterator[Chain]:
    """Every chain as it is kept, the earliest run first. What cannot be read as an event is empty."""
    for (run_id,) in connection.execute("SELECT run_id FROM chains ORDER BY id"):
        yield read_chain(connection, str(run_id))


def read_chain(connection: sqlite3.Connection, run_id: str) -> Chain:
    """One chain as it is kept. Raises ``LedgerError`` for a run that is not there."""
    row = connection.execute("SELECT id, events, last_hash FROM chains WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise LedgerError(f"The ledger has no run {run_id}.")
    links = connection.execute(
        "SELECT position, previous, hash, event FROM events WHERE chain = ? ORDER BY position", row[:1]
    )
    count = row[1] if isinstance(row[1], int) else -1
    return Chain(
        run_id,
        count,
        row[2],
        tuple(Link(place, previous, made, _unpacked(event)) for place, previous, made, event in links),
    )


def _unpacked(event: Any) -> str:
    if isinstance(event, str):
        return event
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(event, _LARGEST).decode("ascii")
    except (zlib.error, UnicodeDecodeError, TypeError):
        return ""
    return text if unpacker.eof and not unpacker.unused_data else ""
