"""The executor's findings held against the change: a quote that is not there is refused, a wrong line corrected."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from review_advisor.core.facts.change import FileChange
from review_advisor.core.facts.diff_text import shown_path
from review_advisor.core.roles.answers import (
    DisagreementAnswer,
    KnowledgeEntry,
    ReportedFinding,
    ReviewReport,
    Severity,
)
from review_advisor.core.roles.fence import clean
from review_advisor.core.roles.redaction import Redactor

SHORTEST_PROOF = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding whose evidence stands in the change.

    ``id`` is stable across pushes: it depends on path, category and the quoted text, not on the line.
    ``line`` and ``end_line`` are of the new side, or of the old side if ``removed``.
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


@dataclass(frozen=True, slots=True)
class RefusedFinding:
    """A finding that cannot be believed as it stands, and why."""

    path: str
    title: str
    severity: Severity
    why: str


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A knowledge entry whose evidence stands in the change, at ``line`` of the new side."""

    title: str
    body: str
    path: str
    line: int
    evidence: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DroppedKnowledge:
    """A knowledge entry that is not kept, and why."""

    title: str
    why: str


@dataclass(frozen=True, slots=True)
class CheckedReport:
    """The executor's report after its findings and answers were held against the change.

    ``settled`` are the ids of the disagreements it answered with evidence.
    """

    verdict: Literal["approve", "reject"]
    summary: str
    confidence: float
    findings: tuple[Finding, ...] = ()
    refused: tuple[RefusedFinding, ...] = ()
    answers: tuple[DisagreementAnswer, ...] = ()
    settled: tuple[str, ...] = ()
    knowledge: tuple[Knowledge, ...] = ()
    dropped: tuple[DroppedKnowledge, ...] = ()

    @property
    def state(self) -> tuple[str, frozenset[tuple[str, str]], frozenset[str]]:
        """What a retry must change to be worth a second question; prose does not count."""
        return self.verdict, frozenset((f.id, f.severity) for f in self.findings), frozenset(self.settled)


class _Line(NamedTuple):
    number: int
    removed: bool
    changed: bool
    text: str


HeadText = Callable[[str], str | None]
"""The whole text of a file at the head; None if it cannot be had."""


