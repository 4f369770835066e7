"""What the refuter says of the findings that block, as text and as safe Markdown lines."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.steps.voteless_events import Challenged
from review_advisor.core.safety.terminal import wrapped


def challenges_of(document: OutcomeDocument) -> tuple[Challenged, ...]:
    """Every answer of the refuter, in its order."""
    parts = (part for surface in document.surfaces for part in surface.parts)
    return tuple(each for part in parts for each in part.challenges)


def refuter_text(document: OutcomeDocument) -> str:
    """The refuter's answers for a terminal; empty without any."""
    lines = [line for each in challenges_of(document) for line in _lines(each)]
    return "\n".join(("Refuter", *lines)) if lines else ""


def _lines(said: Challenged) -> Iterator[str]:
    yield wrapped("  ", f"{said.finding}: {said.words}")
    if said.challenge.reasoning:
        yield wrapped("    ", said.challenge.reasoning)
    if said.refutes:
        yield wrapped("    > ", f"{shown_path(said.challenge.path)}: {said.challenge.quote}")
