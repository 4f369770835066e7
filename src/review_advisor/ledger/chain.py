"""The chain of one run's events, and checkpoints of its verification."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from review_advisor.safety.stop import Refusal

LEDGER_FILE = "ledger/ledger.sqlite3"
"""The ledger in the artefact root: in a folder of its own, which ignores itself."""


LARGEST_RUN = 64 * 1024**2
"""How many characters the events of a run come to at most: three thousand times the largest of the simulated stories.

A packed file of a few kB unpacks to any length, and whoever reads events holds some ten times as much in memory.
"""


PROVEN = "Proven: since it was written, no event was changed, moved or removed within a run whose last hash is known."


NOT_PROVEN = (
    "Not proven: who wrote it, and that no run, nor the whole ledger, was written anew before you first verified it."
)


FIRST = "0" * 64
"""What stands for the hash before the first link."""


class LedgerError(Refusal):
    """The ledger cannot be read or written, or does not take something. One sentence for the user."""


@dataclass(frozen=True, slots=True)
class Link:
    """One event as it is kept. ``event`` is its canonical JSON; ``index`` counts from 0."""

    index: int
    previous: str
    hash: str
    event: str


@dataclass(frozen=True, slots=True)
class Break:
    """Where a run is not what was recorded, and why. ``index`` is its first such event; None: it is no single event."""

    run_id: str
    index: int | None
    why: str

    @property
    def says(self) -> str:
        """The place and the reason, in words."""
        return self.why if self.index is None else f"event {self.index}: {self.why}"


@dataclass(frozen=True, slots=True)
class Chain:
    """One run's stream as far as it is what was recorded: ``links`` are proven, ``broken`` is the first that is not."""

    run_id: str
    links: tuple[Link, ...]
    broken: Break | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """What is noted beside a chain: how many events it has, and the hash of its last one."""

    events: int
    last_hash: object


def canonical(value: Any) -> str:
    """The one JSON text of a value: keys sorted, no spaces, ASCII only. Raises ``ValueError`` for NaN and infinity."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def link(run_id: str, index: int, previous: str, event: str) -> Link:
    """The next link of a chain. ``event`` is canonical JSON."""
    text = f'{{"event":{event},"index":{index},"previous":"{previous}","run":{json.dumps(run_id)}}}'
    return Link(index, previous, hashlib.sha256(text.encode()).hexdigest(), event)


def links(run_id: str, events: Iterable[str]) -> tuple[Link, ...]:
    """The whole chain of these events."""
    made: list[Link] = []
    for index, event in enumerate(events):
        made.append(link(run_id, index, made[-1].hash if made else FIRST, event))
    return tuple(made)


def proven(run_id: str, kept: Iterable[Link], noted: Noted | None = None) -> Chain:
    """Prove a chain link by link while it is read: nothing is read beyond the first link that is wrong."""
    links: list[Link] = []
    previous, size = FIRST, 0
    for index, each in enumerate(kept):
        size += len(each.event)
        why = _wrong(run_id, index, previous, each, size)
        if why is not None:
            return Chain(run_id, tuple(links), Break(run_id, index, why))
        links.append(each)
        previous = each.hash
    return Chain(run_id, tuple(links), None if noted is None else _other_end(run_id, len(links), previous, noted))


def _wrong(run_id: str, index: int, previous: str, kept: Link, size: int) -> str | None:
    """Why a link is not the next one of its chain; None if it is."""
    if kept.index != index:
        return "it is missing, or stands in another place"
    if kept.previous != previous:
        return "it does not follow the one before it"
    if size > LARGEST_RUN:
        return f"the run is larger than {LARGEST_RUN // 1024**2} MB"
    if link(run_id, index, previous, kept.event).hash != kept.hash:
        return "its content is not what was recorded"
    return None


def _other_end(run_id: str, count: int, last_hash: str, noted: Noted) -> Break | None:
    if noted.events != count:
        least = max(min(noted.events, count), 0)
        return Break(run_id, least, f"{count} events are there, and the run's row counts {noted.events}")
    if noted.last_hash != last_hash:
        return Break(run_id, max(count - 1, 0), "the run's row has another last hash")
    return None


MAY_STILL_GROW = timedelta(days=1)
"""An unfinished run is taken for a killed one after so long; until then no checkpoint covers it or a later run."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Every run up to the chain ``through`` was proven at a moment, by this reader.

    ``runs`` and ``events`` are how many that were; ``digest`` covers the name, the length and the last hash of each.
    """

    at: datetime
    through: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    runs: int
    events: int
    digest: str
    reader: str


class Heads:
    """The chains of a ledger in their order, added up: how many, how many events, and a digest of all."""

    def __init__(self) -> None:
        self.runs = 0
        self.events = 0
        self._digest = hashlib.sha256()

    def add(self, chain: int, run_id: str, events: int, last_hash: str) -> None:
        """The next chain."""
        self.runs += 1
        self.events += events
        line = f"{chain} {events} {len(run_id)} {run_id} {len(last_hash)} {last_hash}\n"
        self._digest.update(line.encode("utf-8", "surrogatepass"))

    def checkpoint(self, at: datetime, through: int, reader: str) -> Checkpoint:
        """What was added so far, as proven."""
        return Checkpoint(at, through, self.runs, self.events, self._digest.hexdigest(), reader)
