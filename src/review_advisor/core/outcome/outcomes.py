"""Outcomes of a surface and of a review, and how they join: the worst wins."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """How a review ends, from best to worst. An empty change is approved by nobody: there is nothing to review."""

    NOTHING_TO_REVIEW = "nothing_to_review"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    ESCALATED = "escalated"
    STOPPED = "stopped"


EXIT_CODES: dict[Outcome, int] = {
    Outcome.NOTHING_TO_REVIEW: 0,
    Outcome.APPROVED: 0,
    Outcome.CHANGES_REQUESTED: 10,
    Outcome.ESCALATED: 11,
    Outcome.STOPPED: 12,
}

_ORDER = tuple(Outcome)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of them; a review in which nothing was reviewed did not run."""
    return max(outcomes, key=_ORDER.index, default=Outcome.STOPPED)
