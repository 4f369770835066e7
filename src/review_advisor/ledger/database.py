"""The ledger's file: schema, transactions and errors."""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from review_advisor.change.git import why_not_yours
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.queries import Period
from review_advisor.ledger.rows import microseconds, moment_of

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
    fields = {name: bool(row[name]) if hint is bool else row[name] for name, hint in hints.items()}
    try:
        fields["started_at"] = moment_of(row["started_at"]).isoformat()
    except OverflowError:
        fields["started_at"] = None
    if not all(isinstance(fields[name], hint) for name, hint in hints.items()):
        raise LedgerError(f"The ledger {path} is damaged: a row of {fields['run_id']} holds what it cannot hold.")
    return kind(**fields)


def _roll_back(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):  # an error, such as a full disk's, may have done so by itself
        connection.execute("ROLLBACK")


APPLICATION_ID = 0x52414C47
"""Stands in the file's header: without it, a SQLite file is somebody else's."""


_TRIES = 40


_PAUSE = 0.05


_SENTENCES = {
    sqlite3.SQLITE_FULL: "The ledger {path} cannot take more: the disk is full.",
    sqlite3.SQLITE_READONLY: "The ledger {path} cannot be written: it is read-only.",
    sqlite3.SQLITE_PERM: "The ledger {path} cannot be opened: permission denied.",
    sqlite3.SQLITE_CANTOPEN: "The ledger {path} cannot be opened: its folder is missing, or may not be written to.",
    sqlite3.SQLITE_NOTADB: "{path} is not a ledger: it is no SQLite file.",
    sqlite3.SQLITE_CORRUPT: "The ledger {path} is damaged: it is cut short, or something else has written to it.",
    sqlite3.SQLITE_BUSY: "The ledger {path} is in use: another process does not let go of it.",
    sqlite3.SQLITE_IOERR: "The ledger {path} cannot be read or written: the disk is full or does not answer.",
}


SCHEMA = 1
"""The number of the schema in ``schema.sql``. No other is read or written."""


def _schema() -> str:
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turn what the database, or the way to its file, complains of into one sentence on the ledger: ``LedgerError``."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        known = _SENTENCES.get(code, f"The ledger {{path}} cannot be used: {error}.")
        raise LedgerError(known.format(path=path)) from None
    except UnicodeDecodeError:  # the database's own complaint quotes what is damaged
        raise LedgerError(_SENTENCES[sqlite3.SQLITE_CORRUPT].format(path=path)) from None
    except OSError as error:  # another user's folder, a name that is too long
        raise LedgerError(f"The ledger {path} cannot be reached: {error.strerror or error}.") from None


