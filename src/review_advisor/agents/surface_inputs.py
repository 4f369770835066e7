"""What each surface shows, and its structural checks before any paid call."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, Protocol

from review_advisor.agents.answers import ReviewReport
from review_advisor.agents.committed_secrets import OwnFinding
from review_advisor.agents.evidence import CheckedReport, DroppedKnowledge, Knowledge, ShownChange
from review_advisor.agents.findings import Finding, finding_id
from review_advisor.agents.prompts import ShownPictures, compared_report, pictures_section, unread_pictures
from review_advisor.change.change import Change, FileChange
from review_advisor.change.decision_records import changed_records, structure_faults
from review_advisor.change.picture_pairs import PictureDifference, judged_pictures
from review_advisor.change.redaction import Redactor
from review_advisor.policy.policy import Rules
from review_advisor.policy.risk import gives_orders
from review_advisor.policy.surfaces import Surface
from review_advisor.safety.fence import fence_facts

KNOWLEDGE = "KNOWLEDGE"


MOST_ENTRIES = 20


SHORTEST_BODY = 20


LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Page:
    """One entry that may be stored, and the name of its file."""

    name: str
    entry: Knowledge


@dataclass(frozen=True, slots=True)
class Proposal:
    """What our own check left of a review's entries."""

    pages: tuple[Page, ...] = ()
    dropped: tuple[DroppedKnowledge, ...] = ()


def page_name(title: str) -> str:
    """The file's name: a-z, 0-9 and dashes. A title that loses letters by it gets a digest instead of them."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    digest = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:8]
    if title.isascii() and 0 < len(words) <= LONGEST_NAME:
        return f"{words}.md"
    return f"{words[: LONGEST_NAME - 9].strip('-')}-{digest}.md".removeprefix("-")


def propose(entries: Iterable[Knowledge], existing: Collection[str]) -> Proposal:
    """Keep what has a new title and a body worth keeping. ``existing``: the wiki's files at the base."""
    taken = {name.casefold() for name in existing}
    pages: list[Page] = []
    dropped: list[DroppedKnowledge] = []
    for entry in entries:
        name, why = page_name(entry.title), ""
        if gives_orders(name):
            why = f"agents obey a file named {name}, in any case"
        elif entry.body.lstrip().startswith("---"):
            why = "its body begins like the front matter of a page"
        elif name in taken:
            why = f"{name} is already there"
        elif len(" ".join(entry.body.split())) < SHORTEST_BODY:
            why = f"its body has fewer than {SHORTEST_BODY} characters"
        elif len(pages) == MOST_ENTRIES:
            why = f"more than {MOST_ENTRIES} entries in one review"
        if why:
            dropped.append(DroppedKnowledge(entry.title, why))
        else:
            taken.add(name)
            pages.append(Page(name, entry))
    return Proposal(tuple(pages), tuple(dropped))


def proposal_report(proposal: Proposal) -> CheckedReport:
    """Our own check as the report of the surface's executor."""
    found = len(proposal.pages) + len(proposal.dropped)
    said = f"{len(proposal.pages)} of {found} knowledge entries pass the structural check."
    if not found:
        said = "The review yields no knowledge entry."
    entries = tuple(page.entry for page in proposal.pages)
    return CheckedReport("approve", said, 1.0, knowledge=entries, dropped=proposal.dropped)


def knowledge_section(pages: Sequence[Page], nonce: str) -> str:
    """The entries for their judge, fenced."""
    entries = [{"file": page.name, **asdict(page.entry)} for page in pages]
    return "The knowledge entries:\n" + fence_facts(KNOWLEDGE, entries, nonce)


@dataclass(frozen=True, slots=True)
class Subject:
    """All that is known when a surface begins: the whole change, its pictures, and what earlier surfaces brought.

    ``secrets`` are those on added lines, each with the harness's finding.
    """

    change: Change
    rules: Rules
    whole: ShownChange
    redactor: Redactor
    head_text: Callable[[str], str | None]
    pictures: tuple[PictureDifference, ...]
    proposal: Callable[[], Proposal]
    secrets: tuple[OwnFinding, ...] = ()


class Checker(Protocol):
    """What an executor's report is held against."""

    def check(self, report: ReviewReport, open_disagreements: Collection[str] = ()) -> CheckedReport:
        """Keep, correct or refuse each finding."""


@dataclass(frozen=True, slots=True)
class Structural:
    """What our own check says instead of a model. ``judged``: post-verify still has its say."""

    report: CheckedReport
    judged: bool = False


def _everything(subject: Subject) -> Change:
    return subject.change


def _nothing(*_: object) -> tuple[()]:
    return ()


def _against_the_diff(subject: Subject, files: Sequence[FileChange]) -> Checker:
    if tuple(files) == subject.change.files:
        return subject.whole
    return ShownChange(files, subject.whole, subject.redactor)


