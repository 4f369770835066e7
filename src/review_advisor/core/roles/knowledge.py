"""Knowledge entries on their way into the wiki: our own check of them, and what their judge is shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass

from review_advisor.core.answers.evidence import CheckedReport, DroppedKnowledge, Knowledge
from review_advisor.core.policy.guard import gives_orders
from review_advisor.core.safety.fence import fence_facts

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
