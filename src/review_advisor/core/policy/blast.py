"""Blast radius: how much breaks if a wrong approval of this change goes through."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BlastRadius(StrEnum):
    """The tiers of ADR-0059 (R-2)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


MEDIUM_ABOVE_LINES = 200


@dataclass(frozen=True, slots=True)
class Blast:
    """The tier and its reasons."""

    radius: BlastRadius
    because: tuple[str, ...]


def blast_radius(
    critical: tuple[str, ...], own_implementation: tuple[str, ...], code_lines: int, risky: tuple[str, ...] = ()
) -> Blast:
    """High for a critical path on either side or for self-modification; medium for many lines or a risky subject."""
    reasons = [f"critical path touched: {path}" for path in critical]
    reasons += [f"the bot's own implementation touched: {path}" for path in own_implementation]
    if reasons:
        return Blast(BlastRadius.HIGH, tuple(reasons))
    if code_lines > MEDIUM_ABOVE_LINES:
        return Blast(BlastRadius.MEDIUM, (f"{code_lines} changed lines of code, more than {MEDIUM_ABOVE_LINES}",))
    if risky:
        return Blast(BlastRadius.MEDIUM, tuple(f"changed code {deals}" for deals in risky))
    return Blast(BlastRadius.LOW, (f"{code_lines} changed lines of code, no critical path",))
