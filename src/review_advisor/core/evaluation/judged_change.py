"""A pull request that several tools reviewed, with what a judge said of each of their findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from review_advisor.core.evaluation.scores import Score

Item = TypeVar("Item")
Percents = tuple[float, float, float]
"""Precision, recall and F1."""
Draw = Callable[[int], int]
"""A number from 0 to below the one that is given, by chance; the same ones again for the same seed."""
_TRIGGER = re.compile(r"\s*(?:/[\w-]+(?:\s+[\w-]+)?|@[\w-]+(?:\s+[\w-]+)?|[\w-]+\s+review)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """What one tool said, and the golden comments that a judge took it to say, by their numbers."""

    tool: str
    text: str
    matches: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """``loose``: the count of each tool by the judge's own rules, as the benchmark publishes it."""

    name: str
    repository: str
    golden: int
    findings: tuple[ToolFinding, ...]
    loose: Mapping[str, Score]

    def matches_of(self, tool: str) -> list[frozenset[int]]:
        """What each finding of one tool was judged to say."""
        return [each.matches for each in self.findings if each.tool == tool]


@dataclass(frozen=True, slots=True)
class JudgeResults:
    """What one judge said. ``published``: what the benchmark's own table says of each tool; None without one."""

    judge: str
    changes: tuple[JudgedChange, ...]
    published: Mapping[str, Percents] | None


def is_trigger_command(text: str) -> bool:
    """Whether a comment only calls a reviewer, such as ``/name review`` or ``@name``: that is no finding."""
    return _TRIGGER.fullmatch(text) is not None


def placebo(change: JudgedChange, draw: Draw) -> JudgedChange:
    """The same change, where chance says which of a tool's own findings are right.

    Every tool by itself scores as before. What agreement tells of truth is gone.
    """
    findings = list(change.findings)
    for tool in sorted({each.tool for each in findings if each.matches}):
        places = [place for place, each in enumerate(findings) if each.tool == tool]
        for place, matches in zip(places, shuffled(change.matches_of(tool), draw), strict=True):
            findings[place] = ToolFinding(tool, findings[place].text, matches)
    return replace(change, findings=tuple(findings))


def shuffled(items: Iterable[Item], draw: Draw) -> list[Item]:
    """In an order by chance, each as likely as any other (Fisher and Yates)."""
    ordered = list(items)
    for last in range(len(ordered) - 1, 0, -1):
        other = draw(last + 1)
        ordered[last], ordered[other] = ordered[other], ordered[last]
    return ordered
