"""The disagreement that nobody settled, for the human who is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.surface_records import PartRecord
from review_advisor.core.report.blind_text import blind_words
from review_advisor.core.report.repair_text import repair_words
from review_advisor.core.roles.transcript import Attempt
from review_advisor.core.safety.terminal import one_line, printable


def disagreement_transcript(document: OutcomeDocument) -> str | None:
    """For the human who is called: every vetoed attempt of the escalated parts, as Markdown; None without any."""
    sections: list[str] = []
    for surface in document.surfaces:
        for part in surface.parts:
            if part.ended is None or part.ended.outcome is not Outcome.ESCALATED:
                continue
            sections.append(f"## {surface.surface.value}, part {part.shard + 1}: {one_line(part.ended.because)}")
            sections += _attempts_markdown(part)
    if not sections:
        return None
    return "\n\n".join(["# Disagreement transcript", *sections]) + "\n"


def last_vetoes(document: OutcomeDocument) -> tuple[str, ...]:
    """Why the parts that a veto has escalated did: of each the last veto's reasoning, then each point that it made.

    One text each, as the judge wrote it: whoever prints it makes it safe.
    """
    last = [
        part.post_verify[-1]
        for surface in document.surfaces
        for part in surface.parts
        if part.ended is not None and part.ended.outcome is Outcome.ESCALATED and part.post_verify
    ]
    return tuple(words for each in last if each.result.verdict == "VETO" for words in _points(each))


def _points(attempt: Attempt) -> Iterator[str]:
    yield f"the advisor's last veto: {attempt.result.reasoning or 'it gives no reason'}"
    yield from (f"{each.severity}: {each.advisor_assessment}" for _, each in attempt.disagreements)
    if attempt.result.suggested_fix_direction:
        yield f"direction: {attempt.result.suggested_fix_direction}"


def _attempts_markdown(part: PartRecord) -> Iterator[str]:
    if part.blind is not None:
        yield f"### By the diff alone\n\n{_quoted(blind_words(part.blind))}"
    for number, report in enumerate(part.reports):
        for each in part.unfounded:
            if each.attempt == number and each.report != report:
                yield f"### Attempt {number + 1}: the executor says reject, but {each.report.unfounded}"
                yield _quoted(each.report.summary)
        yield f"### Attempt {number + 1}: the executor says {report.verdict}\n\n{_quoted(report.summary)}"
        for repaired in part.repairs:
            if repaired.attempt == number:
                yield f"Its repair was {repaired.result}:\n\n{_quoted(repair_words(repaired))}"
        for attempt in part.post_verify:
            if attempt.number == number:
                yield f"Post-verify says {attempt.result.verdict}:\n\n{_quoted(attempt.result.reasoning)}"
                yield from _disagreements_markdown(attempt)
    for note in part.consults:
        answer = note.guidance.action if note.guidance else note.reason
        yield f"Consult, {note.status}:\n\n{_quoted(note.consult.question)}\n\n{_quoted(answer)}"


def _disagreements_markdown(attempt: Attempt) -> Iterable[str]:
    for identity, each in attempt.disagreements:
        yield (
            f"- {identity}, {each.severity}\n"
            f"  - claim: {one_line(each.executor_claim)}\n  - assessment: {one_line(each.advisor_assessment)}"
        )
    if attempt.result.suggested_fix_direction:
        yield f"Suggested direction:\n\n{_quoted(attempt.result.suggested_fix_direction)}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in printable(text).split("\n"))
