"""Proves a ledger: events by hashes, rows by events."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from random import SystemRandom
from typing import Any

from pydantic import TypeAdapter, ValidationError

from review_advisor import __version__
from review_advisor.ledger.chain import MAY_STILL_GROW, Break, Chain, Checkpoint, Heads, LedgerError, canonical
from review_advisor.ledger.chains import NO_CHAIN, begun_at, chain_of, read_chains, readings_of_chain
from review_advisor.ledger.database import SCHEMA, one_moment, open_to_read, rows, sentences, statement
from review_advisor.ledger.recorder import MET, OTHER_TABLES, REVIEWS_MET, TABLES, meeting
from review_advisor.ledger.rows import Readings, Row, microseconds
from review_advisor.safety.leftovers import is_private, private_content, write_private
from review_advisor.safety.wording import counted

READER = f"{__version__} {SCHEMA}"
"""Another version may read other rows from the same events: its checkpoints do not count."""


SPOT_CHECKS = 1_000
"""So many of the runs that were verified before are read again: in a small ledger all of them."""


_OF_CHAINS = ("events", *TABLES, *OTHER_TABLES, *MET, "runs")


_OBSERVED = "SELECT DISTINCT repository, pull_request FROM observations"


_OBSERVED_SINCE = """
    SELECT DISTINCT repository, pull_request FROM observations WHERE chain > :after OR (repository, pull_request) IN (
        SELECT name COLLATE NOCASE, pull_request FROM runs JOIN repositories ON repositories.id = runs.repository
        WHERE runs.chain > :after
    )
"""


_READ_ANEW = "`ledger rebuild` reads it anew"


_Rows = Counter[tuple[tuple[str, Any], ...]]


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of proving a ledger: how many runs and events there are, and where each broken run breaks first.

    ``stray`` tells of rows that belong to no run, and of runs that are gone. ``earlier`` is the checkpoint of runs that
    were not read again, but for ``spot_checks`` of them; ``differs`` is one that does not count, so that all was read:
    it does not fit the ledger any more or, with ``other_version``, only the version differs. ``reached`` is for the
    next time.
    """

    runs: int
    events: int
    broken: tuple[Break, ...]
    stray: tuple[str, ...] = ()
    earlier: Checkpoint | None = None
    spot_checks: int = 0
    differs: Checkpoint | None = None
    other_version: bool = False
    reached: Checkpoint | None = None

    @property
    def whole(self) -> bool:
        """Whether all that was read is as it was recorded."""
        return not self.broken and not self.stray


def verify(
    path: Path, known: Checkpoint | None = None, at: datetime | None = None, spot_checks: int = SPOT_CHECKS
) -> Proof:
    """Prove every chain of a ledger, and that its rows are what this version reads from the events.

    With a checkpoint, only what came after it and so many of the earlier runs, chosen at random; but everything if that
    is no more, or if the runs that it covers have not the number, the lengths and the last hashes of then. With ``at``,
    the proof of a whole ledger has a checkpoint of that moment. Raises ``LedgerError`` only where the ledger cannot be
    read at all.
    """
    with sentences(path), closing(open_to_read(path)) as connection, one_moment(connection):
        heads = Heads()
        proof = _proof(connection, known, spot_checks, heads)
        if at is None or not proof.whole:
            return proof
        return replace(proof, reached=_reached(connection, proof.earlier, at, heads))


def _reached(connection: sqlite3.Connection, earlier: Checkpoint | None, at: datetime, heads: Heads) -> Checkpoint:
    """The checkpoint of a ledger that is whole. ``heads`` are those up to the earlier one."""
    settled, after = _settled(connection, at), earlier.through if earlier else NO_CHAIN
    if earlier is None or settled < after:
        heads, after = Heads(), NO_CHAIN
    _add_heads(connection, heads, after, settled)
    return heads.checkpoint(at, settled, READER)


