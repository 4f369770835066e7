"""What a person reads about repairs: a line for each attempt's edits, and the patch that is offered."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.facts.repair_edits import WHOLE
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import Repaired
from review_advisor.core.outcome.rulings import Move
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS

PATCH_FILE = "repair.patch"


def repair_words(event: Repaired) -> str:
    """What came of one attempt's edits, on one line."""
    if event.result == "refused":
        return "; ".join(
            each.why if each.path == WHOLE else f"{shown_path(each.path)}: {each.why}" for each in event.refused
        )
    if event.result == "withdrawn":
        return "the head is judged as it is"
    radius = "" if event.blast is None else f", blast radius {event.blast.radius.value}"
    return ", ".join(map(shown_path, event.files)) + radius


def no_repair_words(document: OutcomeDocument) -> str | None:
    """Why no vetoed approval was handed back for a repair; None where that did not happen."""
    decision = document.policy.repair
    handed_back = any(
        ruling.move is Move.RETRY and report.verdict == "approve"
        for surface in document.surfaces
        if SURFACE_DEFAULTS[surface.surface].repair
        for part in surface.parts
        for ruling, report in zip(part.rulings, part.reports, strict=False)
    )
    return f"repair was off: {', '.join(decision.because)}" if handed_back and not decision.runs else None


def offered_repair(document: OutcomeDocument) -> Iterator[str]:
    """The offered patch with how to use it; nothing without one. The lines are not yet safe to print."""
    if document.repair is None:
        return
    made = document.repair
    where = f"commit {made.head_sha}" if made.head_sha else "the staged changes"
    yield f"Repair: with this patch on {where}, and only with it, {made.surface.value} is approved"
    yield f"  (judged in attempt {made.attempt + 1}). Apply it with: git apply {PATCH_FILE}"
    yield from (f"    {line}" for line in made.patch.removesuffix("\n").split("\n"))
