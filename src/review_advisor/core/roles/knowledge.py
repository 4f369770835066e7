"""Knowledge entries on their way into the wiki: our own check of them, what the judge is shown, the stored page."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass

from review_advisor.core.roles.evidence import CheckedReport, DroppedKnowledge, Knowledge
from review_advisor.core.roles.fence import clean, fence_facts

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


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry comes from. ``advisor``: post-verify's verdict on it, or that there was none."""

    run_id: str
    label: str
    head_sha: str | None
    advisor: str


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
        name = page_name(entry.title)
        if name in taken:
            dropped.append(DroppedKnowledge(entry.title, f"{name} is already there"))
        elif len(" ".join(entry.body.split())) < SHORTEST_BODY:
            dropped.append(DroppedKnowledge(entry.title, f"its body has fewer than {SHORTEST_BODY} characters"))
        elif len(pages) == MOST_ENTRIES:
            dropped.append(DroppedKnowledge(entry.title, f"more than {MOST_ENTRIES} entries in one review"))
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


def page_text(page: Page, origin: Origin) -> str:
    """The page as Markdown, its origin in front. What models wrote is cleaned; the front matter's values are JSON."""
    entry = page.entry
    facts = {
        "title": entry.title,
        "tags": list(entry.tags),
        "run": origin.run_id,
        "change": origin.label,
        "head": origin.head_sha,
        "path": entry.path,
        "line": entry.line,
        "advisor": origin.advisor,
    }
    front = [f"{name}: {json.dumps(_cleaned(value), ensure_ascii=False)}" for name, value in facts.items()]
    quoted = [f"> {line}" for line in clean(entry.evidence).split("\n")]
    title = " ".join(clean(entry.title).split())
    return "\n".join(["---", *front, "---", "", f"# {title}", "", clean(entry.body).strip(), "", *quoted, ""])


def _cleaned(value: object) -> object:
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return " ".join(clean(value).split()) if isinstance(value, str) else value