def _proof(connection: sqlite3.Connection, known: Checkpoint | None, spot_checks: int, heads: Heads) -> Proof:
    """``heads`` has no chain yet, and has those up to the checkpoint afterwards."""
    found, chosen = None, []
    if known is not None:
        places = _at_random(known.runs, spot_checks)
        chosen = _add_heads(connection, heads, NO_CHAIN, known.through, places)
        found = heads.checkpoint(known.at, known.through, READER)
    differs = None if found == known else known
    other_version = bool(found and differs and replace(found, reader=differs.reader) == differs)
    earlier = known if known and not differs and known.runs > spot_checks else None
    after = earlier.through if earlier else NO_CHAIN
    runs, before, free = 0, after, _first_of_row(connection, after)
    broken: list[Break] = []
    for row, run_id in chosen if earlier else ():
        wrong = _wrong(connection, row, chain_of(connection, row, run_id), _first_of_row(connection, row))
        broken += [wrong] if wrong else []
    for row, chain in read_chains(connection, after):
        runs, free = runs + 1, free if row == before + 1 else row
        wrong = _wrong(connection, row, chain, free)
        broken += [wrong] if wrong else []
        before = row
    (events,) = connection.execute("SELECT count(*) FROM events WHERE chain > ?", (after,)).fetchone()
    stray = (*_stray(connection, earlier), *_met_otherwise(connection, earlier), *_gone(found, differs))
    if earlier is not None:
        runs, events = runs + earlier.runs, events + earlier.events
    return Proof(runs, events, tuple(broken), stray, earlier, len(chosen) if earlier else 0, differs, other_version)


def _wrong(connection: sqlite3.Connection, row: int, chain: Chain, free: int) -> Break | None:
    return chain.broken or _other_rows(connection, row, chain, free)


def _at_random(runs: int, most: int) -> frozenset[int]:
    """The places of so many of the runs. Whoever changes an old run cannot know whether it is among them."""
    return frozenset(SystemRandom().sample(range(runs), min(runs, most)))


def _add_heads(
    connection: sqlite3.Connection, heads: Heads, after: int, through: int, places: frozenset[int] = frozenset()
) -> list[tuple[int, str]]:
    """Add what the chains after one and up to another are known by; the chains at some of the places of all."""
    chosen = []
    question = "SELECT id, run_id, events, last_hash FROM chains WHERE id > ? AND id <= ? ORDER BY id"
    for chain, run_id, events, last_hash in connection.execute(question, (after, through)):
        if heads.runs in places:
            chosen.append((chain, str(run_id)))
        heads.add(chain, str(run_id), events if isinstance(events, int) else -1, str(last_hash))
    return chosen


def _settled(connection: sqlite3.Connection, now: datetime) -> int:
    """The last chain before the first run that may still grow."""
    question = (
        "SELECT min(chain) FROM (SELECT chain FROM runs WHERE status = 'unfinished'"
        " UNION ALL SELECT chain FROM tasks WHERE status = 'running') WHERE chain > ?"
    )
    (growing,) = connection.execute(question, (microseconds(now - MAY_STILL_GROW),)).fetchone()
    question = "SELECT coalesce(max(id), ?) FROM chains WHERE ? IS NULL OR id < ?"
    (last,) = connection.execute(question, (NO_CHAIN, growing, growing)).fetchone()
    return int(last)


def _first_of_row(connection: sqlite3.Connection, last: int) -> int:
    """Where the chains begin that follow one another up to this one without a gap."""
    first = last
    for (number,) in connection.execute("SELECT id FROM chains WHERE id < ? ORDER BY id DESC", (last,)):
        if number != first - 1:
            break
        first = number
    return first


def _gone(found: Checkpoint | None, differs: Checkpoint | None) -> Iterator[str]:
    if found is not None and differs is not None and found.runs < differs.runs:
        lost = counted(differs.runs - found.runs, "run")
        yield f"at least {lost} of those verified on {differs.at:%Y-%m-%d} not there any more"


def _other_rows(connection: sqlite3.Connection, row: int, chain: Chain, free: int) -> Break | None:
    """Where a chain's rows are not what its events say. Every moment from ``free`` to ``row`` is another chain's."""
    try:
        begun = microseconds(begun_at(chain))
        tables = _rows_of_events(chain)
    except LedgerError as refusal:
        return Break(chain.run_id, None, str(refusal))
    if not free <= begun <= row:
        return Break(chain.run_id, None, "it began at another moment than the ledger says")
    for table, expected in tables.items():
        if _rows(connection, table, row) != expected:
            return Break(chain.run_id, None, f"what {table} says of it is not what its events say: {_READ_ANEW}")
    return None


