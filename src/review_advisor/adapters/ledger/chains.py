"""Events in the ledger: added one by one, read back as chains."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from typing import Any

from review_advisor.core.ledger.chain import LARGEST_RUN, Chain, LedgerError, Link, Noted, proven

NO_CHAIN = -(2**63)
"""Below the number of every chain."""
_SHORT = 1_000
_AT_ONE_MOMENT = 1_000
"""So many runs may begin in one microsecond. Ours never do; forged ones would each look longer for their place."""


def chain_id(connection: sqlite3.Connection, run_id: str) -> int | None:
    """Which chain is this run's; None for a run that is not there."""
    found = connection.execute("SELECT id FROM chains WHERE run_id = ?", (run_id,)).fetchone()
    return None if found is None else int(found[0])


def begin_chain(connection: sqlite3.Connection, run_id: str, started: int) -> int:
    """A new chain; ``started`` in microseconds since 1970. Ids tell the order: the next free moment is taken.

    Raises ``LedgerError`` where there is none.
    """
    end = started + _AT_ONE_MOMENT
    ids = connection.execute("SELECT id FROM chains WHERE id >= ? AND id < ?", (started, end))
    taken = {each for (each,) in ids}
    free = next((moment for moment in range(started, end) if moment not in taken), None)
    if free is None:
        raise LedgerError(f"The run {run_id} is refused: {_AT_ONE_MOMENT:,} runs began at the same moment already.")
    connection.execute("INSERT INTO chains (id, run_id) VALUES (?, ?)", (free, run_id))
    return free


def add_link(connection: sqlite3.Connection, chain: int, link: Link) -> None:
    """Store the next event of a chain; the database refuses any other."""
    connection.execute(
        "INSERT INTO events (chain, position, previous, hash, event) VALUES (?, ?, ?, ?, ?)",
        (chain, link.index, link.previous, link.hash, packed(link.event)),
    )


def packed(event: str) -> str | bytes:
    """An event's text as it is stored: a long one is packed."""
    return zlib.compress(event.encode(), 3) if len(event) > _SHORT else event


def read_chains(connection: sqlite3.Connection, after: int = NO_CHAIN) -> Iterator[tuple[int, Chain]]:
    """Every chain after the one with that number, each with its own, the earliest run first."""
    for number, run_id in connection.execute("SELECT id, run_id FROM chains WHERE id > ? ORDER BY id", (after,)):
        yield number, read_chain(connection, str(run_id))


def read_chain(connection: sqlite3.Connection, run_id: str) -> Chain:
    """One chain, proven while it is read. Raises ``LedgerError`` for a run that is not there."""
    number = chain_id(connection, run_id)
    if number is None:
        raise LedgerError(f"The ledger has no run {run_id}.")
    return chain_of(connection, number, run_id)


def chain_of(connection: sqlite3.Connection, number: int, run_id: str, by: str = "") -> Chain:
    """The chain with this number. ``by``: which index is used, in SQL; the usual one if it is empty."""
    events, last_hash = connection.execute("SELECT events, last_hash FROM chains WHERE id = ?", (number,)).fetchone()
    links = connection.execute(
        f"SELECT position, previous, hash, event FROM events {by} WHERE chain = ? ORDER BY position",  # noqa: S608
        (number,),
    )
    noted = Noted(events if isinstance(events, int) else -1, last_hash)
    return proven(run_id, (Link(place, before, made, _unpacked(event)) for place, before, made, event in links), noted)


def unpacked_sizes(connection: sqlite3.Connection) -> Iterator[int]:
    """The size of each event in the file, unpacked as far as a run may be large; one that is damaged counts as that."""
    for (event,) in connection.execute("SELECT event FROM events"):
        try:
            yield len(zlib.decompressobj().decompress(event, LARGEST_RUN) if isinstance(event, bytes) else str(event))
        except zlib.error:
            yield LARGEST_RUN


def _unpacked(event: Any) -> str:
    """The event's text; empty where it is none."""
    if isinstance(event, str):
        return event
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(event, LARGEST_RUN).decode("ascii")
    except (zlib.error, UnicodeDecodeError, TypeError):
        return ""
    return text if unpacker.eof and not unpacker.unused_data else ""
