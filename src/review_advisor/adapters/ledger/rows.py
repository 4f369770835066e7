"""The readings of a run, written into their tables: in place of those that were there.

A review writes its own. What reads chains, and the rows of tasks, shadows and observations, is imported where it is
used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from review_advisor.adapters.ledger.chains import read_chain, read_chains
from review_advisor.adapters.ledger.conditions import JUDGED, of_repository, statement
from review_advisor.adapters.ledger.transactions import savepoint
from review_advisor.core.ledger.chain import Chain, LedgerError, canonical
from review_advisor.core.ledger.row import Participant, Readings, Row, Scalar, Tables
from review_advisor.core.outcome.events import Event

if TYPE_CHECKING:
    from review_advisor.core.observation.labels import Observed
    from review_advisor.core.shadow.shadow_events import ShadowEvent
    from review_advisor.core.task.task_events import TaskEvent

TABLES = (
    *("titles", "changes", "calls", "findings", "consults", "votes", "dispositions", "questions"),
    *("kept", "unreported", "shadow_mode"),
)
OTHER_TABLES = ("observations", "labels", "proofs", "remarks", "tasks", "shadows")
"""Those of chains that are no review's."""
_REVIEWS = f"""
    SELECT *, EXISTS (
        SELECT 1 FROM consults WHERE consults.chain = runs.chain AND consults.status = 'answered'
    ) AS consulted
    FROM runs WHERE pull_request = :number AND {JUDGED} AND {of_repository(":repository")}
"""  # noqa: S608 (our own names)
REVIEWS_MET = statement("SELECT chain FROM (", _REVIEWS, ")")
"""The judged runs of a pull request; ``MET`` has rows of no others."""
MET = {
    "validations": f"""
        SELECT min(reviews.chain) AS chain, finding, proved_right, reviews.repository
        FROM ({_REVIEWS}) AS reviews JOIN findings USING (chain) JOIN (
            SELECT json_extract(value, '$[0]') AS finding, json_extract(value, '$[1]') AS proved_right
            FROM json_each(:proofs)
        ) USING (finding) GROUP BY finding
    """,  # noqa: S608 (our own names)
    "fates": f"""
        SELECT max(reviews.chain) AS chain, reviews.repository, status = 'approved' AS approved,
               consulted, :reverted AS reverted, :overridden AS overridden
        FROM ({_REVIEWS}) AS reviews JOIN changes USING (chain) WHERE head_sha = :head_sha GROUP BY head_sha
    """,  # noqa: S608 (our own names)
    "said": statement(
        """
        SELECT reviews.chain AS chain, reviews.repository, count(finding) AS comments,
               coalesce(sum(acted_on), 0) AS acted_on, coalesce(sum(dismissed), 0) AS dismissed,
               count(*) FILTER (WHERE thumb > 0) AS thumbs_up, count(*) FILTER (WHERE thumb < 0) AS thumbs_down
        FROM (""",
        _REVIEWS,
        """) AS reviews LEFT JOIN (
            SELECT min(reviews.chain) AS chain, finding, acted_on, dismissed, thumb
            FROM (""",
        _REVIEWS,
        """) AS reviews JOIN findings USING (chain) JOIN (
                SELECT json_extract(value, '$[0]') AS finding, json_extract(value, '$[1]') AS acted_on,
                       json_extract(value, '$[2]') AS dismissed, json_extract(value, '$[3]') AS thumb
                FROM json_each(:remarks)
            ) USING (finding) GROUP BY finding
        ) AS raised USING (chain) GROUP BY reviews.chain
    """,
    ),
}
"""The tables of what is known of a pull request and its reviews say together, and how they are read, by column."""
_OBSERVATIONS = """
    SELECT run_id FROM observations JOIN chains ON chains.id = chain
    WHERE pull_request = ? AND repository = ? ORDER BY chain
"""
_VALUES: TypeAdapter[object] = TypeAdapter(object)
"""Writes any value; the adapter of all events, which is slow to make, is needed only to read one."""


def event_text(event: Event | Observed | TaskEvent | ShadowEvent) -> str:
    """An event's canonical JSON. Raises ``LedgerError`` for a number that JSON does not know."""
    try:
        return canonical(_VALUES.dump_python(event, mode="json"))
    except ValueError:
        raise LedgerError("An event holds a number that is not finite: it cannot be kept.") from None


def write_readings(connection: sqlite3.Connection, chain: int, readings: Readings) -> None:
    """Put these rows in the place of the run's present ones. To be called within a transaction."""
    for table in (*TABLES, *MET, "runs"):
        connection.execute(f"DELETE FROM {table} WHERE chain = ?", (chain,))  # noqa: S608 (our own names)
    numbers = {
        "chain": chain,
        "repository": _named(connection, "repositories", "name", readings.repository),
        "author": _named(connection, "authors", "login", readings.author),
        "casting": write_casting(connection, readings.casting),
    }
    _insert(connection, "runs", [{**numbers, **readings.run}])
    _insert_tables(connection, chain, readings.tables)
    _meet(connection, readings.repository, readings.run["pull_request"])


