"""What the machines disagreed about, as Markdown: in short for everybody, whole for the person who is called."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.core.forge_text.fitting import Order, Section, details, size
from review_advisor.core.forge_text.sections import refused_remarks
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.surface_records import PartRecord, SurfaceRecord
from review_advisor.core.report.blind_text import blind_words, flips
from review_advisor.core.report.repair_text import repair_words
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.transcript import Attempt
from review_advisor.core.safety.markdown import phrase, prose, quote

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


def with_next(shown: Section, following: Section) -> tuple[Section, Section]:
    """How the two ended up and what a person does next, in the order in which both are seen: a long quarrel waits."""
    return (following, shown) if size(shown.text) > MOST_AHEAD else (shown, following)


def vetoes(document: OutcomeDocument) -> tuple[str, ...]:
    """One list item for each verdict that flipped, and for each veto of the advisor with the points it made."""
    turned = tuple(f"- {_name(surface, part)}: {phrase(words)}" for surface, part, words in flips(document))
    return turned + tuple(
        _veto(surface, part, attempt)
        for surface in document.surfaces
        for part in surface.parts
        for attempt in part.post_verify
        if attempt.result.verdict == "VETO"
    )


def _veto(surface: SurfaceRecord, part: PartRecord, attempt: Attempt) -> str:
    where = f"{_name(surface, part)}, attempt {attempt.number + 1}"
    said = f"the executor said {attempt.executor_verdict}, the advisor vetoed"
    lines = [f"- {where}: {said}: {phrase(attempt.result.reasoning)}"]
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
        for block in _part_blocks(surface, part, told=at < MOST_POSITIONS)
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


def _part_blocks(surface: SurfaceRecord, part: PartRecord, *, told: bool) -> Iterator[str]:
    """``told``: its reason and its last attempt stand in the open."""
    attempts = len(part.reports) - told
    if attempts <= 0 and part.blind is None and not part.consults:
        return
    yield f"**{_name(surface, part)}**" if told else f"**{_name(surface, part)}**: {_because(part)}"
    if part.blind is not None:
        yield f"By the diff alone:\n\n{quote(prose(blind_words(part.blind)))}"
    for number in range(attempts):
        yield from _attempt(part, number)
    yield from map(_consult, part.consults)


def _attempt(part: PartRecord, number: int) -> Iterator[str]:
    if not 0 <= number < len(part.reports):
        return
    report = part.reports[number]
    for said in (*(each.report for each in part.unfounded if each.attempt == number and each.report != report), report):
        unfounded = ", without a finding that stands" if said.unfounded else ""
        yield f"The **executor** {said.verdict}s{unfounded} (attempt {number + 1}):\n\n{quote(prose(said.summary))}"
        if said.unfounded and said.refused:
            yield "\n".join(refused_remarks(said.refused))
    yield from (
        f"Its repair was {each.result}: {phrase(repair_words(each))}" for each in part.repairs if each.attempt == number
    )
    for attempt in part.post_verify:
        if attempt.number == number:
            yield from _judgement(attempt)


def _judgement(attempt: Attempt) -> Iterator[str]:
    said = "vetoes" if attempt.result.verdict == "VETO" else "agrees"
    yield f"The **advisor** {said}:\n\n{quote(prose(attempt.result.reasoning))}"
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
