"""Records reviews and tasks while they happen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from review_advisor.ledger.chain import FIRST, Chain, LedgerError, canonical, link
from review_advisor.ledger.chains import (
    add_link,
    begin_chain,
    no_review,
    observation_in,
    read_chain,
    read_chains,
    readings_of_chain,
    review_in,
)
from review_advisor.ledger.database import (
    JUDGED,
    of_repository,
    open_to_read,
    open_to_write,
    savepoint,
    sentences,
    statement,
    transaction,
)
from review_advisor.ledger.rows import (
    Participant,
    Readings,
    Row,
    Scalar,
    Tables,
    event_rows,
    in_the_record,
    microseconds,
    readings_of,
    readings_of_observation,
    readings_of_task,
    readings_so_far,
    used_so_far,
)
from review_advisor.ledger.task_events import TaskBegun, TaskEvent
from review_advisor.policy.policy import Policy
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import Event, PolicyFrozen, Reported, ReviewEnded
from review_advisor.review.observed import FindingPlace, Observed

TABLES = (
    *("titles", "changes", "calls", "findings", "consults", "votes", "dispositions", "questions"),
    *("kept", "unreported", "shadow_mode"),
)


OTHER_TABLES = ("observations", "labels", "proofs", "remarks", "tasks")
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


def event_text(event: Event | Observed | TaskEvent) -> str:
    """An event's canonical JSON. Raises ``LedgerError`` for a number that JSON does not know."""
    try:
        return canonical(_VALUES.dump_python(event, mode="json"))
    except ValueError:
        raise LedgerError("An event holds a number that is not finite: it cannot be kept.") from None


