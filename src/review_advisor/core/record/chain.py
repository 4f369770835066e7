"""The chain of one run's events: each link's hash covers the event, its place, its run and the link before it.

It shows that something was changed, taken out, added or put into another order. It does not show that somebody wrote
the whole chain anew: for that, its last hash must be kept somewhere else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

RUN_ID = r"[A-Za-z0-9._:-]{1,200}"
"""What a run may be called: files are named after it."""
FIRST = "0" * 64
"""What stands for the hash before the first link."""


class LedgerError(Exception):
    """The ledger cannot be read or written, or does not take something. One sentence for the user."""


@dataclass(frozen=True, slots=True)
class Link:
    """One event as it is kept. ``event`` is its canonical JSON; ``index`` counts from 0."""

    index: int
    previous: str
    hash: str
    event: str


@dataclass(frozen=True, slots=True)
class Chain:
    """All that is kept of one run's stream; ``events`` and ``last_hash`` are what was noted beside it."""

    run_id: str
    events: int
    last_hash: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """The first event of a run that is not what was recorded, and why."""

    run_id: str
    index: int
    why: str


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


def first_break(chain: Chain) -> Break | None:
    """Where a chain breaks first; None if it is whole."""
    previous = FIRST
    for index, kept in enumerate(chain.links):
        why = ""
        if kept.index != index:
            why = "it is missing, or stands in another place"
        elif kept.previous != previous:
            why = "it does not follow the one before it"
        elif link(chain.run_id, index, previous, kept.event).hash != kept.hash:
            why = "its content is not what was recorded"
        if why:
            return Break(chain.run_id, index, why)
        previous = kept.hash
    if chain.events != len(chain.links):
        least = max(min(chain.events, len(chain.links)), 0)
        return Break(
            chain.run_id, least, f"{len(chain.links)} events are there, and the run's row counts {chain.events}"
        )
    if chain.last_hash != previous:
        return Break(chain.run_id, max(chain.events - 1, 0), "the run's row has another last hash")
    return None
