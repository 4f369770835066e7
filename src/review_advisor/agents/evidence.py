"""Findings held against the change: a quote must stand in it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Literal

from review_advisor.agents.answers import (
    GRAVE,
    DisagreementAnswer,
    KnowledgeEntry,
    ReportedFinding,
    ReviewReport,
    UncheckedFile,
)
from review_advisor.agents.findings import Finding, RefusedFinding, finding_id, merged
from review_advisor.change.change import FileChange, Hunk, Touched, age_of
from review_advisor.change.diff_text import as_in_file, as_it_is_now, shown_path
from review_advisor.change.kinds import Kind, kind_of_path
from review_advisor.change.redaction import Redactor, shown_file
from review_advisor.change.shards import Unsent
from review_advisor.safety.fence import clean
from review_advisor.safety.secrets import without_kinds

_COMMENT = re.compile(
    r"\W*(#|//|/\*|\*|--|;|%|\{-|\"\"\"|''')|\s*(@?rem\b|dnl\b|=begin\b|[rubf]{1,2}(\"\"\"|'''))", re.IGNORECASE
)
"""How a line begins that may be a comment in some language: with its mark, whatever other signs stand before that."""


@dataclass(frozen=True, slots=True)
class Place:
    """The lines of one place where a quote stands: of the new side, or of the old side if ``removed``.

    ``at`` is the number of its first line on that side. On the old side ``line`` and ``end_line`` span removed lines
    only, because nothing else there can be commented on.
    """

    at: int
    line: int
    end_line: int
    removed: bool


class SideLines:
    """The lines of one side with words in them, as they are read: each with its number and whether it changed."""

    def __init__(self) -> None:
        self.numbers = array("Q")
        self.begins = array("Q")
        self.changed = array("Q", (0,))
        self.texts: list[str] = []
        self._end = 0

    def add(self, number: int, text: str, *, changed: bool) -> None:
        """One more line."""
        self.numbers.append(number)
        self.begins.append(self._end)
        self.changed.append(self.changed[-1] + changed)
        self.texts.append(text)
        self._end += len(text) + 1


class Side:
    """One side of a file's diff. Of a large file it holds one text: an object for each line takes ten times as much."""

    def __init__(self, lines: SideLines, *, removed: bool) -> None:
        self._removed = removed
        self._numbers = lines.numbers
        self._begins = lines.begins
        self._changed = lines.changed
        self._text = "\n".join(lines.texts)

    def places(self, quote: Sequence[str]) -> Places:
        """Every place where the lines of ``quote`` stand one below the other, at least one of them changed.

        The first line may begin, and the last may end, in the middle of a line. Blank lines are no difference.
        """
        size = len(quote)
        starts = array("Q", (each for each in self._starts(quote) if self._changed[each + size] > self._changed[each]))
        return Places(starts, self._numbers, lambda start: self._place(start, size))

    def holds(self, quote: Sequence[str]) -> bool:
        """Whether the lines of ``quote`` stand one below the other, changed or not."""
        return next(self._starts(quote), None) is not None

    def _place(self, start: int, size: int) -> Place:
        first, last = start, start + size - 1
        if self._removed:
            first = bisect_right(self._changed, self._changed[start]) - 1
            last = bisect_left(self._changed, self._changed[start + size]) - 1
        return Place(self._numbers[start], self._numbers[first], self._numbers[last], self._removed)

    def _starts(self, quote: Sequence[str]) -> Iterator[int]:
        """The index of each line in which the quote begins, in order. Most quotes stand once, and are found at once."""
        needle = "\n".join(quote)
        found = self._text.find(needle)
        if found < 0:
            return
        start = bisect_right(self._begins, found) - 1
        yield start
        following = start + 1
        if following < len(self._begins) and self._text.find(needle, self._begins[following]) >= 0:
            yield from (each for each in self._all_starts(quote) if each > start)

    def _all_starts(self, quote: Sequence[str]) -> Iterator[int]:
        code_of: dict[str, int] = {}
        lines = self._text.split("\n") if self._begins else ()
        codes = array("Q", (code_of.setdefault(line, len(code_of)) for line in lines))
        if len(quote) == 1:
            holding = _codes_where(code_of, lambda text: quote[0] in text)
            yield from (start for start, code in enumerate(codes) if code in holding)
            return
        first, *inner, last = quote
        ending, beginning = (
            _codes_where(code_of, lambda text: text.endswith(first)),
            _codes_where(code_of, lambda text: text.startswith(last)),
        )
        for start in occurrences(codes, [code_of[each] for each in inner]):
            before, after = start - 1, start + len(inner)
            if before < 0 or after >= len(codes):
                continue
            if codes[before] in ending and codes[after] in beginning:
                yield before


