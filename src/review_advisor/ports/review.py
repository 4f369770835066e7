"""What a review is made in: whoever answers, the change, and where its events and artefacts go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from review_advisor.core.facts.change import Change
from review_advisor.core.facts.guidelines import BaseText
from review_advisor.core.facts.patches.around import UseCollector
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.facts.repair_edits import Edits
from review_advisor.core.metrics.prices import Price
from review_advisor.core.outcome.events import Event
from review_advisor.core.roles.calls import AgentCall, Answered, ConsultRecord, ConsultReply, Denied, Granted, Lost

AsShown = Mapping[str, Callable[[str], str]]
"""What everybody is shown of a changed file's text at the head, by its path: masked, with as many lines."""


class Consults(Protocol):
    """The consults of one call, counted together with all others of the review. Used from any thread."""

    def ask(self, tool_use_id: str, question: str, wanted: str = "") -> Granted | Denied:
        """Leave for one consult, or the reason why not. An id that was asked before is denied, and not counted.

        ``wanted`` is the advisor that was asked for; empty for the ADR's.
        """

    def settle(self, tool_use_id: str, reply: ConsultReply) -> None:
        """Record what became of a granted consult. Only the first word on it counts."""

    def end(self) -> tuple[ConsultRecord, ...]:
        """All consults of the call, oldest first. What is still open has failed, and no more is granted."""


class Agents(Protocol):
    """Whoever answers a call: the real CLI, the embedded agent, or MockWorld's scripted ones."""

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """Make the call and wait. Raises ``Stop`` for spent credit, failed authentication or an interrupt.

        ``consults`` is given exactly when the call may consult; the receipt holds what became of them.
        """

    def check_interrupt(self) -> None:
        """Raise ``ReviewInterrupted`` once the user or the runner has asked the process to end."""

    def end_running(self) -> None:
        """End every call in flight and start no later one (another part of this review has met a Stop)."""


class Source(Protocol):
    """Where the change comes from: a git range, the index, a patch."""

    def change(self) -> Change:
        """The facts, read once. Raises ``SourceError`` with one clear sentence."""

    def base_texts(self, paths: Iterable[str]) -> Mapping[str, BaseText]:
        """What stands at these paths where the configuration comes from; a path with nothing is left out."""

    def base_names(self, folder: str) -> tuple[str, ...]:
        """The names of what lies directly in a folder at the base; none if there is no such folder."""

    def head_text(self, path: str) -> str | None:
        """The whole text of one file at the head; None if it cannot be had (a bare patch, a binary file)."""

    def head_texts(self, paths: Iterable[str], tree: str | None = None) -> Mapping[str, str]:
        """The texts of small files at the head, or of ``tree``; a path without one is left out."""

    def collect_uses(self, collector: UseCollector, tree: str | None = None) -> bool:
        """Give ``collector`` every line there in which one of its names stands; False if not all of them."""

    def head_tree(self, tree: str | None = None, shown: AsShown | None = None) -> AbstractContextManager[Path | None]:
        """A fresh folder holding the reviewed head tree, removed afterwards; None if there is none.

        ``tree``: another tree instead, one that ``edits`` has read back. The files in ``shown`` hold what that makes of
        their text; all others are exactly as the tree has them.
        """

    def edits(self, folder: Path) -> Edits:
        """What was edited in a folder that ``head_tree`` made, against the head; read while the folder is there.

        A line that is masked in the folder is still what the tree has; a file in which one was edited is unfit.
        """


class Pictures(Protocol):
    """The change's pictures, before and after, compared without a model."""

    def differences(self, change: Change, check_interrupt: Callable[[], None]) -> tuple[PictureDifference, ...]:
        """Every pair there is, identical ones too; their crops are then in the gallery.

        Once ``check_interrupt`` raises, no more is compared, and the rest is named.
        """

    @property
    def gallery(self) -> Path | None:
        """The private folder that holds the crops and nothing else; None while there are none."""


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


class SourceError(Exception):
    """The change cannot be read: nothing was asked. One sentence for the user (exit code 2)."""


class CliError(Exception):
    """The agent cannot be started. One or two sentences for the user: what is missing and how to get it."""


class ArtifactError(Exception):
    """An artefact could not be stored. One sentence for the user."""


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