def open_to_write(path: Path, *, again: bool = False) -> sqlite3.Connection:
    """The ledger, made where there is none. Raises ``LedgerError``.

    ``again``: the caller has just opened it, so it is the user's own.
    """
    with sentences(path):
        _refuse_links(path)
        if not again:
            _refuse_brought_along(path)
        make_folder(path.parent)
        _make_by_umask(path)
        connection = _connect(f"{path.absolute().as_uri()}?mode=rwc")
        try:
            _is_empty(connection, path)  # before anything is written into somebody else's file
            _patiently(connection, "PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if _is_empty(connection, path):
                _make_tables(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _make_by_umask(path: Path) -> None:
    """SQLite itself never lets a group write to a file that it makes. Where no file can be made, it says so."""
    with suppress(OSError):
        path.touch(exist_ok=False)


def open_to_read(path: Path) -> sqlite3.Connection:
    """The ledger as it stands. Raises ``LedgerError``."""
    with sentences(path):
        if not path.is_file():
            raise LedgerError(f"There is no ledger {path}.")
        _refuse_links(path)
        _refuse_brought_along(path)
        connection = _connect(f"{path.absolute().as_uri()}?{_way_to_read(path)}")
        try:
            connection.execute("PRAGMA query_only = ON")
            empty = _is_empty(connection, path)
        except BaseException:
            connection.close()
            raise
        if not empty:
            return connection
        connection.close()
        raise LedgerError(f"{path} is not a ledger: it is empty.")


def open_damaged(path: Path) -> sqlite3.Connection:
    """A file that may be damaged, or be no ledger at all, to read only. Raises ``LedgerError`` if it is not there."""
    if not path.is_file():
        raise LedgerError(f"There is no ledger {path}.")
    _refuse_links(path)
    _refuse_brought_along(path)
    connection = _connect(f"{path.absolute().as_uri()}?{_way_to_read(path)}")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA writable_schema = ON")  # else SQLite reads nothing of a file that is cut short
    return connection


def make_folder(folder: Path) -> None:
    """A folder that is made for the ledger ignores itself: no ledger is committed by accident.

    Raises ``LedgerError``.
    """
    if folder.exists():
        return
    try:
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text("*\n", encoding="ascii")
    except FileExistsError:
        return  # another process was first
    except OSError as error:
        raise LedgerError(f"The ledger's folder {folder} cannot be made: {error.strerror}.") from None


def _connect(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")  # a damaged file holds anything
    for setting in ("foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _way_to_read(path: Path) -> str:
    """Even a reader keeps two files beside the ledger while it reads; where it may not, nobody writes either."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return "mode=rw"  # a reader that may write cleans up behind itself
    return "mode=ro" if _beside(path, "-wal").exists() else "mode=ro&immutable=1"


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _refuse_links(path: Path) -> None:
    if path.parent.is_symlink():
        raise LedgerError(f"{path.parent} is a symbolic link; a ledger is only kept in a real folder.")
    for part in (path, _beside(path, "-wal"), _beside(path, "-shm")):
        if part.is_symlink():
            raise LedgerError(f"{part} is a symbolic link; a ledger is only kept in a real file.")


def _refuse_brought_along(path: Path) -> None:
    """A ledger that may have come with a branch is neither read nor written: its chains do not say who wrote it."""
    if why := why_not_yours(path):
        raise LedgerError(f"The ledger {path} does not count: {why}; name one of your own with --ledger.")


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    """The first to open a new file locks out the others for a moment, and SQLite does not wait for that."""
    for tries_left in reversed(range(_TRIES)):
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or not tries_left:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _is_empty(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file has no tables yet. Raises ``LedgerError`` for one whose tables are not those of our schema."""
    with one_moment(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        found = {sql: name for name, sql in connection.execute(_STATEMENTS)}
        added = [name for sql, name in found.items() if sql not in _tables() and not _is_harmless(connection, name)]
    if owner != APPLICATION_ID and (owner or version or found):
        raise LedgerError(f"{path} is not a ledger: it is another program's SQLite file.")
    if not version and not found:
        return True
    if version != SCHEMA:
        raise LedgerError(
            f"The ledger {path} was written by another version of review-advisor (its schema is {version}, this one"
            f" knows {SCHEMA}): move the file away, and a new one is begun."
        )
    if added or not _tables() <= found.keys():
        raise LedgerError(f"{path} is not a ledger: its tables are not those of schema {SCHEMA}.")
    return False


_STATEMENTS = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"


_STATISTICS = ("sqlite_stat1", "sqlite_stat4")


_PLAIN_INDEX = """
    SELECT 1 FROM sqlite_schema AS made JOIN pragma_index_list(made.tbl_name) AS listed ON listed.name = made.name
    WHERE made.type = 'index' AND made.name = ? AND NOT listed."unique" AND NOT listed.partial
    AND NOT EXISTS (SELECT 1 FROM pragma_index_xinfo(made.name) WHERE cid = -2)
"""


def _is_harmless(connection: sqlite3.Connection, name: str) -> bool:
    """Whether something in the schema runs no code and refuses no row of ours: only speed depends on it.

    That is what ``ANALYZE`` leaves, and an index on columns. A trigger runs with our statements, a unique index
    refuses rows, and an index on an expression computes whatever it says.
    """
    return name in _STATISTICS or connection.execute(_PLAIN_INDEX, (name,)).fetchone() is not None


@cache
def _tables() -> frozenset[str]:
    """What SQLite keeps of the statements of our schema."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(_schema())
        return frozenset(sql for _, sql in empty.execute(_STATEMENTS))


def _make_tables(connection: sqlite3.Connection, path: Path) -> None:
    with transaction(connection):
        if not _is_empty(connection, path):
            return  # another process was first
        for statement in _statements(_schema()):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _statements(text: str) -> Iterator[str]:
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


JUDGED = "status NOT IN ('stopped', 'unfinished', 'nothing_to_review')"
"""It ended with a verdict."""


PAID_ELSEWHERE = """
    (EXISTS (
        SELECT 1 FROM chains JOIN calls ON calls.chain = chains.id
        WHERE chains.run_id = kept.paid_by AND calls.reply = kept.reply AND NOT calls.kept
    ) OR EXISTS (
        SELECT 1 FROM kept AS before WHERE before.paid_by = kept.paid_by AND before.reply = kept.reply
        AND (before.chain, before.number) < (kept.chain, kept.number)
    ))
"""
"""Of a row of ``kept``: another run counts for its reply, the one that paid for it or else the first that got it."""


def statement(*words: str) -> str:
    """SQL made of words of our own, such as the names of tables. Values go into it as parameters only."""
    return " ".join(words)


def of_repository(mark: str = "?") -> str:
    """Of the repository whose name is bound to ``mark``: GitHub takes any spelling, so a ledger may hold several."""
    return f"repository IN (SELECT id FROM repositories WHERE name = {mark} COLLATE NOCASE)"  # noqa: S608 (our own names)


def within(period: Period) -> dict[str, Any]:
    """What a period asks: each condition with the value for its mark; None asks for nothing."""
    return {
        "chain >= ?": period.since and microseconds(period.since),
        "chain < ?": period.until and microseconds(period.until),
        of_repository(): period.repository,
    }


def all_of(asked: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The conditions that ask for something as one, and the values for its marks."""
    given = {condition: bindable(value) for condition, value in asked.items() if value is not None}
    return " AND ".join(given) or "1", list(given.values())


def where_within(period: Period) -> tuple[str, list[Any]]:
    """The condition that a run began in a period, and the values for its marks."""
    return all_of(within(period))


def bindable(value: Any) -> Any:
    """Words of a command line may hold half characters, which no database takes."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
