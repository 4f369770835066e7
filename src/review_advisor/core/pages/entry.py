"""One event on a run's page, as plain values for the page to lay out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from review_advisor.core.answers.findings import Finding
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pages.text import page_block, page_text

Tone = Literal["", "good", "bad", "warn", "ask"]
"""How a heading is coloured; its words say the same."""
TONES: dict[Outcome, Tone] = {
    Outcome.NOTHING_TO_REVIEW: "",
    Outcome.APPROVED: "good",
    Outcome.CHANGES_REQUESTED: "bad",
    Outcome.ESCALATED: "warn",
    Outcome.STOPPED: "bad",
}


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

    def as_json(self) -> dict[str, Any]:
        """Its words, as a page gets them; the findings and the call are told by what they are of."""
        return {
            "title": page_text(self.title),
            "tone": self.tone,
            "facts": [[label, page_text(value)] for label, value in self.facts if value],
            "blocks": [[label, page_block(block)] for label, block in self.blocks if block],
            "folded": [[label, page_text(text)] for label, text in self.folded if text],
            "patch": page_text(self.patch),
        }
