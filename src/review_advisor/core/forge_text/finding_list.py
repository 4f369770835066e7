"""The list of open findings, whatever their number: the worst in full, then a table row each, then counts by file.

It has one order, the worst first, and is shortened from its end. So no finding that is only counted is worse than one
that is listed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from review_advisor.core.answers.answers import SEVERITIES, Severity
from review_advisor.core.answers.findings import Finding
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.forge_text.fitting import Order, size
from review_advisor.core.forge_text.page_links import NOWHERE, CommitLinks, base_links, head_links
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.pull_request.rounds import Posting
from review_advisor.core.report.wording import counted
from review_advisor.core.safety.markdown import cell, code, phrase

MOST_IN_FULL = 24
MOST_ROWS = 100
MOST_FILES = 20
_MOST_PATH = 120
_TABLE = "| severity | where | what | id |\n| --- | --- | --- | --- |"


@dataclass(frozen=True, slots=True)
class Listed:
    """One finding in the list. ``notes`` are our own words behind its title, ``links`` lead to the lines it names."""

    severity: Severity
    path: str
    line: int
    title: str
    id: str
    removed: bool = False
    notes: str = ""
    links: CommitLinks = NOWHERE

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
    """The list below ``head``. ``every`` comes the worst first; ``page`` names where those of this review all stand.

    The first ``listed`` of them stand there one by one, the others as counts that name ``files`` files.
    """

    head: str
    every: tuple[Listed, ...]
    page: str
    forms: tuple[str, ...]
    listed: int
    files: int = MOST_FILES
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
        said = f"{number}, counted by file ({_severities(rest)}). {self.page} has every finding of this review."
        return "\n".join((said, "", *self._by_file(rest))).rstrip()

    def _by_file(self, rest: Iterable[Listed]) -> Iterator[str]:
        files: dict[str, list[Listed]] = defaultdict(list)
        for each in rest:  # the worst first, so the file with the worst comes first
            files[each.path].append(each)
        told = list(files.items())
        for path, found in told[: self.files]:
            yield f"- {code(shown_path(path), _MOST_PATH)}: {_severities(found)}"
        others = [each for _, found in told[self.files :] for each in found]
        if others and self.files:
            yield f"- {counted(len(told) - self.files, 'more file')}: {_severities(others)}"


def finding_list(head: str, findings: Iterable[Listed], page: str) -> FindingList:
    """The list at its longest. ``findings`` come the worst first."""
    every = tuple(findings)
    shown = every[: MOST_IN_FULL + MOST_ROWS]
    forms = tuple(each.item if at < MOST_IN_FULL else each.row for at, each in enumerate(shown))
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
    told = finding_list("", (listed(each.finding, document, f" ({each.because})") for each in postings), page)
    title = f"{counted(len(postings), 'milder finding')} not posted on the diff"
    head = f"<details><summary>{title}</summary>"
    return replace(told, head=head, tail="</details>", gives_way=Order.HELD_BACK)


def _table(rows: tuple[str, ...]) -> str:
    if not rows:
        return ""
    title = counted(len(rows), "more finding")
    return "\n\n".join((f"<details><summary>{title}</summary>", "\n".join((_TABLE, *rows)), "</details>"))


def _severities(findings: Iterable[Listed]) -> str:
    found = Counter(each.severity for each in findings)
    return ", ".join(f"{found[each]:,} {each}" for each in SEVERITIES if found[each])
