"""Chains in the ledger: added event by event, and read back."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from datetime import datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from review_advisor.change.pull_request import LARGEST_PULL_REQUEST
from review_advisor.ledger.chain import LARGEST_RUN, Chain, LedgerError, Link, Noted, canonical, proven
from review_advisor.ledger.rows import (
    EPOCH,
    LATEST,
    Readings,
    Tables,
    readings_of,
    readings_of_observation,
    readings_of_task,
    readings_so_far,
)
from review_advisor.ledger.task_events import TaskBegun, TaskCalled, TaskEnded, TaskEvent
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import CallEnded, Consulted, Event, PartEnded, PolicyFrozen, Repaired, ReviewEnded
from review_advisor.review.observed import RUN_ID, Observed

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


_OBSERVED = '"kind":"observed"'


_TASK = '"kind":"task_began"'

"""Each stands in the first event of its kind of chain; in a text of another event quotes are escaped."""


_LARGEST_FIGURE = 10**15
"""Beyond any review's tokens, dollars and seconds; sums of such numbers are still exact."""


def review_in(chain: Chain) -> tuple[PolicyFrozen, list[Event]]:
    """The first event of a chain, which is the policy of its run, and all of them.

    Raises ``LedgerError`` for a chain that is broken, that does not begin so, or that goes on after its end, for an
    event that this version does not know, and for what no review of ours can hold.
    """
    refuse_broken(chain)
    first = _first(chain)
    _refuse_number(chain, first.pull_request)
    events: list[Event] = [first, *(_read(chain, link, Event) for link in chain.links[1:])]
    for index, event in enumerate(events):
        if isinstance(event, ReviewEnded) and event is not events[-1]:
            raise LedgerError(f"The run {chain.run_id} ended with event {index}: nothing comes after that.")
        if event.at.utcoffset() is None:
            raise LedgerError(f"Event {index} of {chain.run_id} has no time zone.")
        if event.at < first.at:
            raise LedgerError(f"Event {index} of {chain.run_id} happened before the run began.")
        if not all(0 <= figure <= _LARGEST_FIGURE for figure in _figures(event)):
            raise LedgerError(f"Event {index} of {chain.run_id} has a negative figure, or one beyond measure.")
    return first, events


def _figures(event: Event) -> Iterator[float]:
    """What is added up: tokens, money, times."""
    match event:
        case CallEnded():
            yield from _figures_of_call(event)
        case Consulted():
            yield from (figure for figure in (event.note.tokens, event.note.duration_ms) if figure is not None)
        case _:
            pass


def _figures_of_call(call: CallEnded) -> Iterator[float]:
    yield call.duration_seconds
    for usage in (call.usage, *([call.own] if call.own else []), *(each.usage for each in call.by_model)):
        yield from (figure for figure in astuple(usage) if figure is not None)


def document_in(chain: Chain, events: Sequence[Event]) -> OutcomeDocument | None:
    """What a run's events come to; None for one that is not over. Raises ``LedgerError``."""
    if not isinstance(events[-1], ReviewEnded):
        return None
    repaired = {(each.surface, each.shard) for each in events if isinstance(each, Repaired) and each.patch}
    ended = {(each.surface, each.shard) for each in events if isinstance(each, PartEnded) and each.repaired}
    if not ended <= repaired:
        raise no_review(chain)
    try:
        return outcome_document(events)
    except (LookupError, TypeError, ValueError, ArithmeticError, StopIteration):  # a forged chain has any order
        raise no_review(chain) from None


def observation_in(chain: Chain) -> Observed | None:
    """The one event of an observation's chain; None for the chain of a review. Raises ``LedgerError`` as above."""
    refuse_broken(chain)
    if not chain.links or _OBSERVED not in chain.links[0].event:
        return None
    observed: Observed = _read(chain, chain.links[0], Observed)
    if len(chain.links) > 1 or observed.run_id != chain.run_id:
        raise LedgerError(f"The events of {chain.run_id} are those of no observation.")
    _refuse_number(chain, observed.pull_request)
    return observed


def task_in(chain: Chain) -> tuple[TaskEvent, ...] | None:
    """The events of a task's chain; None for any other chain. Raises ``LedgerError`` as above."""
    refuse_broken(chain)
    if not chain.links or _TASK not in chain.links[0].event:
        return None
    events: tuple[TaskEvent, ...] = tuple(_read(chain, link, TaskEvent) for link in chain.links)
    _refuse_disorder(chain, events)
    return events


