"""Proving a ledger, folding one into another, writing one out and reading it back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from review_advisor.adapters.ledger.chains import add_link, begin_chain, chain_id, read_chain, read_chains
from review_advisor.adapters.ledger.database import open_to_read, open_to_write, sentences, transaction
from review_advisor.adapters.ledger.listing import find_run
from review_advisor.adapters.ledger.rows import begun_at, read_anew, review_in
from review_advisor.core.outcome.events import Event
from review_advisor.core.record.chain import FIRST, RUN_ID, Break, Chain, LedgerError, Link, canonical, first_break
from review_advisor.core.record.moments import microseconds

_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of proving all chains: how many runs and events there are, and where each broken run breaks first."""

    runs: int
    events: int
    broken: tuple[Break, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """What was taken in: runs that are new, runs that have grown, and runs that were there already."""

    added: int
    grown: int
    present: int


class _Line(BaseModel):
    """One line of an export."""

    model_config = ConfigDict(extra="forbid", strict=True)

    run: Annotated[str, Field(pattern=f"^{RUN_ID}$")]
    index: Annotated[int, Field(ge=0)]
    previous: _Hash
    hash: _Hash
    event: dict[str, Any]


def verify(path: Path) -> Proof:
    """Prove every chain of a ledger. Raises ``LedgerError`` only where it cannot be read at all."""
    runs = events = 0
    broken: list[Break] = []
    with sentences(path), closing(open_to_read(path)) as connection:
        for chain in read_chains(connection):
            runs, events = runs + 1, events + len(chain.links)
            found = first_break(chain)
            if found is not None:
                broken.append(found)
    return Proof(runs, events, tuple(broken))


def merge(path: Path, other: Path) -> Folded:
    """Fold the runs of ``other`` into the ledger at ``path``: all of them, or none.

    The same runs once more change nothing. Raises ``LedgerError`` and names the run where a chain is broken, or is
    another than the one that is there.
    """
    with sentences(other), closing(open_to_read(other)) as source:
        return _fold(path, read_chains(source))


def import_lines(path: Path, file: Path) -> Folded:
    """Fold an export into the ledger at ``path``: all of it, or nothing. Raises ``LedgerError`` as ``merge`` does."""
    with closing(_imported(file)) as chains:  # a refusal leaves the file open no longer than that
        return _fold(path, chains)


def export_lines(path: Path) -> Iterator[str]:
    """The ledger's events, one JSON object a line, the earliest run first. Raises ``LedgerError``.

    Imported into an empty ledger they give the same lines again.
    """
    with sentences(path), closing(open_to_read(path)) as connection:
        for chain in read_chains(connection):
            _refuse_broken(first_break(chain))
            for link in chain.links:
                yield _line(chain.run_id, link)


def rebuild(path: Path) -> int:
    """Read all rows anew from the events; how many runs there are. Raises ``LedgerError``, and leaves all as it was."""
    runs = 0
    open_to_read(path).close()  # none is made here
    with sentences(path), closing(open_to_write(path)) as connection, transaction(connection):
        for chain in read_chains(connection):
            _refuse_broken(first_break(chain))
            _read_anew(connection, chain)
            runs += 1
    return runs


def events_of_run(path: Path, named: str) -> tuple[list[Event], list[str]]:
    """The events of one run, as values and as lines of an export. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        chain = read_chain(connection, find_run(connection, path, named))
    _refuse_broken(first_break(chain))
    return review_in(chain)[1], [_line(chain.run_id, link) for link in chain.links]


def _line(run_id: str, link: Link) -> str:
    told = {"run": run_id, "index": link.index, "previous": link.previous, "hash": link.hash}
    return canonical({**told, "event": json.loads(link.event)}) + "\n"


def _refuse_broken(found: Break | None) -> None:
    if found is not None:
        raise LedgerError(f"The run {found.run_id} is not what was recorded: event {found.index}: {found.why}.")


def _fold(path: Path, chains: Iterable[Chain]) -> Folded:
    added = grown = present = 0
    with sentences(path), closing(open_to_write(path)) as connection, transaction(connection):
        for chain in chains:
            before = _fold_chain(connection, chain)
            if before == 0:
                added += 1
            elif before < len(chain.links):
                grown += 1
            else:
                present += 1
    return Folded(added, grown, present)


def _fold_chain(connection: sqlite3.Connection, chain: Chain) -> int:
    """Take one chain in; how many of its events were there already."""
    _refuse_broken(first_break(chain))
    row = chain_id(connection, chain.run_id)
    kept: Sequence[Link] = () if row is None else read_chain(connection, chain.run_id).links
    for ours, theirs in zip(kept, chain.links, strict=False):
        if ours.hash != theirs.hash or ours.event != theirs.event:
            raise LedgerError(f"The run {chain.run_id} is another one here: they differ from event {ours.index} on.")
    if len(kept) < len(chain.links):
        if row is None:
            row = begin_chain(connection, chain.run_id, microseconds(begun_at(chain)))
        for link in chain.links[len(kept) :]:
            add_link(connection, row, link)
        _read_anew(connection, chain)
    return len(kept)


def _read_anew(connection: sqlite3.Connection, chain: Chain) -> None:
    row = chain_id(connection, chain.run_id)
    if row is not None and chain.links:
        read_anew(connection, row, chain)


def _imported(file: Path) -> Generator[Chain, None, None]:
    try:
        with file.open("rb") as lines:
            read = (_read_line(file, number, line) for number, line in enumerate(lines, start=1))
            for run_id, its in groupby(read, key=lambda line: line.run):
                links = tuple(Link(line.index, line.previous, line.hash, canonical(line.event)) for line in its)
                yield Chain(run_id, len(links), links[-1].hash if links else FIRST, links)
    except OSError as error:
        raise LedgerError(f"{file} cannot be read: {error.strerror}.") from None


def _read_line(file: Path, number: int, line: bytes) -> _Line:
    try:
        return _Line.model_validate(json.loads(line))
    except (ValidationError, ValueError, RecursionError):
        raise LedgerError(f"{file} is no export of a ledger: line {number} cannot be read.") from None