def _codes_where(code_of: Mapping[str, int], holds: Callable[[str], bool]) -> frozenset[int]:
    return frozenset(code for text, code in code_of.items() if holds(text))


class Places:
    """All places of one quote on one side, in the order of their lines."""

    def __init__(self, starts: Sequence[int], numbers: Sequence[int], place: Callable[[int], Place]) -> None:
        self._starts = starts
        self._numbers = numbers
        self._place = place

    def __len__(self) -> int:
        return len(self._starts)

    def nearest(self, line: int) -> Place:
        """The place that begins nearest to ``line``; of two as near, the first. There must be one."""
        after = self._before(line)
        near = self._starts[max(0, after - 1) : after + 1]
        return self._place(min(near, key=lambda start: abs(self._numbers[start] - line)))

    def rank(self, place: Place) -> int:
        """Which of the places it is, counted from 1."""
        return self._before(place.at) + 1

    def _before(self, line: int) -> int:
        """How many begin above ``line``."""
        return bisect_left(self._starts, line, key=lambda start: self._numbers[start])


def sides(hunks: Iterable[Hunk], bare: Callable[[str], str]) -> tuple[Side, Side]:
    """The file as it is and as it was, as far as its hunks show it. ``bare`` is asked once for each line."""
    now, before = SideLines(), SideLines()
    for hunk in hunks:
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            sign, text = line[:1], bare(line[1:])
            if sign in (" ", "+") and text:
                now.add(new, text, changed=sign == "+")
            if sign in (" ", "-") and text:
                before.add(old, text, changed=sign == "-")
            old += sign in (" ", "-")
            new += sign in (" ", "+")
    return Side(now, removed=False), Side(before, removed=True)


def occurrences(sequence: Sequence[int], pattern: Sequence[int]) -> Iterator[int]:
    """Where ``pattern`` begins in ``sequence``, overlaps included, in one pass (Knuth, Morris and Pratt).

    An empty pattern begins everywhere, also behind the end.
    """
    if not pattern:
        yield from range(len(sequence) + 1)
        return
    borders = _borders(pattern)
    matched = 0
    for place, each in enumerate(sequence):
        while matched and pattern[matched] != each:
            matched = borders[matched - 1]
        matched += pattern[matched] == each
        if matched == len(pattern):
            yield place - matched + 1
            matched = borders[matched - 1]


def _borders(pattern: Sequence[int]) -> list[int]:
    """For each beginning of the pattern, the length of the longest shorter one that it also ends with."""
    borders = [0]
    for each in pattern[1:]:
        border = borders[-1]
        while border and pattern[border] != each:
            border = borders[border - 1]
        borders.append(border + (pattern[border] == each))
    return borders


SHORTEST_PROOF = 4
"""Characters of a quote. A shorter one stands nearly anywhere, so it proves nothing."""


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

    ``settled`` are the ids of the disagreements it answered with evidence. ``uncited`` are the rules that it cites
    and was not given: no finding of it keeps them. ``does`` is what the change does, by its words. ``unchecked`` are
    the files that static checks should have read and did not.
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
    uncited: tuple[str, ...] = ()
    does: str = ""
    unchecked: tuple[Unsent, ...] = ()

    @property
    def state(self) -> tuple[str, frozenset[tuple[str, str]], frozenset[str]]:
        """What a retry must change to be worth a second question; prose does not count."""
        return self.verdict, frozenset((f.id, f.severity) for f in self.findings), frozenset(self.settled)

    @property
    def unfounded(self) -> str | None:
        """Why nobody can act on a rejection: no finding of it stands. None for any other report.

        What the harness adds to it founds it only where it is grave.
        """
        if self.verdict == "approve" or any(not each.harness or each.severity in GRAVE for each in self.findings):
            return None
        if not self.refused:
            return "it names no finding"
        return f"its {len(self.refused)} findings were refused" if self.refused[1:] else "its finding was refused"


HeadText = Callable[[str], str | None]
"""The whole text of a file at the head; None if it cannot be had."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a quote stands: in the lines that were shown, and everywhere in the changed lines of the same file."""

    file: FileChange
    shown: Places
    everywhere: Places


