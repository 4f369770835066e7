"""Merges ledgers, exports and imports them, and salvages a damaged one."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain as chain_up
from itertools import count, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from review_advisor.ledger.chain import LARGEST_RUN, Break, Chain, LedgerError, Link, canonical, proven
from review_advisor.ledger.chains import (
    add_link,
    begin_chain,
    begun_at,
    chain_id,
    chain_of,
    read_chain,
    read_chains,
    refuse_broken,
    review_in,
)
from review_advisor.ledger.database import (
    make_folder,
    one_moment,
    open_damaged,
    open_to_read,
    open_to_write,
    savepoint,
    sentences,
    transaction,
)
from review_advisor.ledger.recorder import Rebuilt, read_all_anew, read_anew
from review_advisor.ledger.rows import microseconds
from review_advisor.ledger.run_queries import find_run
from review_advisor.review.events import Event
from review_advisor.review.observed import RUN_ID
from review_advisor.safety.children import temporary_folder

_LONGEST_LINE = LARGEST_RUN + 1_000
"""The only event of the largest run, and what an export puts around it."""


_STREAMS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts what it pipes into a command. No other pipe is waited for."""


_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Folded:
    """What was taken in: runs that are new, runs that have grown, and runs that were there already.

    ``left_out`` says of each other run why it was not.
    """

    added: int
    grown: int
    present: int
    left_out: tuple[str, ...] = ()


class _Line(BaseModel):
    """One line of an export."""

    model_config = ConfigDict(extra="forbid", strict=True)

    run: Annotated[str, Field(pattern=f"^{RUN_ID}$")]
    index: Annotated[int, Field(ge=0)]
    previous: _Hash
    hash: _Hash
    event: dict[str, Any]


def merge(path: Path, other: Path, *, whole_runs: bool = False) -> Folded:
    """Fold the runs of ``other`` into the ledger at ``path``: all of them, or none.

    The same runs once more change nothing. Raises ``LedgerError`` and names the run where a chain is broken, cannot be
    one of ours, or is another than the one that is there.
    """
    with closing(ledger_chains(other)) as chains:
        return fold(path, chains, whole_runs=whole_runs)


def import_lines(path: Path, file: Path, *, whole_runs: bool = False) -> Folded:
    """Fold an export into the ledger at ``path``: all of it, or nothing. Raises ``LedgerError`` as ``merge`` does."""
    with closing(_imported(file)) as chains:  # a refusal leaves the file open no longer than that
        return fold(path, chains, whole_runs=whole_runs)


def export_runs(path: Path) -> Iterator[tuple[str, ...] | str]:
    """The events of each run, one JSON object a line, the earliest run first; or one sentence on why it is not whole.

    Imported into an empty ledger the lines give the same lines again. Raises ``LedgerError``.
    """
    for chain in ledger_chains(path):
        try:
            refuse_broken(chain)
        except LedgerError as refusal:
            yield str(refusal)
        else:
            yield tuple(_line(chain.run_id, link) for link in chain.links)


def refuse_to_replace(file: Path, ledger: Path) -> None:
    """Raise ``LedgerError`` for a file that somebody would miss: it is neither empty nor an export, or the ledger."""
    own = os.path.realpath(ledger)
    if os.path.realpath(file) in (own, f"{own}-wal", f"{own}-shm"):
        raise LedgerError(f"{file} is the ledger itself: name another file for the export.")
    try:
        if file.is_file():
            with file.open("rb") as lines:
                next(_read_lines(file, lines), None)
    except OSError as error:
        raise LedgerError(f"{file} cannot be read: {error.strerror}.") from None
    except LedgerError:
        raise LedgerError(f"{file} is there already and no export: name another file, or remove it.") from None


def rebuild(path: Path, *, whole_runs: bool = False) -> Rebuilt:
    """Read all rows anew from the events. Raises ``LedgerError``, and leaves all as it was."""
    open_to_read(path).close()  # none is made here
    with sentences(path), closing(open_to_write(path)) as connection, transaction(connection):
        rebuilt = read_all_anew(connection)
        if rebuilt.left_out and not whole_runs:
            raise LedgerError(rebuilt.left_out[0])
    return rebuilt


def events_of_run(path: Path, named: str) -> tuple[list[Event], list[str]]:
    """The events of one run, as values and as lines of an export. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        chain = read_chain(connection, find_run(connection, path, named))
    return review_in(chain)[1], [_line(chain.run_id, link) for link in chain.links]


def ledger_chains(path: Path) -> Generator[Chain, None, None]:
    """Every chain of a ledger as it is proven, the earliest run first. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection, one_moment(connection):
        for _, chain in read_chains(connection):
            yield chain


def _line(run_id: str, link: Link) -> str:
    event = json.loads(link.event)
    line = {"run": run_id, "index": link.index, "previous": link.previous, "hash": link.hash, "event": event}
    return canonical(line) + "\n"


Noting = Callable[[sqlite3.Connection, Folded], None]


