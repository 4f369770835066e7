"""Reading many runs for a reader who goes from one to the next: who took part, how they ended, and their events."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from review_advisor.adapters.ledger.chain_events import document_in, observation_in, review_in
from review_advisor.adapters.ledger.chains import read_chain
from review_advisor.adapters.ledger.conditions import PAID_ELSEWHERE, where_within
from review_advisor.adapters.ledger.database import open_to_read, sentences
from review_advisor.adapters.ledger.rows import known
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.moments import LATEST, microseconds, moment_of
from review_advisor.core.ledger.periods import Period
from review_advisor.core.ledger.row import Participant
from review_advisor.core.observation.labels import Observed, ObservedLabel
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import Event

_OBSERVED = """
    SELECT run_id FROM observations JOIN chains ON chains.id = chain
    WHERE pull_request = ? AND repository = ? ORDER BY chain DESC LIMIT 1
"""
_CASTINGS = """
    SELECT run_id, CAST(casting AS INTEGER) FROM json_each(?) JOIN chains ON chains.run_id = value
    JOIN runs ON runs.chain = chains.id
"""
_ELSEWHERE = f"""
    SELECT number FROM kept WHERE chain = (SELECT id FROM chains WHERE run_id = ?) AND {PAID_ELSEWHERE}
"""  # noqa: S608 (our own names)


@dataclass(frozen=True, slots=True)
class Castings:
    """Who took part: ``parts`` by casting, and the casting of each run."""

    parts: dict[int, tuple[Participant, ...]]
    of_run: dict[str, int]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run's events, what they come to once it is over, and what was seen last of its pull request.

    ``closed_head`` is the head with which it was seen to be closed.

    ``paid_elsewhere`` are the numbers of the calls that another run counts. ``unlabelled`` says why nothing can be told
    of what was seen.
    """

    events: tuple[Event, ...]
    document: OutcomeDocument | None
    paid_elsewhere: frozenset[int]
    labels: tuple[ObservedLabel, ...] = ()
    unlabelled: str = ""
    closed_head: str = ""


def read_castings(path: Path, run_ids: Iterable[str]) -> Castings:
    """Who took part in these runs. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        rows = connection.execute(_CASTINGS, (json.dumps(list(run_ids)),))
        of_run = {str(run_id): int(casting) for run_id, casting in rows}
        known = set(of_run.values())
        parts: dict[int, list[Participant]] = {casting: [] for casting in known}
        for casting, *words in connection.execute(
            "SELECT casting, surface, role, model, error FROM casting_parts ORDER BY casting, surface, role, model"
        ):
            if casting in known:
                parts[casting].append(Participant(*map(str, words)))
    return Castings({casting: tuple(its) for casting, its in parts.items()}, of_run)


def first_and_last(path: Path, period: Period) -> tuple[datetime, datetime] | None:
    """When the first and the last run of a period began; None where there is none. Raises ``LedgerError``."""
    where, values = where_within(period)
    asked = "SELECT {}(chain) FROM runs WHERE {}"  # each end by itself is found at once
    with sentences(path), closing(open_to_read(path)) as connection:
        ends = (connection.execute(asked.format(end, where), values).fetchone() for end in ("min", "max"))
        (low,), (high,) = ends
    return None if low is None else (_moment(low), _moment(high))


def count_ends(path: Path, within: Sequence[Period]) -> list[Counter[str]]:
    """How the runs of each period ended: how many of each status. Raises ``LedgerError``."""
    statement = "SELECT status, count(*) FROM runs WHERE {} GROUP BY status"
    with sentences(path), closing(open_to_read(path)) as connection:
        asked = [(statement.format(where), values) for where, values in map(where_within, within)]
        return [Counter(dict(connection.execute(*each).fetchall())) for each in asked]


def read_reviews(path: Path, run_ids: Iterable[str]) -> Iterator[RecordedRun | str]:
    """What is kept of each of these runs, or one sentence on why it cannot be told. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        for run_id in run_ids:
            try:
                yield _kept(connection, run_id)
            except LedgerError as trouble:
                yield str(trouble)


def _kept(connection: sqlite3.Connection, run_id: str) -> RecordedRun:
    chain = read_chain(connection, run_id)
    if chain.broken is not None:
        raise LedgerError(f"The run is not what was recorded: {chain.broken.says}.")
    first, events = review_in(chain)
    kept = RecordedRun(
        tuple(events),
        document_in(chain, events),
        frozenset(number for (number,) in connection.execute(_ELSEWHERE, (run_id,))),
    )
    try:
        observed = _observed(connection, first.repository, first.pull_request)
    except LedgerError as trouble:
        return replace(kept, unlabelled=str(trouble))
    return kept if observed is None else replace(kept, labels=observed.labels, closed_head=observed.head_sha)


def _observed(connection: sqlite3.Connection, repository: str | None, number: int | None) -> Observed | None:
    """What is known of a pull request. Raises ``LedgerError`` where what was seen last cannot be told."""
    found = connection.execute(_OBSERVED, (number, repository)).fetchone()
    if found is None or observation_in(read_chain(connection, found[0])) is None:
        return None
    return known(connection, repository, number)


def _moment(chain: int) -> datetime:
    """When a chain began, as far as a calendar goes."""
    return moment_of(max(0, min(chain, microseconds(LATEST))))
