"""Findings and disagreements as Markdown."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.agents.findings import Finding
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.agents.transcript import Attempt
from review_advisor.change.diff_text import shown_path
from review_advisor.github.sections import (
    NOWHERE,
    CommitLinks,
    Order,
    Section,
    base_links,
    details,
    head_links,
    refused_remarks,
    size,
)
from review_advisor.github.threads import Posting
from review_advisor.review.document import OutcomeDocument, PartRecord, SurfaceRecord
from review_advisor.review.report import blind_words, flips, repair_words
from review_advisor.review.rulings import Outcome
from review_advisor.safety.markdown import cell, code, phrase, prose, quote
from review_advisor.safety.wording import counted

MOST_IN_FULL = 24
MOST_ROWS = 100
MOST_FILES = 20
_MOST_PATH = 120
_TABLE = "| severity | where | what | id |\n| --- | --- | --- | --- |"


@dataclass(frozen=True, slots=True)
class Listed:
    """One finding in the list."""

    severity: Severity
    path: str
    line: int
    title: str
    id: str
    removed: bool = False
    notes: str = ""
    """Our own words behind its title."""
    links: CommitLinks = NOWHERE
    """They lead to the lines that it names."""

    @property
    def item(self) -> str:
        """The finding as a list item."""
        where = self.links.to(code(f"{shown_path(self.path)}:{self.line}"), self.path, self.line)
        removed = " (a removed line)" if self.removed else ""
        return f"- **{self.severity}** {where}{removed}: {phrase(self.title, 200)} ({code(self.id)}){self.notes}"

    @property
    def row(self) -> str:
        """The finding as a row of the table: a link for each would take the room of the findings below."""
        where = code(f"{shown_path(self.path)}:{self.line}", _MOST_PATH)
        removed = " (a removed line)" if self.removed else ""
        cells = (self.severity, where + removed, f"{phrase(self.title, 100)}{self.notes}", code(self.id))
        return f"| {' | '.join(map(cell, cells))} |"


@dataclass(frozen=True, slots=True)
class FindingList:
    """The list below ``head``: the first findings one by one, the others as counts by file."""

    head: str
    every: tuple[Listed, ...]
    """The findings, the worst first."""
    page: str
    """Names where all findings of this review stand."""
    forms: tuple[str, ...]
    listed: int
    """How many findings stand there one by one."""
    files: int = MOST_FILES
    """How many files the counts name."""
    tail: str = ""
    gives_way: Order = Order.FINDINGS

    @property
    def text(self) -> str:
        """The list as it stands."""
        if not self.every:
            return ""
        full, rows = self.forms[: self.listed][:MOST_IN_FULL], self.forms[MOST_IN_FULL : self.listed]
        blocks = (self.head, "\n".join(full), _table(rows), self._counted(self.every[self.listed :]), self.tail)
        return "\n\n".join(block for block in blocks if block)

    def without(self, over: int) -> FindingList:
        """The list with ``over`` less, if that can be: fewer are listed, and at last fewer files are named."""
        room = size(self.text) - over
        shorter = bisect_left(range(self.files + self.listed), True, key=lambda at: size(self._at(at).text) > room)
        while shorter > 1 and size(self._at(shorter - 1).text) > room:
            shorter -= 1
        return self._at(max(0, shorter - 1))

    def _at(self, length: int) -> FindingList:
        return replace(self, listed=max(0, length - self.files), files=min(length, self.files))

    def _counted(self, rest: tuple[Listed, ...]) -> str:
        if not rest:
            return ""
        number = counted(len(rest), "more finding" if self.listed else "finding")
        summary = f"{number}, counted by file ({_severities(rest)}). {self.page} has every finding of this review."
        return "\n".join((summary, "", *self._by_file(rest))).rstrip()

    def _by_file(self, rest: Iterable[Listed]) -> Iterator[str]:
        files: dict[str, list[Listed]] = defaultdict(list)
        for each in rest:  # the worst first, so the file with the worst comes first
            files[each.path].append(each)
        files_found = list(files.items())
        for path, found in files_found[: self.files]:
            yield f"- {code(shown_path(path), _MOST_PATH)}: {_severities(found)}"
        others = [each for _, found in files_found[self.files :] for each in found]
        if others and self.files:
            yield f"- {counted(len(files_found) - self.files, 'more file')}: {_severities(others)}"


def finding_list(head: str, findings: Iterable[Listed], page: str) -> FindingList:
    """The list at its longest. ``findings`` come the worst first."""
    every = tuple(findings)
    listed_here = every[: MOST_IN_FULL + MOST_ROWS]
    forms = tuple(each.item if at < MOST_IN_FULL else each.row for at, each in enumerate(listed_here))
    return FindingList(head, every, page, forms, len(forms))


def listed(finding: Finding, document: OutcomeDocument, note: str = "") -> Listed:
    """A finding of this review as it stands in a list."""
    others = len(finding.also)
    notes = finding.marks + (f", with {counted(others, 'more remark')} on the same lines" if others else "")
    return Listed(
        finding.severity,
        finding.path,
        finding.line,
        finding.title,
        finding.id,
        removed=finding.removed,
        notes=notes + note,
        links=base_links(document) if finding.removed else head_links(document),
    )


def held_back(postings: Sequence[Posting], document: OutcomeDocument, page: str) -> FindingList:
    """The findings that a rule kept off the diff, each with the reason, for a reader who opens the list."""
    found = finding_list("", (listed(each.finding, document, f" ({each.because})") for each in postings), page)
    title = f"{counted(len(postings), 'milder finding')} not posted on the diff"
    head = f"<details><summary>{title}</summary>"
    return replace(found, head=head, tail="</details>", gives_way=Order.HELD_BACK)


def _table(rows: tuple[str, ...]) -> str:
    if not rows:
        return ""
    title = counted(len(rows), "more finding")
    return "\n\n".join((f"<details><summary>{title}</summary>", "\n".join((_TABLE, *rows)), "</details>"))


def _severities(findings: Iterable[Listed]) -> str:
    found = Counter(each.severity for each in findings)
    return ", ".join(f"{found[each]:,} {each}" for each in SEVERITIES if found[each])


MOST_AHEAD = 2_000

MOST_POSITIONS = 3
"""So many parts that called a person are told in the open; the transcript has the others."""


def disputes(document: OutcomeDocument) -> tuple[Section, Section]:
    """What everybody sees of the disagreements, and what a reader opens. Nothing stands in both.

    A person who is called sees how the two ended up, and opens how they came there. Otherwise every veto is told in a
    line, to be opened.
    """
    if document.outcome is not Outcome.ESCALATED:
        lines = vetoes(document)
        title = f"Disagreements: {len(lines)}"
        return Section(()), details(title, *lines, gives_way=Order.VETOES, what="vetoes")
    rest = details(
        "Disagreement transcript", *transcript(document), gives_way=Order.TRANSCRIPT, what="entries", between="\n\n"
    )
    return Section(positions(document), gives_way=Order.VETOES, what="paragraphs", between="\n\n"), rest


def with_next(contested: Section, following: Section) -> tuple[Section, Section]:
    """How the two ended up and what a person does next, in the order in which both are seen: a long quarrel waits."""
    return (following, contested) if size(contested.text) > MOST_AHEAD else (contested, following)


def vetoes(document: OutcomeDocument) -> tuple[str, ...]:
    """One list item for each verdict that flipped, and for each veto of the advisor with the points it made."""
    turned = tuple(f"- {_name(surface, part)}: {phrase(reason)}" for surface, part, reason in flips(document))
    return turned + tuple(
        _veto(surface, part, attempt)
        for surface in document.surfaces
        for part in surface.parts
        for attempt in part.post_verify
        if attempt.result.verdict == "VETO"
    )


def _veto(surface: SurfaceRecord, part: PartRecord, attempt: Attempt) -> str:
    where = f"{_name(surface, part)}, attempt {attempt.number + 1}"
    verdicts = f"the executor said {attempt.executor_verdict}, the advisor vetoed"
    lines = [f"- {where}: {verdicts}: {phrase(attempt.result.reasoning)}"]
    lines += [
        f"  - {identity}, {each.severity}: {phrase(each.advisor_assessment)}"
        for identity, each in attempt.disagreements
        if each.advisor_assessment != attempt.result.reasoning
    ]
    return "\n".join(lines)


def positions(document: OutcomeDocument) -> tuple[str, ...]:
    """The last words of executor and advisor in each of the first parts that escalated, block by block."""
    escalated = _escalated(document)
    return tuple(
        block
        for surface, part in escalated[:MOST_POSITIONS]
        for block in (
            *((f"**{_name(surface, part)}**: {_because(part)}",) if len(escalated) > 1 else ()),
            *_attempt(part, len(part.reports) - 1),
        )
    )


def transcript(document: OutcomeDocument) -> tuple[str, ...]:
    """The rest of what was said in the parts that escalated: all that ``positions`` does not tell, in its order."""
    return tuple(
        block
        for at, (surface, part) in enumerate(_escalated(document))
        for block in _part_blocks(surface, part, is_open=at < MOST_POSITIONS)
    )


def _escalated(document: OutcomeDocument) -> list[tuple[SurfaceRecord, PartRecord]]:
    return [
        (surface, part)
        for surface in document.surfaces
        for part in surface.parts
        if part.ended is not None and part.ended.outcome is Outcome.ESCALATED
    ]


def _name(surface: SurfaceRecord, part: PartRecord) -> str:
    which = f", part {part.shard + 1} of {len(surface.parts)}" if len(surface.parts) > 1 else ""
    return f"{surface.surface.value}{which}"


def _because(part: PartRecord) -> str:
    return phrase(part.ended.because) if part.ended is not None else ""


def _part_blocks(surface: SurfaceRecord, part: PartRecord, *, is_open: bool) -> Iterator[str]:
    """``is_open``: its reason and its last attempt are visible without unfolding."""
    attempts = len(part.reports) - is_open
    if attempts <= 0 and part.blind is None and not part.consults:
        return
    yield f"**{_name(surface, part)}**" if is_open else f"**{_name(surface, part)}**: {_because(part)}"
    if part.blind is not None:
        yield f"By the diff alone:\n\n{quote(prose(blind_words(part.blind)))}"
    for number in range(attempts):
        yield from _attempt(part, number)
    yield from map(_consult, part.consults)


def _attempt(part: PartRecord, number: int) -> Iterator[str]:
    if not 0 <= number < len(part.reports):
        return
    report = part.reports[number]
    for answer in (
        *(each.report for each in part.unfounded if each.attempt == number and each.report != report),
        report,
    ):
        unfounded = ", without a finding that stands" if answer.unfounded else ""
        yield f"The **executor** {answer.verdict}s{unfounded} (attempt {number + 1}):\n\n{quote(prose(answer.summary))}"
        if answer.unfounded and answer.refused:
            yield "\n".join(refused_remarks(answer.refused))
    yield from (
        f"Its repair was {each.result}: {phrase(repair_words(each))}" for each in part.repairs if each.attempt == number
    )
    for attempt in part.post_verify:
        if attempt.number == number:
            yield from _judgement(attempt)


def _judgement(attempt: Attempt) -> Iterator[str]:
    verb = "vetoes" if attempt.result.verdict == "VETO" else "agrees"
    yield f"The **advisor** {verb}:\n\n{quote(prose(attempt.result.reasoning))}"
    lines = [
        f"- {each.severity}: {phrase(each.advisor_assessment)}\n  - against: {phrase(each.executor_claim)}"
        for _, each in attempt.disagreements
    ]
    if lines:
        yield "\n".join(lines)
    if attempt.result.suggested_fix_direction:
        yield f"Suggested direction: {phrase(attempt.result.suggested_fix_direction)}"


def _consult(note: ConsultNote) -> str:
    answer = note.guidance.action if note.guidance is not None else note.reason
    return f"Consult, {note.status}.\n\n{quote(prose(note.consult.question))}\n>\n{quote(prose(answer))}"
