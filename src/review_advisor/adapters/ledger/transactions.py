"""Transactions of the ledger: all or nothing is written, and what is read is of one moment. Rows as they are read."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.moments import moment_of

Line = TypeVar("Line")

BUSY_SECONDS = 20
"""So long a writer waits for another one."""


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. Whoever writes waits for whoever writes already, ``BUSY_SECONDS`` at most."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


@contextmanager
def savepoint(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing of one part of a transaction."""
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):  # as in _roll_back
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        raise
    connection.execute("RELEASE part")


@contextmanager
def one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is read within is of one moment, whoever writes meanwhile."""
    begun = not connection.in_transaction
    if begun:
        connection.execute("BEGIN")
    try:
        yield
    finally:
        if begun:
            _roll_back(connection)


def rows(
    connection: sqlite3.Connection, statement: str, values: Sequence[Any] | Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """What a statement finds, each row by its columns' names."""
    cursor = connection.execute(statement, values)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


def damaged(path: Path) -> LedgerError:
    """The refusal of a ledger that somebody has written to past us."""
    return LedgerError(f"The ledger {path} is damaged: one of its rows holds what it cannot hold.")


def is_figure(value: object) -> bool:
    """Whether something can be a count or a sum."""
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


def line_of(kind: type[Line], hints: Mapping[str, Any], path: Path, row: Mapping[str, Any]) -> Line:
    """A row as a line of a list. Raises ``LedgerError``.

    ``hints`` are the types of its fields. ``started_at`` is None for a moment that no calendar has.
    """
    told = {name: bool(row[name]) if hint is bool else row[name] for name, hint in hints.items()}
    try:
        told["started_at"] = moment_of(row["started_at"]).isoformat()
    except OverflowError:
        told["started_at"] = None
    if not all(isinstance(told[name], hint) for name, hint in hints.items()):
        raise LedgerError(f"The ledger {path} is damaged: a row of {told['run_id']} holds what it cannot hold.")
    return kind(**told)


def _roll_back(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):  # an error, such as a full disk's, may have done so by itself
        connection.execute("ROLLBACK")
