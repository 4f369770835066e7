"""A council as safe Markdown: one matrix of members and actions for each vote, and how many raise each finding."""

from __future__ import annotations

from review_advisor.core.council.agreement import Raised
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.forge_text.fitting import Order, Section, details
from review_advisor.core.outcome.council_records import CouncilRecord, council_findings, council_records
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.steps.voteless_events import Challenged
from review_advisor.core.report.council_text import (
    ADDED,
    LEAD,
    VOICES_TITLE,
    challenges_of,
    council_sentences,
    council_title,
    left_words,
    matrix,
    voices_of,
)
from review_advisor.core.safety.markdown import code, phrase


def judges(document: OutcomeDocument) -> tuple[Section, ...]:
    """What each judge said where there are more than the advisor alone."""
    return council_votes(document), council_agreement(document), voices_said(document), refuter_said(document)


def council_votes(document: OutcomeDocument) -> Section:
    """Who voted how, with the spread, the dissent and each missing member; nothing where one advisor judges alone."""
    records = council_records(document.events)
    if not records:
        return Section(())
    parts = len({(each.surface, each.shard) for each in records})
    blocks = tuple(_vote(each, parts) for each in reversed(records))
    title = "How the council voted" + (", the last vote first" if len(blocks) > 1 else "")
    return details(title, *blocks, gives_way=Order.VETOES, what="votes", between="\n\n")


def council_agreement(document: OutcomeDocument) -> Section:
    """How many members raise which finding, and what only members raise; nothing where one advisor judges alone."""
    found = council_findings(document.events)
    blocks = [
        f"**{title}**\n\n" + "\n".join(map(_raised, raised))
        for title, raised in ((LEAD, found.lead), (ADDED, found.added))
        if raised
    ]
    blocks += [each for each in (left_words(found),) if each]
    if not blocks:
        return Section(())
    title = "What the members of the council found by themselves"
    return details(title, *blocks, gives_way=Order.VETOES, what="lists", between="\n\n")


def voices_said(document: OutcomeDocument) -> Section:
    """What inline members advise, which decides nothing; nothing without any."""
    lines = [f"- {code(each.advisor)}: {phrase(each.words, 600)}" for each in voices_of(document.events)]
    return details(VOICES_TITLE, *lines, gives_way=Order.VETOES, what="voices")


def refuter_said(document: OutcomeDocument) -> Section:
    """What the refuter says of each finding that blocks; nothing where none was asked."""
    lines = [
        f"- {code(each.finding)}: **{each.words}**{_proof(each)}. {phrase(each.challenge.reasoning, 300)}".rstrip()
        for each in challenges_of(document)
    ]
    return details("What the refuter says of what blocks", *lines, gives_way=Order.VETOES, what="answers")


def _proof(said: Challenged) -> str:
    quote = f"{code(shown_path(said.challenge.path))}: {code(said.challenge.quote, 200)}"
    return f" by {quote}" if said.refutes else ""


def _raised(raised: Raised) -> str:
    found = raised.finding
    where = code(f"{shown_path(found.path)}:{found.line}")
    return f"- **{found.severity}** {where}: {phrase(found.title, 200)} ({raised.words})"


def _vote(record: CouncilRecord, parts: int) -> str:
    header, *rows = matrix(record)
    lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
    lines += [f"| {code(row[0])} | {' | '.join(map(phrase, row[1:]))} |" for row in rows]
    said = " ".join(phrase(each, 600) for each in council_sentences(record))
    return f"**{council_title(record, parts=parts)}**\n\n" + "\n".join(lines) + f"\n\n{said}"