@dataclass(frozen=True, slots=True)
class SurfaceInput:
    """One row.

    ``about`` is what prompts call its matter. ``narrow`` keeps the files it is about. ``structural`` is what our own
    check finds without asking a model; None when a model has to look. ``section`` is shown beside the diff. ``unread``
    names what can be seen by nobody. ``checker`` is what the executor's report is held against. ``doubts`` are findings
    of our own beside it, which decide nothing. ``reads`` is the folder its agents work in. ``teaches``: its reports may
    carry knowledge. ``pages`` are stored once it is approved. ``goes_on``: it may begin where the last review of the
    same pull request ended. ``stands_alone``: its diff can be judged without anything that is said about the change.
    ``by_team_rules``: its executor is shown the team's rules. ``names_secrets``: what the change commits of secrets
    joins its reports. ``looks_around``: its executor is shown what stands
    around the hunks.
    """

    about: str = "this change"
    narrow: Callable[[Subject], Change] = _everything
    structural: Callable[[Subject], Structural | None] | None = None
    section: Callable[[Subject, str], str] = lambda *_: ""
    unread: Callable[[Sequence[PictureDifference]], tuple[str, ...]] = _nothing
    checker: Callable[[Subject, Sequence[FileChange]], Checker] = _against_the_diff
    doubts: Callable[[Subject, Sequence[FileChange]], tuple[Finding, ...]] = _nothing
    reads: Literal["head tree", "gallery"] = "head tree"
    teaches: bool = False
    goes_on: bool = False
    stands_alone: bool = False
    by_team_rules: bool = False
    names_secrets: bool = False
    looks_around: bool = False
    pages: Callable[[Subject], tuple[Page, ...]] = _nothing

    @property
    def checks_itself(self) -> bool:
        """Whether our own check may stand in for its executor."""
        return self.structural is not None

    @property
    def stores(self) -> bool:
        """Whether it leaves pages behind."""
        return self.pages is not _nothing

    @property
    def sees_everything(self) -> bool:
        """Whether it looks at all files of the change, so that the change's parts are its own."""
        return self.narrow is _everything


# --- adr_review -------------------------------------------------------------------------------------------------------


def _records(subject: Subject) -> Change:
    return replace(subject.change, files=changed_records(subject.change, subject.rules.adr_folders))


def _structure_doubts(subject: Subject, files: Sequence[FileChange]) -> tuple[Finding, ...]:
    texts = ((file.path, subject.head_text(file.path)) for file in files)
    return tuple(
        Finding(
            id=finding_id(path, "adr-structure", fault),
            path=path,
            line=1,
            end_line=1,
            removed=False,
            severity="low",
            category="adr-structure",
            title=fault,
            body="A record says in which context it decides, and what: each template has a section for both.",
            suggestion=None,
            confidence=1.0,
            evidence="",
        )
        for path, text in texts
        if text is not None
        for fault in structure_faults(text)
    )


# --- visual_gate ------------------------------------------------------------------------------------------------------


def _picture_files(subject: Subject) -> Change:
    shown = {picture.name for picture in judged_pictures(subject.pictures)}
    return replace(subject.change, files=tuple(file for file in subject.change.files if file.path in shown))


def _compared(subject: Subject) -> Structural | None:
    report = compared_report(subject.pictures)
    return None if report is None else Structural(report)


# --- wiki_ingest ------------------------------------------------------------------------------------------------------


def _entries(subject: Subject) -> Structural:
    proposal = subject.proposal()
    return Structural(proposal_report(proposal), judged=bool(proposal.pages))


SURFACE_INPUTS: Mapping[Surface, SurfaceInput] = {
    Surface.PR_REVIEW: SurfaceInput(
        teaches=True, goes_on=True, stands_alone=True, by_team_rules=True, names_secrets=True, looks_around=True
    ),
    Surface.PRE_MERGE_SPEC_CHECK: SurfaceInput(),
    Surface.ADR_REVIEW: SurfaceInput(narrow=_records, doubts=_structure_doubts, stands_alone=True),
    Surface.VISUAL_GATE: SurfaceInput(
        about="these pictures",
        narrow=_picture_files,
        structural=_compared,
        section=lambda subject, nonce: pictures_section(subject.pictures, nonce),
        unread=unread_pictures,
        checker=lambda subject, _files: ShownPictures(subject.pictures),
        reads="gallery",
    ),
    Surface.WIKI_INGEST: SurfaceInput(
        about="these knowledge entries",
        narrow=lambda subject: replace(subject.change, files=()),
        structural=_entries,
        section=lambda subject, nonce: knowledge_section(subject.proposal().pages, nonce),
        pages=lambda subject: subject.proposal().pages,
    ),
    Surface.RELEASE_READINESS: SurfaceInput(about="this release"),
}