class ShownChange:
    """The lines of one part of a change as the agents saw them, ready to look quotes up in.

    ``whole`` is the same for all of the change: an answer may quote another part of it, and equal lines are counted
    over the whole of their file. ``redactor`` is the one that the prompts passed: who was shown a line without its
    secret can only quote it so. ``head_text`` gives the text of a file outside the change, so that a quote from it can
    be checked too. ``touched`` are the lines that differ since the last complete review; None where nobody can tell.
    """

    def __init__(
        self,
        files: Iterable[FileChange],
        whole: ShownChange | None = None,
        redactor: Redactor | None = None,
        head_text: HeadText = lambda _path: None,
        *,
        touched: Touched | None = None,
    ) -> None:
        self._whole = whole or self
        self._touched = touched
        self._redactor = redactor or Redactor()
        self._head_text = head_text
        self._files: dict[str, list[FileChange]] = {}
        for file in files:
            self._files.setdefault(self._shown(shown_path(file.path)), []).append(file)
        self._sides: dict[str, tuple[Side, Side]] = {}
        self._reading = Lock()  # parts side by side ask for the sides of the same file, which take time and memory
        self._outside = lru_cache(maxsize=8)(lambda path: self._bare(head_text(path) or ""))

    def check(self, report: ReviewReport, open_disagreements: Collection[str] = ()) -> CheckedReport:
        """Keep, correct, merge or refuse each finding.

        An answer settles a disagreement (one of ``open_disagreements``) when it carries evidence: a verbatim
        quote of four characters or more, from the change or from a file of the head outside it.
        """
        checked = self._checked(report.findings)
        answers = tuple(a for a in report.answers if a.disagreement in open_disagreements)
        entries = [self._whole.learned(entry) for entry in report.knowledge]
        return CheckedReport(
            verdict=report.verdict,
            summary=report.summary,
            confidence=report.confidence,
            findings=merged(each for each in checked if isinstance(each, Finding)),
            refused=tuple(each for each in checked if isinstance(each, RefusedFinding)),
            answers=answers,
            settled=tuple(sorted({a.disagreement for a in answers if self._whole.proves(a)})),
            knowledge=tuple(entry for entry in entries if isinstance(entry, Knowledge)),
            dropped=tuple(entry for entry in entries if isinstance(entry, DroppedKnowledge)),
            does=report.does,
            unchecked=tuple(map(self._unchecked, report.unchecked)),
        )

    def proves(self, answer: DisagreementAnswer) -> bool:
        """Whether an answer carries evidence."""
        if answer.path in self._files:
            return self._standing(answer.path, answer.evidence)[1] is not None
        quote = self._quote(answer.evidence)
        return _is_proof(quote) and " ".join(quote) in self._outside(answer.path)

    def disproves(self, path: str, quote: str, finding: Finding) -> bool:
        """Whether a quote that is to show that a finding is wrong stands in code at the head.

        Comments and documentation prove nothing, because the author may write there what an advisor is to quote. Lines
        that are comments count on neither side: so no part of one can be quoted. The lines that the finding itself
        quotes prove nothing new.
        """

        def code(line: str) -> str:
            return "" if _COMMENT.match(line) else self._bare(line)

        if self._is_documentation(path):
            return False
        known = [self._bare(line) for line in finding.evidence.split("\n")]
        now = self._head_side(path, code)
        for text in dict.fromkeys((quote, as_in_file(quote))):
            said = tuple(filter(None, map(code, text.split("\n"))))
            new = [line for line in said if not any(_is_within(line, each) for each in known)]
            if _is_proof(new) and now.holds(said):
                return True
        return False

    def _is_documentation(self, path: str) -> bool:
        """Whether a file is documentation at the head, wherever it lies and however its path is shown."""
        found = [(file.path, file.documentation) for file in self._files.get(path, ())] or [(path, None)]
        return any(kind_of_path(name, generated=False, vendored=False, docs=said) is Kind.DOCS for name, said in found)

    def _head_side(self, path: str, bare: Callable[[str], str]) -> Side:
        """The file at the head; where its whole text cannot be had, as far as the diff shows it."""
        text = self._head_text(path)
        if text is not None:
            lines = SideLines()
            for number, line in enumerate(text.split("\n"), start=1):
                if shown := bare(line):
                    lines.add(number, shown, changed=True)
            return Side(lines, removed=False)
        return sides((hunk for file in self._files.get(path, ()) for hunk in shown_file(file).hunks), bare)[0]

    def learned(self, entry: KnowledgeEntry) -> Knowledge | DroppedKnowledge:
        """The entry with the line that proves it; a removed line proves nothing about what is there now."""
        found = self._find(entry.path, self._quote(entry.evidence))
        if found is not None and not (place := found.shown.nearest(1)).removed:
            return Knowledge(entry.title, entry.body, found.file.path, place.line, entry.evidence, entry.tags)
        return DroppedKnowledge(entry.title, "its evidence does not stand in the changed lines of its file")

    def _unchecked(self, file: UncheckedFile) -> Unsent:
        path = next((each.path for each in self._files.get(file.path, ())), file.path)
        return Unsent(path, "waived" if file.waived else "unchecked", file.why[:500])

    def _checked(self, findings: Sequence[ReportedFinding]) -> tuple[Finding | RefusedFinding, ...]:
        """Each finding, in its order. One search serves all that have the same quote."""
        alike: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, reported in enumerate(findings):
            alike[reported.path, reported.evidence].append(number)
        checked: dict[int, Finding | RefusedFinding] = {}
        for (path, evidence), numbers in alike.items():
            stands, found = self._standing(path, evidence)
            for number in numbers:
                reported = findings[number].model_copy(update={"evidence": stands})
                checked[number] = self._refused(reported) if found is None else self._kept(reported, found)
        return tuple(checked[number] for number in range(len(findings)))

    def _kept(self, reported: ReportedFinding, found: _Found) -> Finding:
        kept = _kept(reported, found)
        age = age_of(self._whole._touched, kept.path, kept.line, kept.end_line, removed=kept.removed)  # noqa: SLF001
        return replace(kept, age=age, pre_existing=kept.pre_existing and self._may_be_older(reported, found))

    def _may_be_older(self, reported: ReportedFinding, found: _Found) -> bool:
        """Whether the change need not have brought a finding. A grave one must be quoted from what was there before."""
        before = self._whole._sides_of(found.file)[1]  # noqa: SLF001
        return reported.severity in ("medium", "low") or before.holds(self._quote(reported.evidence))

    def _refused(self, reported: ReportedFinding) -> RefusedFinding:
        if reported.path in self._files:
            why = "its evidence does not stand in the changed lines of the file"
        else:
            why = "its file is not part of the change"
        return RefusedFinding(reported.path, reported.title, reported.severity, why)

    def _standing(self, path: str, evidence: str) -> tuple[str, _Found | None]:
        """A quote as it stands in the file, and where: as it is stated, or else as the rendered diff shows it."""
        for text in dict.fromkeys((evidence, as_in_file(evidence), as_it_is_now(evidence))):
            quote = self._quote(text)
            found = self._find(path, quote) if _is_proof(quote) else None
            if found is not None:
                return text, found
        return evidence, None

    def _find(self, path: str, quote: Sequence[str]) -> _Found | None:
        """The first of the files shown as ``path`` that holds the quote: as it is now, or else as it was."""
        for file in self._files.get(path, ()) if quote else ():
            for here, everywhere in zip(self._sides_of(file), self._whole._sides_of(file), strict=True):  # noqa: SLF001
                places = here.places(quote)
                if places:
                    return _Found(file, places, places if here is everywhere else everywhere.places(quote))
        return None

    def _sides_of(self, file: FileChange) -> tuple[Side, Side]:
        """All lines of the file that are known here, of which ``file`` may hold a part."""
        with self._reading:
            if file.path not in self._sides:
                known = self._files.get(self._shown(shown_path(file.path)), ())
                mine = next((each for each in known if each.path == file.path), file)
                self._sides[file.path] = sides(shown_file(mine).hunks, self._bare)
            return self._sides[file.path]

    def _quote(self, evidence: str) -> tuple[str, ...]:
        """The quoted lines as they are looked for: without blank ones."""
        return tuple(bare for line in evidence.split("\n") if (bare := self._bare(line)))

    def _shown(self, text: str) -> str:
        return self._redactor.redact(clean(text))

    def _bare(self, text: str) -> str:
        return " ".join(without_kinds(self._shown(text)).split())


