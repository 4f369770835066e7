"""What a review may touch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from review_advisor.agents.calls import Agents
from review_advisor.change.source import Pictures, Source
from review_advisor.policy.prices import Price
from review_advisor.review.events import Event
from review_advisor.safety.stop import Refusal


class Wiki(Protocol):
    """The folder of the repository that knowledge entries are stored in."""

    def store(self, name: str, text: str) -> str | None:
        """Store a new file, never in the place of another. None when it stands, else why it does not."""


class Journal(Protocol):
    """Where events go as they happen. Ledger and telemetry read the same stream."""

    def record(self, event: Event) -> None:
        """Take one event. Called from the thread where it happened."""


class Artifacts(Protocol):
    """The review's folder on disk."""

    def write(self, name: str, text: str) -> None:
        """Store ``text`` under ``name``, whole or not at all. Raises ``ArtifactError``."""


class Clock(Protocol):
    """Time."""

    def now(self) -> datetime:
        """The present moment, with its zone."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""

    def sleep(self, seconds: float) -> None:
        """Let so much time go by."""


class ArtifactError(Refusal):
    """An artefact could not be stored. One sentence for the user."""

    several_lines = True


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything ReviewPhase may touch. By ``prices`` calls are estimated; without any, none is."""

    agents: Agents
    source: Source
    journal: Journal
    artifacts: Artifacts
    clock: Clock
    pictures: Pictures
    wiki: Wiki
    prices: tuple[Price, ...] = ()