def write_readings(connection: sqlite3.Connection, chain: int, readings: Readings) -> None:
    """Put these rows in the place of the run's present ones. To be called within a transaction."""
    for table in (*TABLES, *MET, "runs"):
        connection.execute(f"DELETE FROM {table} WHERE chain = ?", (chain,))  # noqa: S608 (our own names)
    name = readings.repository
    numbers = {
        "chain": chain,
        "repository": None if name is None else _shared(connection, "repositories", "name", name),
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
    """Put these rows in the place of the present ones of an observation or a task."""
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
    tables = readings_of_observation(observed)
    (about,) = tables["observations"]
    proofs = canonical([[proof["finding"], proof["proved_right"]] for proof in tables["proofs"]])
    pull_request = {name: about[name] for name in ("head_sha", "reverted", "overridden")}
    columns = ("finding", "acted_on", "dismissed", "thumb")
    remarks = canonical([[each[column] for column in columns] for each in tables["remarks"]])
    return {"repository": repository, "number": number, "proofs": proofs, "remarks": remarks, **pull_request}


def known(connection: sqlite3.Connection, repository: Scalar, number: Scalar) -> Observed | None:
    """All observations of a pull request in this ledger as one: the newest, after those before it, the oldest first.

    They may have been made in different ledgers. One that cannot be read tells nothing.
    """
    found: Observed | None = None
    for (run_id,) in connection.execute(_OBSERVATIONS, (number, repository)).fetchall():
        chain = read_chain(connection, run_id)
        with suppress(LedgerError):
            observed = None if chain.broken else observation_in(chain)
            if observed is not None:
                found = observed if found is None else observed.after(found)
    return found


def read_anew(connection: sqlite3.Connection, row: int, chain: Chain) -> None:
    """The rows of one chain, whatever it is of, from its events. Raises ``LedgerError``; then nothing is written."""
    readings = readings_of_chain(chain)
    try:
        with savepoint(connection):
            if isinstance(readings, Readings):
                write_readings(connection, row, readings)
            else:
                write_tables(connection, row, readings)
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
    shared = ("casting_parts", "castings", "repositories")
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


Recorded = TypeVar("Recorded", bound=Event | TaskEvent)


@dataclass
class _GrowingChain(Generic[Recorded]):
    """A chain that is written event by event, each within a transaction."""

    row: int = 0
    events: list[Recorded] = field(default_factory=list)
    _run_id: str = ""
    _last: str = FIRST

    def since_it_began(self, event: Recorded) -> Recorded:
        """The event at a moment that every reader takes, whatever a wrong clock shows.

        A clock may be set back meanwhile: then the event happened when the run began.
        """
        began = self.events[0].at if self.events else event.at
        return replace(event, at=in_the_record(max(event.at, began)))

    def begin(self, connection: sqlite3.Connection, first: PolicyFrozen | TaskBegun) -> None:
        self._run_id = first.run_id
        self.row = begin_chain(connection, first.run_id, microseconds(first.at))

    def add(self, connection: sqlite3.Connection, event: Recorded) -> None:
        made = link(self._run_id, len(self.events), self._last, event_text(event))
        add_link(connection, self.row, made)
        self._last = made.hash
        self.events.append(event)


class Recorder:
    """A subscriber of one review's events that writes them into the ledger at ``path``.

    The ledger is opened with the first event. The end is recorded by ``finish``, once it is settled. Whatever goes
    wrong with the ledger is one sentence to ``warn``; the review goes on without it.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._warn = warn
        self._connection: sqlite3.Connection | None = None
        self._chain = _GrowingChain[Event]()
        self._policy: Policy | None = None
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
        chain, event = self._chain, self._chain.since_it_began(happened)
        with transaction(self._open()):
            tables = event_rows(self._policy, len(chain.events), event) if self._policy else {}
            chain.add(self._open(), event)
            if self._policy and tables:
                add_readings(self._open(), chain.row, tables, *used_so_far(self._policy, chain.events))

    def _begin(self, happened: PolicyFrozen) -> None:
        first = replace(happened, at=in_the_record(happened.at))
        self._policy = first.policy
        with transaction(self._open()):
            self._chain.begin(self._open(), first)
            self._chain.add(self._open(), first)
            write_readings(self._open(), self._chain.row, readings_so_far([first]))

    def _finish(self, settled: OutcomeDocument) -> None:
        events = tuple(map(self._chain.since_it_began, settled.events))
        document = settled if events == settled.events else outcome_document(events)
        with transaction(self._open()):
            for event in document.events[len(self._chain.events) :]:
                self._chain.add(self._open(), event)
            write_readings(self._open(), self._chain.row, readings_of(document))

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_to_write(self._path)
        return self._connection

    def close(self) -> None:
        """Let go of the ledger; the next event would open it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class TaskRecorder:
    """A subscriber of one task's events that writes them into the ledger at ``path``, with the task's row.

    Whatever goes wrong with the ledger is one sentence to ``warn``; the task goes on.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._warn = warn
        self._chain = _GrowingChain[TaskEvent]()
        self._given_up = False

    def __call__(self, event: TaskEvent) -> None:
        """Record one event."""
        if self._given_up:
            return
        try:
            again = bool(self._chain.events)
            opened = open_to_write(self._path, again=again)
            with sentences(self._path), closing(opened) as connection, transaction(connection):
                self._add(connection, self._chain.since_it_began(event))
        except LedgerError as problem:
            self._given_up = True
            self._warn(f"{problem} This task is not recorded there to its end.")

    def _add(self, connection: sqlite3.Connection, event: TaskEvent) -> None:
        if isinstance(event, TaskBegun):
            self._chain.begin(connection, event)
        self._chain.add(connection, event)
        write_tables(connection, self._chain.row, readings_of_task(self._chain.events))


_RUNS = """
    SELECT run_id FROM runs JOIN chains ON chains.id = chain JOIN repositories ON repositories.id = repository
    WHERE pull_request = ? AND name = ? COLLATE NOCASE ORDER BY chain
"""


_OPEN_ENDED = """
    SELECT repository, pull_request FROM observations AS seen
    WHERE EXISTS (SELECT 1 FROM labels WHERE labels.chain = seen.chain AND finding = '' AND label = 'reverted')
    GROUP BY pull_request, repository
    HAVING min(chain) >= ? AND (
        SELECT count(*) FROM labels WHERE finding = '' AND (label, value) IN (
            VALUES ('reverted', 'reverted'), ('judged', 'judged')
        ) AND labels.chain = (
            SELECT max(chain) FROM observations AS newest
            WHERE newest.pull_request = seen.pull_request AND newest.repository = seen.repository
        )
    ) < 2 ORDER BY repository, pull_request
"""
"""Only of what was merged is it said whether it was reverted, be it unknown. A revert counts once it is judged."""


def open_ended(path: Path, since: datetime) -> tuple[tuple[str, int], ...]:
    """The pull requests first observed as merged at ``since`` or later of which no revert is proven and judged.

    Raises ``LedgerError``.
    """
    with sentences(path), closing(open_to_read(path)) as connection:
        found = connection.execute(_OPEN_ENDED, (microseconds(since),)).fetchall()
    return tuple((str(repository), int(number)) for repository, number in found)


def finding_places(path: Path, repository: str, number: int) -> dict[str, FindingPlace]:
    """Every finding of the pull request's reviews in this ledger, as it was last raised; none without a ledger.

    Raises ``LedgerError``. A run that cannot be read tells nothing.
    """
    with sentences(path):
        if not path.exists():
            return {}
    found: dict[str, FindingPlace] = {}
    with sentences(path), closing(open_to_read(path)) as connection:
        for (run_id,) in connection.execute(_RUNS, (number, repository)).fetchall():
            try:
                first, events = review_in(read_chain(connection, run_id))
            except LedgerError:
                continue
            reports = [event.report for event in events if isinstance(event, Reported)]
            head = first.head_sha or ""
            found |= {
                each.id: FindingPlace(each.path, head, each.line, each.end_line, each.removed, each.evidence)
                for report in reports
                for each in report.findings
            }
    return found


def keep(path: Path, observed: Observed) -> tuple[Observed, bool]:
    """Record an observation: what stands then, and whether it is recorded. Raises ``LedgerError``.

    What was known of its pull request before and cannot be told any more stays known. Where the newest observation
    holds the same facts already, nothing is recorded.
    """
    with sentences(path), closing(open_to_write(path)) as connection, transaction(connection):
        before = known(connection, observed.repository, observed.pull_request)
        stands = observed if before is None else observed.after(before)
        stands = replace(stands, at=in_the_record(stands.at))
        if before is not None and before.facts == stands.facts:
            return stands, False
        chain = begin_chain(connection, stands.run_id, microseconds(stands.at))
        add_link(connection, chain, link(stands.run_id, 0, FIRST, event_text(stands)))
        write_tables(connection, chain, readings_of_observation(stands))
        return stands, True