def _rows_of_events(chain: Chain) -> dict[str, _Rows]:
    """Every table's rows of one chain, as they are read from its events."""
    tables: dict[str, tuple[Row, ...]] = dict.fromkeys((*TABLES, *OTHER_TABLES, "runs", "casting_parts"), ())
    readings = readings_of_chain(chain)
    if isinstance(readings, Readings):
        parts = tuple(asdict(part) for part in readings.casting)
        named = {"repository": readings.repository, "casting": canonical(parts)}
        tables |= {**readings.tables, "runs": ({**readings.run, **named},), "casting_parts": parts}
    else:
        tables |= readings
    return {table: Counter(tuple(sorted(each.items())) for each in its) for table, its in tables.items()}


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


def _stray(connection: sqlite3.Connection, earlier: Checkpoint | None) -> Iterator[str]:
    """Rows that name what is not there, such as those of a run that was taken out."""
    if earlier is None:
        found = Counter((table, parent) for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"))
    else:
        after = (earlier.through, earlier.through)
        elsewhere = "WHERE chain > ? AND chain NOT IN (SELECT id FROM chains WHERE id > ?)"
        questions = {table: statement("SELECT count(*) FROM", table, elsewhere) for table in _OF_CHAINS}
        counts = {table: connection.execute(question, after).fetchone() for table, question in questions.items()}
        found = Counter({(table, "chains"): int(count) for table, (count,) in counts.items()})
    for (table, parent), count in sorted(found.items()):
        if count:
            yield f"{counted(count, 'row')} of {table} naming {parent} that are not there"


def _met_otherwise(connection: sqlite3.Connection, earlier: Checkpoint | None) -> Iterator[str]:
    """Tables in which observations and reviews do not meet as they do when they are read anew.

    After a checkpoint only for the pull requests that a later run or observation is about.
    """
    about = _OBSERVED if earlier is None else _OBSERVED_SINCE
    pairs = connection.execute(about, {} if earlier is None else {"after": earlier.through}).fetchall()
    met = [asked for each in pairs if (asked := meeting(connection, *each)) is not None]
    for table, reading in MET.items():
        expected = Counter(row for each in met for row in connection.execute(reading, each))
        if expected != _present(connection, table, None if earlier is None else met):
            yield f"what {table} says is not what observations and reviews come to: {_READ_ANEW}"


def _present(connection: sqlite3.Connection, table: str, met: Sequence[Row] | None) -> Counter[Any]:
    """The rows of a table; those of some pull requests if these are given."""
    if met is None:
        return Counter(connection.execute(statement("SELECT * FROM", table)))
    question = statement("SELECT * FROM", table, "WHERE chain IN (", REVIEWS_MET, ")")
    return Counter(row for each in met for row in connection.execute(question, each))


class Checkpoints:
    """The checkpoints of one user, one for the path of each ledger.

    A folder or a file that belongs to somebody else, or that others may open, holds none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, ledger: Path) -> Checkpoint | None:
        """What was proven of the ledger at this path; None if that is not known."""
        content = private_content(self._file(ledger)) if is_private(self._folder) else None
        try:
            return None if content is None else TypeAdapter(Checkpoint).validate_json(content)
        except ValidationError:
            return None

    def keep(self, ledger: Path, checkpoint: Checkpoint) -> None:
        """Keep it in place of an earlier one. Raises ``OSError``."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
        if not is_private(self._folder):
            raise PermissionError(0, "its folder is not private to you", str(self._folder))
        write_private(self._file(ledger), TypeAdapter(Checkpoint).dump_json(checkpoint), 0o600)

    def _file(self, ledger: Path) -> Path:
        return self._folder / hashlib.sha256(os.fsencode(os.path.realpath(ledger))).hexdigest()


def checkpoints_of(environ: Mapping[str, str]) -> Checkpoints:
    """Those of the user of this environment."""
    given = Path(environ.get("XDG_STATE_HOME", ""))
    home = Path(environ.get("HOME") or os.devnull)
    return Checkpoints((given if given.is_absolute() else home / ".local" / "state") / "review-advisor")
