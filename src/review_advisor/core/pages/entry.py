"""One event on a run's page, as plain values for the page to lay out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.findings import Finding
from review_advisor.core.outcome.events import CallEnded

Tone = Literal["", "good", "bad", "warn", "ask"]
"""How a heading is coloured; its words say the same."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event on the page.

    ``blocks`` are texts and lists in their order, each with a label; ``folded`` texts are shown when asked for.
    ``call`` holds the numbers of a call, as the ledger has them; ``patch`` is a diff of git's.
    """

    title: str
    tone: Tone = ""
    facts: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    folded: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    call: CallEnded | None = None
    patch: str = ""