def _is_within(line: str, known: str) -> bool:
    """Whether a line is part of a known one, or the whole of one that is known in part."""
    return line in known or (_is_proof((known,)) and known in line)


def _is_proof(quote: Sequence[str]) -> bool:
    return len(" ".join(quote)) >= SHORTEST_PROOF


def _kept(reported: ReportedFinding, found: _Found) -> Finding:
    """The finding at the place that is nearest to the line it states."""
    place = found.shown.nearest(reported.line)
    line, end_line, corrected = _lines(reported, place)
    occurrence = found.everywhere.rank(place)
    return Finding(
        id=finding_id(found.file.path, reported.category, reported.evidence, occurrence, removed=place.removed),
        path=found.file.path,
        line=line,
        end_line=end_line,
        removed=place.removed,
        severity=reported.severity,
        category=reported.category,
        title=reported.title,
        body=reported.body,
        suggestion=reported.suggestion,
        confidence=reported.confidence,
        evidence=reported.evidence,
        corrected=corrected,
        occurrence=occurrence,
        occurrences=max(occurrence, len(found.everywhere)),
        pre_existing=reported.pre_existing,
        rule=reported.rule,
    )


def _lines(reported: ReportedFinding, place: Place) -> tuple[int, int, str]:
    """The stated lines if they lie within the quote, else those of the quote and a word on the correction."""
    first, last = reported.line, reported.end_line or reported.line
    if place.line <= first <= last <= place.end_line:
        return first, last, ""
    return place.line, place.end_line, f"line {first} became {place.line}: the quote stands there"
