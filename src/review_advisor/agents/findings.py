"""Findings: identity, merging and order."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.change.change import Age

FINDING_ID = r"f-[0-9a-f]{32}"
"""What every ``finding_id`` looks like, as a regular expression."""


@dataclass(frozen=True, slots=True)
class MergedRemark:
    """A remark that has the id of a finding at least as grave, and is told as a part of that finding."""

    severity: Severity
    title: str
    body: str
    suggestion: str | None
    confidence: float

    @property
    def headline(self) -> str:
        """One line that names it."""
        return f"Also raised here, {self.severity}: {self.title}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding whose evidence stands in the change.

    ``id`` is stable across pushes: it depends on path, category, the quoted text and which ``occurrence`` of that text
    it is, not on the line. ``occurrences`` is how many places of the file's changed lines hold the text.
    ``line`` and ``end_line`` are of the new side, or of the old side if ``removed``. ``also`` are the remarks that were
    merged into it, the worst first. ``rule`` is the rule of the team's own that it rests on, such as ``REVIEW.md:12``;
    empty if it rests on none. ``age`` is that of its lines: what is not known is new.
    ``pre_existing``: the executor says that the change did not bring it; in an outcome, that the advisor confirms it.
    Of a critical or high one that holds only if its quote stands among the unchanged or removed lines.
    ``raised_by`` is the id of the advisor that brought it; empty where the executor did.
    ``harness``: no model said it, the harness found it itself. Of a secret, ``value`` is a digest too short to find the
    secret by; its id depends on it.
    """

    id: str
    path: str
    line: int
    end_line: int
    removed: bool
    severity: Severity
    category: str
    title: str
    body: str
    suggestion: str | None
    confidence: float
    evidence: str
    corrected: str = ""
    occurrence: int = 1
    occurrences: int = 1
    also: tuple[MergedRemark, ...] = ()
    rule: str = ""
    age: Age = Age.NEW
    pre_existing: bool = False
    raised_by: str = ""
    harness: bool = False
    value: str = ""

    @property
    def marks(self) -> str:
        """What stands behind its severity wherever it is told, each mark after a comma; empty for most."""
        return f"{', pre-existing' if self.pre_existing else ''}{', raised by the advisor' if self.raised_by else ''}"

    @property
    def words(self) -> str:
        """Everything that is said below its title: its body, then what was merged into it. No text stands twice."""
        told = [self.body]
        for remark in self.also:
            offered = f"Suggested:\n{remark.suggestion}" if remark.suggestion not in (None, self.suggestion) else ""
            told.append(remark.headline)
            told += (each for each in (remark.body, offered) if each not in told)
        return "\n\n".join(filter(None, told))


@dataclass(frozen=True, slots=True)
class RefusedFinding:
    """A finding that cannot be believed as it stands, and why.

    ``raised_by`` is the id of the advisor that brought it; empty where the executor did.
    """

    path: str
    title: str
    severity: Severity
    why: str
    raised_by: str = ""


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each id once, in the order in which it first comes: the worst finding of that id, with the others in it."""
    alike: dict[str, list[Finding]] = defaultdict(list)
    for each in findings:
        alike[each.id].append(each)
    return tuple(map(_merged, alike.values()))


def _merged(findings: Sequence[Finding]) -> Finding:
    worst, *others = sorted(findings, key=_gravity)
    remarks = [
        remark
        for each in others
        for remark in (
            MergedRemark(each.severity, each.title, each.body, each.suggestion, each.confidence),
            *each.also,
        )
    ]
    also = tuple(sorted((*worst.also, *remarks), key=_gravity))
    return replace(worst, also=also, pre_existing=all(each.pre_existing for each in findings))


def merged_into(findings: Iterable[Finding]) -> int:
    """How many remarks were merged into these findings."""
    return sum(len(each.also) for each in findings)


def _gravity(remark: Finding | MergedRemark) -> int:
    return SEVERITIES.index(remark.severity)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, then by place."""
    return tuple(sorted(findings, key=lambda each: (_gravity(each), each.path, each.line, each.id)))


def finding_id(
    path: str, category: str, evidence: str, occurrence: int = 1, *, removed: bool = False, value: str = ""
) -> str:
    """A finding's id, stable across pushes: it names a quote in a file, and which of the places where it stands.

    White space and blank lines in the quote are no difference. ``value`` is a digest of what the quote hides.
    """
    lines = [" ".join(line.split()) for line in evidence.split("\n")]
    facts = [path, category.casefold(), [line for line in lines if line], removed, occurrence]
    hidden = [value] if value else []
    return "f-" + hashlib.sha256(json.dumps(facts + hidden).encode()).hexdigest()[:32]


def id_at(path: str, finding: Finding) -> str:
    """The id that the finding would have in the file ``path``."""
    return finding_id(
        path,
        finding.category,
        finding.evidence,
        finding.occurrence,
        removed=finding.removed,
        value=finding.value,
    )
