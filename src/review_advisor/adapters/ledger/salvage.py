"""Saving what is whole of a ledger whose file is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from review_advisor.adapters.ledger.chains import chain_of
from review_advisor.adapters.ledger.database import open_damaged, sentences
from review_advisor.adapters.ledger.transfer import Folded, fold
from review_advisor.core.ledger.chain import Break, Chain, LedgerError

_UNREADABLE = "the file is damaged where its events are"
_MORE = "The list of runs is damaged, too: there may have been runs that nothing names any more."


def repair(damaged: Path, new: Path) -> Folded:
    """Write every run of ``damaged`` that is whole into the ledger ``new``, and say of each other run why it is not.

    Changes nothing in ``damaged``. Raises ``LedgerError`` if ``new`` exists already, or if nothing can be read.
    """
    if new.exists() or new.is_symlink():
        raise LedgerError(f"{new} exists already: name a new file for the repaired ledger.")
    reading = _Reading(damaged)
    with closing(reading.chains()) as chains:
        folded = fold(new, chains, whole_runs=True)
    return folded if reading.listed_all else replace(folded, left_out=(*folded.left_out, _MORE))


@dataclass
class _Reading:
    """One reading of a damaged file. ``listed_all``: the whole list of its runs could be read."""

    path: Path
    listed_all: bool = field(default=True, init=False)

    def chains(self) -> Generator[Chain, None, None]:
        """Every run that the file still names, broken where its events cannot be read."""
        with sentences(self.path), closing(open_damaged(self.path)) as connection:
            connection.execute("SELECT count(sql) FROM sqlite_schema")  # without its schema nothing can be read
            listed = dict(self._listed(connection, "ASC"))
            if not self.listed_all:
                listed |= dict(self._listed(connection, "DESC"))
            for row, run_id in sorted(listed.items()):
                yield _chain(connection, row, run_id)

    def _listed(self, connection: sqlite3.Connection, order: str) -> Iterator[tuple[int, str]]:
        """Each run's number and id, up to the first one that cannot be read."""
        listing = f"SELECT id, run_id FROM chains NOT INDEXED ORDER BY id {order}"  # noqa: S608 (our own words)
        try:
            for row, run_id in connection.execute(listing):
                yield int(row), str(run_id)
        except sqlite3.DatabaseError:
            self.listed_all = False


def _chain(connection: sqlite3.Connection, row: int, run_id: str) -> Chain:
    for by in ("", "NOT INDEXED"):  # the index may be damaged where the table is not
        try:
            return chain_of(connection, row, run_id, by)
        except sqlite3.DatabaseError:
            continue
    return Chain(run_id, (), Break(run_id, None, _UNREADABLE))
