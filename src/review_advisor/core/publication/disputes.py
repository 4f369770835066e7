"""What the machines disagreed about, as Markdown: in short for everybody, whole for the person who is called."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.core.outcome.blind_text import blind_words, flips
from review_advisor.core.outcome.document import OutcomeDocument, PartRecord, SurfaceRecord
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.repair_text import repair_words
from review_advisor.core.publication.markdown import phrase, prose, quote
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.transcript import Attempt


def vetoes(document: OutcomeDocument) -> tuple[str, ...]:
    """One list item for each verdict that flipped, and for each veto of post-verify with the points it made."""
    turned = tuple(
        f"- {surface.surface.value}{_part_words(surface, part)}: {phrase(words)}"
        for surface, part, words in flips(document)
    )
    return turned + tuple(
        _veto(surface, part, attempt)
        for surface in document.surfaces
        for part in surface.parts
        for attempt in part.post_verify
        if attempt.result.verdict == "VETO"
    )


def _veto(surface: SurfaceRecord, part: PartRecord, attempt: Attempt) -> str:
    where = f"{surface.surface.value}{_part_words(surface, part)}, attempt {attempt.number + 1}"
    said = f"the executor said {attempt.executor_verdict}, post-verify vetoed"
    lines = [f"- {where}: {said}: {phrase(attempt.result.reasoning)}"]
    lines += [
        f"  - {identity}, {each.severity}: {phrase(each.advisor_assessment)}"
        for identity, each in attempt.disagreements
        if each.advisor_assessment != attempt.result.reasoning
    ]
    return "\n".join(lines)


def transcript(document: OutcomeDocument) -> tuple[str, ...]:
    """Every attempt of the parts that escalated, block by block; empty if none did."""
    return tuple(
        block
        for surface in document.surfaces
        for part in surface.parts
        if part.ended is not None and part.ended.outcome is Outcome.ESCALATED
        for block in _part_blocks(surface, part)
    )


def _part_words(surface: SurfaceRecord, part: PartRecord) -> str:
    return f", part {part.shard + 1} of {len(surface.parts)}" if len(surface.parts) > 1 else ""


def _part_blocks(surface: SurfaceRecord, part: PartRecord) -> Iterator[str]:
    because = phrase(part.ended.because) if part.ended is not None else ""
    yield f"**{surface.surface.value}{_part_words(surface, part)}**: {because}"
    if part.blind is not None:
        yield f"By the diff alone:\n\n{quote(prose(blind_words(part.blind)))}"
    for number, report in enumerate(part.reports):
        yield f"Attempt {number + 1}: the executor says {report.verdict}.\n\n{quote(prose(report.summary))}"
        yield from (
            f"Its repair was {each.result}: {phrase(repair_words(each))}"
            for each in part.repairs
            if each.attempt == number
        )
        for attempt in part.post_verify:
            if attempt.number == number:
                yield from _judgement(attempt)
    yield from map(_consult, part.consults)


def _judgement(attempt: Attempt) -> Iterator[str]:
    yield f"Post-verify says {attempt.result.verdict}.\n\n{quote(prose(attempt.result.reasoning))}"
    for identity, each in attempt.disagreements:
        yield (
            f"- {identity}, {each.severity}\n  - claim: {phrase(each.executor_claim)}\n"
            f"  - assessment: {phrase(each.advisor_assessment)}"
        )
    if attempt.result.suggested_fix_direction:
        yield f"Suggested direction: {phrase(attempt.result.suggested_fix_direction)}"


def _consult(note: ConsultNote) -> str:
    answer = note.guidance.action if note.guidance is not None else note.reason
    return f"Consult, {note.status}.\n\n{quote(prose(note.consult.question))}\n>\n{quote(prose(answer))}"