def add_readings(
    connection: sqlite3.Connection, chain: int, tables: Tables, casting: Sequence[Participant], used: Row
) -> None:
    """Add the rows that one more event of an unfinished run tells, and bring the run's own row up to date.

    To be called within a transaction.
    """
    _insert_tables(connection, chain, tables)
    columns = {"casting": write_casting(connection, casting), **used}
    settings = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(statement("UPDATE runs SET", settings, "WHERE chain = ?"), (*columns.values(), chain))


def write_tables(connection: sqlite3.Connection, chain: int, tables: Tables) -> None:
    """The same for a chain that is no review's: of an observation, a task or a shadow."""
    for table in tables:
        connection.execute(f"DELETE FROM {table} WHERE chain = ?", (chain,))  # noqa: S608 (our own names)
    _insert_tables(connection, chain, tables)
    for about in tables.get("observations", ()):
        _meet(connection, about["repository"], about["pull_request"])


def _meet(connection: sqlite3.Connection, repository: Scalar, number: Scalar) -> None:
    """Let what is known of a pull request meet its reviews, in the place of whatever met them before."""
    asked = meeting(connection, repository, number)
    if asked is not None:
        for table, reading in MET.items():
            connection.execute(statement("DELETE FROM", table, "WHERE chain IN (", REVIEWS_MET, ")"), asked)
            connection.execute(f"INSERT INTO {table} {reading}", asked)


def meeting(connection: sqlite3.Connection, repository: Scalar, number: Scalar) -> dict[str, Scalar] | None:
    """What ``MET`` is asked with for a pull request; None if nobody observed it."""
    observed = known(connection, repository, number)
    if observed is None:
        return None
    from review_advisor.core.observation.observation_rows import readings_of_observation  # noqa: PLC0415 (see above)

    tables = readings_of_observation(observed)
    (about,) = tables["observations"]
    proofs = canonical([[proof["finding"], proof["proved_right"]] for proof in tables["proofs"]])
    told = {name: about[name] for name in ("head_sha", "reverted", "overridden")}
    columns = ("finding", "acted_on", "dismissed", "thumb")
    remarks = canonical([[each[column] for column in columns] for each in tables["remarks"]])
    return {"repository": repository, "number": number, "proofs": proofs, "remarks": remarks, **told}


def known(connection: sqlite3.Connection, repository: Scalar, number: Scalar) -> Observed | None:
    """All observations of a pull request in this ledger as one: the newest, after those before it, the oldest first.

    They may have been made in different ledgers. One that cannot be read tells nothing.
    """
    found: Observed | None = None
    for (run_id,) in connection.execute(_OBSERVATIONS, (number, repository)).fetchall():
        from review_advisor.adapters.ledger.chain_events import observation_in  # noqa: PLC0415 (see above)

        chain = read_chain(connection, run_id)
        with suppress(LedgerError):
            observed = None if chain.broken else observation_in(chain)
            if observed is not None:
                found = observed if found is None else observed.after(found)
    return found


def read_anew(connection: sqlite3.Connection, row: int, chain: Chain) -> None:
    """The rows of one chain, whatever it is of, from its events. Raises ``LedgerError``; then nothing is written."""
    from review_advisor.adapters.ledger.chain_events import no_review, readings_of_chain  # noqa: PLC0415 (see above)

    told = readings_of_chain(chain)
    try:
        with savepoint(connection):
            if isinstance(told, Readings):
                write_readings(connection, row, told)
            else:
                write_tables(connection, row, told)
    except sqlite3.IntegrityError:  # such as two findings of one id
        raise no_review(chain) from None


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many runs were read anew, and of each other one why it has no rows now."""

    runs: int
    left_out: tuple[str, ...] = ()


def read_all_anew(connection: sqlite3.Connection) -> Rebuilt:
    """The rows of every run from its events, and no other rows. To be called within a transaction.

    A run whose chain is broken, or which this version cannot read, has no rows from then on.
    """
    shared = ("casting_parts", "castings", "repositories", "authors")
    for table in (*TABLES, *OTHER_TABLES, *MET, "runs", *shared):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 (our own names)
    runs, left_out = 0, []
    for row, chain in read_chains(connection):
        try:
            read_anew(connection, row, chain)
        except LedgerError as refusal:
            left_out.append(str(refusal))
        else:
            runs += 1
    return Rebuilt(runs, tuple(left_out))


def _insert_tables(connection: sqlite3.Connection, chain: int, tables: Tables) -> None:
    for table, rows in tables.items():
        _insert(connection, table, [{"chain": chain, **row} for row in rows])


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[Row]) -> None:
    if rows:
        names, marks = ", ".join(rows[0]), ", ".join("?" * len(rows[0]))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 (our own names)
        connection.executemany(statement, [tuple(row.values()) for row in rows])


def _named(connection: sqlite3.Connection, table: str, column: str, name: str | None) -> int | None:
    return None if name is None else _shared(connection, table, column, name)


def write_casting(connection: sqlite3.Connection, parts: Sequence[Participant]) -> int:
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
