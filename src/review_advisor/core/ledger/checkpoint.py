"""What a verification of a ledger has proven, so that the next one need not read it again (ADR-0110)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

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
        told = f"{chain} {events} {len(run_id)} {run_id} {len(last_hash)} {last_hash}\n"
        self._digest.update(told.encode("utf-8", "surrogatepass"))

    def checkpoint(self, at: datetime, through: int, reader: str) -> Checkpoint:
        """What was added so far, as proven."""
        return Checkpoint(at, through, self.runs, self.events, self._digest.hexdigest(), reader)