class ShownChange:
    """The lines of one part of a change as the agents saw them, ready to look quotes up in.

    ``whole`` is the same for all of the change: an answer may quote another part of it. ``redactor`` is the one
    that the prompts passed: who was shown a line without its secret can only quote it so. ``head_text`` gives
    the text of a file outside the change, so that a quote from it can be checked too.
    """

    def __init__(
        self,
        files: Iterable[FileChange],
        whole: ShownChange | None = None,
        redactor: Redactor | None = None,
        head_text: HeadText = lambda _path: None,
    ) -> None:
        self._whole = whole
        self._head_text = head_text
        self._redactor = redactor or Redactor()
        self._files = {self._shown(shown_path(file.path)): file for file in files}
        self._sides: dict[str, tuple[tuple[_Line, ...], tuple[_Line, ...]]] = {}

    def check(self, report: ReviewReport, open_disagreements: Collection[str] = ()) -> CheckedReport:
        """Keep, correct or refuse each finding; the same finding twice is kept once.

        An answer settles a disagreement (one of ``open_disagreements``) when it carries evidence: a verbatim
        quote of four characters or more, from the change or from a file of the head outside it.
        """
        kept: dict[str, Finding] = {}
        refused: list[RefusedFinding] = []
        for reported in report.findings:
            checked = self._check(reported)
            if isinstance(checked, Finding):
                kept.setdefault(checked.id, checked)
            else:
                refused.append(checked)
        answers = tuple(a for a in report.answers if a.disagreement in open_disagreements)
        whole = self._whole or self
        entries = [whole.learned(entry) for entry in report.knowledge]
        return CheckedReport(
            verdict=report.verdict,
            summary=report.summary,
            confidence=report.confidence,
            findings=tuple(kept.values()),
            refused=tuple(refused),
            answers=answers,
            settled=tuple(sorted({a.disagreement for a in answers if whole.proves(a)})),
            knowledge=tuple(entry for entry in entries if isinstance(entry, Knowledge)),
            dropped=tuple(entry for entry in entries if isinstance(entry, DroppedKnowledge)),
        )

    def proves(self, answer: DisagreementAnswer) -> bool:
        """Whether an answer carries evidence."""
        if len(self._bare(answer.evidence)) < SHORTEST_PROOF:
            return False
        if answer.path not in self._files:
            text = self._head_text(answer.path)
            return text is not None and self._bare(answer.evidence) in self._bare(text)
        return self._locate(answer.path, answer.evidence, 0) is not None

    def learned(self, entry: KnowledgeEntry) -> Knowledge | DroppedKnowledge:
        """The entry with the line that proves it; a removed line proves nothing about what is there now."""
        place = self._locate(entry.path, entry.evidence, 0) if entry.path in self._files else None
        if place is None or place[0].removed:
            return DroppedKnowledge(entry.title, "its evidence does not stand in the changed lines of its file")
        path = self._files[entry.path].path
        return Knowledge(entry.title, entry.body, path, place[0].number, entry.evidence, entry.tags)

    def _check(self, reported: ReportedFinding) -> Finding | RefusedFinding:
        if reported.path not in self._files:
            return _refuse(reported, "its file is not part of the change")
        enough = len(self._bare(reported.evidence)) >= SHORTEST_PROOF
        place = self._locate(reported.path, reported.evidence, reported.line) if enough else None
        if place is None:
            return _refuse(reported, "its evidence does not stand in the changed lines of the file")
        first, last = place
        stated = (reported.line, reported.end_line or reported.line)
        inside = first.number <= stated[0] <= stated[1] <= last.number
        line, end_line = stated if inside else (first.number, last.number)
        return Finding(
            id=finding_id(reported.path, reported.category, _quoted(reported.evidence)),
            path=self._files[reported.path].path,
            line=line,
            end_line=end_line,
            removed=first.removed,
            severity=reported.severity,
            category=reported.category,
            title=reported.title,
            body=reported.body,
            suggestion=reported.suggestion,
            confidence=reported.confidence,
            evidence=reported.evidence,
            corrected="" if inside else f"line {stated[0]} became {first.number}: the quote stands there",
        )

    def _locate(self, path: str, quote: str, near: int) -> tuple[_Line, _Line] | None:
        wanted = [bare for line in quote.split("\n") if (bare := self._bare(line))]
        if not wanted:
            return None
        for lines in self._sides_of(path):
            places = list(_places(lines, wanted))
            if places:
                return min(places, key=lambda place: abs(place[0].number - near))
        return None

    def _sides_of(self, path: str) -> tuple[tuple[_Line, ...], tuple[_Line, ...]]:
        """The lines with words in them of the file as it is, and as it was."""
        if path not in self._sides:
            lines = [line for line in self._walk(self._files[path]) if line.text]
            now = tuple(line for line in lines if not (line.changed and line.removed))
            before = tuple(line for line in lines if line.removed or not line.changed)
            self._sides[path] = now, before
        return self._sides[path]

    def _walk(self, file: FileChange) -> Iterable[_Line]:
        for hunk in file.hunks:
            old, new = hunk.old_start, hunk.new_start
            for line in hunk.lines:
                sign, text = line[:1], self._bare(line[1:])
                if sign == "-":
                    yield _Line(old, True, True, text)
                elif sign == "+":
                    yield _Line(new, False, True, text)
                elif sign == " ":
                    yield _Line(new, False, False, text)
                old += sign in (" ", "-")
                new += sign in (" ", "+")

    def _shown(self, text: str) -> str:
        return self._redactor.redact(clean(text))

    def _bare(self, text: str) -> str:
        return " ".join(self._shown(text).split())


def _places(lines: tuple[_Line, ...], wanted: list[str]) -> Iterator[tuple[_Line, _Line]]:
    """The first and last line of each place where the quoted lines stand, one of which must have changed."""
    first, *inner = wanted
    last = inner.pop() if inner else None
    for start, line in enumerate(lines):
        if not (first in line.text if last is None else line.text.endswith(first)):
            continue
        window = lines[start : start + len(wanted)]
        whole = len(window) == len(wanted) and [each.text for each in window[1:-1]] == inner
        if whole and (last is None or window[-1].text.startswith(last)) and any(each.changed for each in window):
            yield window[0], window[-1]


def _refuse(reported: ReportedFinding, why: str) -> RefusedFinding:
    return RefusedFinding(reported.path, reported.title, reported.severity, why)


def id_at(path: str, finding: Finding) -> str:
    """The id that the finding would have in the file ``path``."""
    return finding_id(shown_path(path), finding.category, _quoted(finding.evidence))


def _quoted(evidence: str) -> str:
    return " ".join(evidence.split())


FINDING_ID = r"f-[0-9a-f]{10}"
"""What every ``finding_id`` looks like, as a regular expression."""


def finding_id(path: str, category: str, evidence: str) -> str:
    """A finding's id, stable across pushes."""
    facts: Mapping[str, str] = {"path": path, "category": category.casefold(), "evidence": evidence}
    return "f-" + hashlib.sha256("\0".join(facts.values()).encode("utf-8", "replace")).hexdigest()[:10]