def _nothing(_: sqlite3.Connection, __: Folded) -> None:
    """Nothing is known beside the runs."""


def fold(path: Path, chains: Iterable[Chain], *, whole_runs: bool, noting: Noting = _nothing) -> Folded:
    """Fold chains into the ledger at ``path``, made where there is none. Raises ``LedgerError`` as ``merge`` does.

    ``noting`` writes beside the runs what is known of them, in the same transaction.
    """
    with sentences(path):
        if path.exists():
            return _fold_in(path, chains, noting, whole_runs=whole_runs)
        coming = iter(chains)
        first = list(islice(coming, 1))  # what cannot be read leaves no folder behind
        make_folder(path.parent)
        with temporary_folder("fold", path.parent) as folder:  # a refusal leaves no new ledger behind
            made = folder / "ledger.sqlite3"
            folded = _fold_in(made, chain_up(first, coming), noting, whole_runs=whole_runs)
            try:
                os.link(made, path)
            except OSError:  # another process was first, or the file system knows no second name of a file
                with closing(ledger_chains(made)) as again:
                    return _fold_in(path, again, noting, whole_runs=whole_runs, left_out=folded.left_out)
        return folded


def _fold_in(
    path: Path, chains: Iterable[Chain], noting: Noting, *, whole_runs: bool, left_out: Iterable[str] = ()
) -> Folded:
    """Fold chains into a ledger; ``left_out`` were left out before."""
    with closing(open_to_write(path)) as connection:
        return fold_into(connection, chains, noting, whole_runs=whole_runs, left_out=left_out)


def fold_into(
    connection: sqlite3.Connection,
    chains: Iterable[Chain],
    noting: Noting = _nothing,
    *,
    whole_runs: bool,
    left_out: Iterable[str] = (),
) -> Folded:
    """Fold chains into a ledger that is open. Raises ``LedgerError``, and the database's own errors."""
    counts: Counter[str] = Counter()
    left_out = list(left_out)
    with transaction(connection):
        for chain in chains:
            try:
                with savepoint(connection):
                    counts[_fold_chain(connection, chain)] += 1
            except LedgerError as refusal:
                if not whole_runs:
                    raise
                left_out.append(str(refusal))
        folded = Folded(counts["added"], counts["grown"], counts["present"], tuple(left_out))
        noting(connection, folded)
    return folded


def _fold_chain(connection: sqlite3.Connection, chain: Chain) -> Literal["added", "grown", "present"]:
    """Take one chain in, and say what that was."""
    refuse_broken(chain)
    row = chain_id(connection, chain.run_id)
    kept: tuple[Link, ...] = ()
    if row is not None:
        present = read_chain(connection, chain.run_id)
        refuse_broken(present)
        kept = present.links
    for ours, theirs in zip(kept, chain.links, strict=False):
        if ours.hash != theirs.hash:  # both chains are proven: so it tells of the events, too
            raise LedgerError(f"The run {chain.run_id} is another one here: they differ from event {ours.index} on.")
    if row is not None and len(kept) >= len(chain.links):
        return "present"
    begun = begun_at(chain)
    new = row is None
    row = begin_chain(connection, chain.run_id, microseconds(begun)) if row is None else row
    for link in chain.links[len(kept) :]:
        add_link(connection, row, link)
    read_anew(connection, row, chain)
    return "added" if new else "grown"


def _imported(file: Path) -> Generator[Chain, None, None]:
    streams = str(file).startswith(_STREAMS)
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | (0 if streams else os.O_NONBLOCK))
        with os.fdopen(descriptor, "rb") as lines:
            mode = os.fstat(descriptor).st_mode
            if not (stat.S_ISREG(mode) or (streams and stat.S_ISFIFO(mode))):
                raise LedgerError(f"{file} cannot be read: it is no file.")
            for (run_id, _), its in groupby(_numbered(_read_lines(file, lines)), key=itemgetter(0)):
                yield proven(run_id, (link for _, link in its))
    except OSError as error:
        raise LedgerError(f"{file} cannot be read: {error.strerror}.") from None


def _numbered(lines: Iterable[tuple[str, Link]]) -> Iterator[tuple[tuple[str, int], Link]]:
    """Each link with its run and its chain's number: in a file of several exports a run may follow itself."""
    begun = 0
    for run_id, link in lines:
        begun += link.index == 0
        yield (run_id, begun), link


def _read_lines(file: Path, lines: BinaryIO) -> Iterator[tuple[str, Link]]:
    """Each line's run and link."""
    for number in count(1):
        line = lines.readline(_LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > _LONGEST_LINE:
            raise LedgerError(f"{file} is no export of a ledger: line {number} is too long.")
        try:
            read = _Line.model_validate(json.loads(line))
            event = canonical(read.event)  # refuses NaN
        except (ValidationError, ValueError, RecursionError):
            raise LedgerError(f"{file} is no export of a ledger: line {number} cannot be read.") from None
        yield read.run, Link(read.index, read.previous, read.hash, event)


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