def _refuse_disorder(chain: Chain, events: Sequence[TaskEvent]) -> None:
    """Raise ``LedgerError`` for a chain that begins, goes on or ends as no task does."""
    no_such = LedgerError(f"The events of {chain.run_id} are those of no task.")
    first = events[0]
    if not isinstance(first, TaskBegun) or first.run_id != chain.run_id or not re.fullmatch(RUN_ID, chain.run_id):
        raise no_such
    for index, event in enumerate(events):
        is_alone = event is first or not isinstance(event, TaskBegun)
        is_last = event is events[-1] or not isinstance(event, TaskEnded)
        if not (is_alone and is_last) or event.at.utcoffset() is None or event.at < first.at:
            raise no_such
        figures = (event.duration_seconds, *astuple(event.usage)) if isinstance(event, TaskCalled) else ()
        if not all(0 <= figure <= _LARGEST_FIGURE for figure in figures if figure is not None):
            raise LedgerError(f"Event {index} of {chain.run_id} has a negative figure, or one beyond measure.")


def begun_at(chain: Chain) -> datetime:
    """When a chain's first event happened, by the clock of the machine that recorded it.

    The clock may have been wrong, so a moment in the future is no reason to refuse a run. Raises ``LedgerError`` for a
    moment that ``Recorder`` never writes. Does not look at the other events.
    """
    first = _beginning(chain)
    if first.at.utcoffset() is None or not EPOCH <= first.at <= LATEST:
        raise LedgerError(f"The run {chain.run_id} cannot have begun at {first.at.isoformat()}.")
    return first.at


def repository_of(chain: Chain) -> str | None:
    """The repository that a chain says it is of; None for a task, and for a change of none. Raises ``LedgerError``.

    Does not look at events after the first.
    """
    first = _beginning(chain)
    return first.repository if isinstance(first, PolicyFrozen | Observed) else None


def _beginning(chain: Chain) -> PolicyFrozen | Observed | TaskEvent:
    """The first event of any kind of chain."""
    head = replace(chain, links=chain.links[:1])
    task = task_in(head)
    return task[0] if task else observation_in(head) or _first(head)


def _first(chain: Chain) -> PolicyFrozen:
    first = _read(chain, chain.links[0], Event) if chain.links else None
    if not isinstance(first, PolicyFrozen) or first.run_id != chain.run_id or not re.fullmatch(RUN_ID, chain.run_id):
        raise LedgerError(f"The events of {chain.run_id} do not begin with its policy.")
    return first


def refuse_broken(chain: Chain) -> None:
    """Raise ``LedgerError`` for a chain that is not what was recorded."""
    if chain.broken is not None:
        raise LedgerError(f"The run {chain.run_id} is not what was recorded: {chain.broken.says}.")


def _refuse_number(chain: Chain, number: int | None) -> None:
    if number is not None and not 1 <= number <= LARGEST_PULL_REQUEST:
        raise LedgerError(f"The run {chain.run_id} names a pull request that cannot be.")


def no_review(chain: Chain) -> LedgerError:
    """The refusal of a chain whose events are none of a review's, or in an order that cannot be."""
    return LedgerError(f"The events of {chain.run_id} are those of no review.")


def _read(chain: Chain, link: Link, kind: Any) -> Any:
    try:
        event = json.loads(link.event)
        if canonical(event) == link.event:
            if "\\ud" in link.event:  # so begins a half character, and a whole one of two halves
                json.dumps(event, ensure_ascii=False).encode()
            return _reader(kind).validate_python(event)
    except UnicodeEncodeError:  # our own events have passed the redactor, which leaves none
        raise LedgerError(f"Event {link.index} of {chain.run_id} holds half a character: no file takes that.") from None
    except (ValidationError, ValueError, ArithmeticError, RecursionError):
        pass
    raise LedgerError(f"Event {link.index} of {chain.run_id} is none that this version knows.")


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    """Reads events of one kind; it is slow to make."""
    return TypeAdapter(kind)


def readings_of_chain(chain: Chain) -> Readings | Tables:
    """The rows of a run, or those of any other chain by table, from its events. Raises ``LedgerError``."""
    observed, task = observation_in(chain), task_in(chain)
    if observed is not None:
        return readings_of_observation(observed)
    if task is not None:
        return readings_of_task(task)
    _, events = review_in(chain)
    document = document_in(chain, events)
    try:
        return readings_so_far(events) if document is None else readings_of(document)
    except (LookupError, TypeError, ValueError, ArithmeticError, StopIteration):  # as above
        raise no_review(chain) from None
