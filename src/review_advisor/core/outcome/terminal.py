"""What a person reads in a terminal: the report, the progress lines, and the escalation transcript."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import assert_never

from review_advisor.core.facts.diff_text import shown_path
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.facts.shards import EXTENT_WORDS
from review_advisor.core.outcome.blind_text import blind_words, lacks_blind
from review_advisor.core.outcome.document import OutcomeDocument, PartRecord, SurfaceRecord, total_usage
from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Event,
    KnowledgeStored,
    PartEnded,
    Planned,
    PolicyFrozen,
    Repaired,
    Reported,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    Ruled,
    StepEvent,
    SurfaceEnded,
    Verified,
)
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.repair_text import no_repair_words, offered_repair, repair_words
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import Usage
from review_advisor.core.roles.evidence import CheckedReport, Finding
from review_advisor.core.roles.fence import clean
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.pictures import picture_words
from review_advisor.core.roles.transcript import Attempt

WIDTH = 100
HEADLINES: dict[Outcome, str] = {
    Outcome.APPROVED: "APPROVED",
    Outcome.CHANGES_REQUESTED: "CHANGES REQUESTED",
    Outcome.ESCALATED: "ESCALATED TO A HUMAN",
    Outcome.STOPPED: "STOPPED: the review did not run to its end",
}
_COMMAND = re.compile(r"^(\s*)::", re.MULTILINE)


def said(text: str) -> str:
    """Words from outside, safe to print: no escape codes, no secrets, no workflow commands."""
    return _without_commands(clean(text))


def _without_commands(text: str) -> str:
    found = _COMMAND.sub(r"\1: :", text) if "::" in text else text
    return found.replace("##[", "# #[")


def one_line(text: str) -> str:
    """The same on one line: what stands in a heading or a list can open no line of its own."""
    return " ".join(said(text).split())


def headline(document: OutcomeDocument) -> str:
    """The verdict in one line, with everything that must not be overlooked."""
    notes = []
    if document.outcome is Outcome.APPROVED and not document.coverage:
        notes.append("NOTHING TO REVIEW: the change is empty")
    if document.outcome is Outcome.APPROVED and document.exit_code:
        notes.append("A HUMAN MUST DECIDE: fail_on asks for a verified approval")
    if document.flags.recovered:
        notes.append("after a veto was answered")
    if document.flags.exhausted:
        notes.append("retries exhausted")
    if document.repair is not None:
        notes.append("a repair is attached")
    notes += _degraded(document)
    if document.flags.advisor_disabled:
        notes.append("ADVISOR SWITCHED OFF: " + ", ".join(document.flags.advisor_disabled))
    tail = f" ({'; '.join(notes)})" if notes else ""
    return HEADLINES[document.outcome] + tail


def _degraded(document: OutcomeDocument) -> Iterator[str]:
    if any(part.ended and part.ended.degraded for surface in document.surfaces for part in surface.parts):
        yield "DEGRADED: not verified by the advisor"
    if lacks_blind(document):
        yield "DEGRADED: not judged by the diff alone"


def report_text(document: OutcomeDocument) -> str:
    """The whole report, plain text, at most about a hundred columns."""
    blocks = [_opening(document)]
    blocks += [_surface_text(surface) for surface in document.surfaces]
    blocks += [_findings_text(document.findings), _pictures_text(document.pictures)]
    blocks += ["\n".join(map(said, offered_repair(document))), _coverage_text(document), _cost_text(document)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _opening(document: OutcomeDocument) -> str:
    policy = document.policy
    lines = [headline(document)]
    lines += [_wrapped("  because ", reason) for reason in document.because]
    lines.append(_wrapped(f"  {document.label}  ", document.title))
    files = f"{len(document.coverage)} file{'' if len(document.coverage) == 1 else 's'}"
    lines.append(f"  {files}, {policy.code_lines} changed lines of code, blast radius {policy.blast.radius.value}")
    lines += [_wrapped("    ", reason) for reason in _first(policy.blast.because, 3)]
    if no_repair := no_repair_words(document):
        lines.append(f"  {no_repair}")
    if policy.guard.holds:
        lines.append("  self-modification guard holds: veto authority on every surface")
    if document.flags.lost:
        lines.append("  answers lost or refused: " + ", ".join(document.flags.lost))
    return "\n".join(lines)


def _first(items: tuple[str, ...], count: int) -> list[str]:
    shown = list(items[:count])
    if len(items) > count:
        shown.append(f"and {len(items) - count} more")
    return shown


def _surface_text(surface: SurfaceRecord) -> str:
    skipped = any(skip.role is Role.EXECUTOR for skip in surface.skipped)
    ended = surface.outcome.value if surface.outcome else "did not run" if skipped else "not finished"
    lines = [f"{surface.surface.value}: {ended}"]
    lines += [
        _wrapped("  ", f"{skip.role.value} did not run: {', '.join(skip.because)}")
        for skip in {skip.role: skip for skip in surface.skipped}.values()
    ]
    if surface.plan is not None:
        lines.append(_wrapped("  pre-flight   ", surface.plan.risk_summary))
        lines += [_wrapped("               look at ", area.description) for area in surface.plan.focus_areas]
    for part in surface.parts:
        if len(surface.parts) > 1:
            lines.append(f"  part {part.shard + 1}")
        if part.blind is not None:
            lines.append(_wrapped("  diff alone   ", blind_words(part.blind)))
        lines += _part_lines(part)
    for each in surface.stored:
        missing = f" (not in the repository: {each.not_in_repository})" if each.not_in_repository else ""
        lines.append(_wrapped("  stored       ", f"{each.name}: {each.title}{missing}"))
    return "\n".join(lines)


def _part_lines(part: PartRecord) -> Iterator[str]:
    for number, report in enumerate(part.reports):
        found = f"{len(report.findings)} finding{'' if len(report.findings) == 1 else 's'}"
        yield _wrapped(
            "  executor     ", f"{report.verdict}, {found}, confidence {report.confidence:.2f}: {report.summary}"
        )
        yield from _report_lines(report)
        for repaired in part.repairs:
            if repaired.attempt == number:
                yield _wrapped("  repair       ", f"{repaired.result}: {repair_words(repaired)}")
        if number == 0:
            for note in part.consults:
                yield from _consult_lines(note)
        for attempt in part.post_verify:
            if attempt.number == number:
                yield from _verdict_lines(attempt)
        if number < len(part.rulings):
            ruling = part.rulings[number]
            yield _wrapped("  ruling       ", f"{ruling.move.value}: {ruling.because}")
    if part.ended is not None and len(part.rulings) < max(1, len(part.reports)):
        yield _wrapped("  ended        ", f"{part.ended.outcome.value}: {part.ended.because}")


def _report_lines(report: CheckedReport) -> Iterator[str]:
    for refused in report.refused:
        yield _wrapped("               refused: ", f"{refused.title} ({refused.path}): {refused.why}")
    for dropped in report.dropped:
        yield _wrapped("               not kept: ", f"{dropped.title}: {dropped.why}")
    for answer in report.answers:
        settled = "with evidence" if answer.disagreement in report.settled else "without evidence"
        yield _wrapped(
            "               answers ", f"{answer.disagreement}, {answer.position}, {settled}: {answer.evidence}"
        )


def _consult_lines(note: ConsultNote) -> Iterator[str]:
    yield _wrapped("  consult      asked: ", note.consult.question)
    if note.guidance is not None:
        stop = " (STOP)" if note.guidance.stop_signal else ""
        yield _wrapped(f"               advice{stop}: ", note.guidance.action)
    else:
        yield _wrapped(f"               {note.status}: ", note.reason)


def _verdict_lines(attempt: Attempt) -> Iterator[str]:
    yield _wrapped("  post-verify  ", f"{attempt.result.verdict}: {attempt.result.reasoning}")
    for identity, each in attempt.disagreements:
        yield _wrapped(f"               {identity} {each.severity}: ", each.advisor_assessment)
    if attempt.result.suggested_fix_direction:
        yield _wrapped("               direction: ", attempt.result.suggested_fix_direction)


def _findings_text(findings: tuple[Finding, ...]) -> str:
    if not findings:
        return "Findings: none"
    lines = [f"Findings: {len(findings)}"]
    for each in findings:
        where = f"{shown_path(each.path)}:{each.line}"
        lines.append(
            _wrapped(
                f"  {each.severity:<8} {where}  ",
                f"{each.title} [{each.category}, {each.id}, confidence {each.confidence:.2f}]",
            )
        )
        lines += [_wrapped("           ", body) for body in each.body.split("\n") if body.strip()]
        lines += [f"           > {said(quote)[:WIDTH]}" for quote in each.evidence.split("\n")[:5] if quote]
        if each.corrected:
            lines.append(_wrapped("           ", f"({each.corrected})"))
    return "\n".join(lines)


def _pictures_text(pictures: tuple[PictureDifference, ...]) -> str:
    lines = [f"Pictures: {len(pictures)}", *(_wrapped("  ", picture_words(picture)) for picture in pictures)]
    return "\n".join(lines) if pictures else ""


def _coverage_text(document: OutcomeDocument) -> str:
    gaps = [file for file in document.coverage if file.read != "read"]
    if not document.coverage:
        return ""
    read = (
        f"all {len(document.coverage)}"
        if not gaps
        else f"{len(document.coverage) - len(gaps)} of {len(document.coverage)}"
    )
    pictures = sum(file.picture for file in document.coverage)
    lines = [f"Read: {read} files{f', {pictures} of them as pictures by visual_gate' if pictures else ''}"]
    lines += [_wrapped("  ", f"{shown_path(file.path)} was {EXTENT_WORDS[file.read]}: {file.why}") for file in gaps]
    lines += [_wrapped("  shortened in the prompts: ", words) for words in document.cut]
    return "\n".join(lines)


def _cost_text(document: OutcomeDocument) -> str:
    calls = [event for event in document.events if isinstance(event, CallEnded) and event.ended != "refused"]
    if not calls:
        return "Calls: none"
    consults = sum(isinstance(event, Consulted) for event in document.events)
    asked = f", with {consults} consult{'' if consults == 1 else 's'} inside them" if consults else ""
    lines = [f"Calls: {len(calls)}{asked}"]
    for row in document.cost:
        times = f"{row.calls} call{'' if row.calls == 1 else 's'}"
        lines.append(f"  {row.role.value:<12} {said(row.model):<24} {times:<9} {_usage_text(row.usage)}")
    lines.append(f"  {'total':<47} {_usage_text(total_usage(row.usage for row in document.cost))}")
    return "\n".join(lines)


def _usage_text(usage: Usage) -> str:
    cost = "cost not reported" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return f"{usage.input_tokens:>9,} in {cached:>9,} cached {usage.output_tokens:>7,} out  {cost}"


def _wrapped(prefix: str, text: str) -> str:
    """``text`` after ``prefix``, further lines indented below it."""
    room = max(WIDTH, len(prefix) + 40)
    words = one_line(text)
    if words and len(prefix) + len(words) <= room:
        return _without_commands(prefix + words)
    indent = " " * min(len(prefix), 17)
    lines = textwrap.wrap(words, room, initial_indent=prefix, subsequent_indent=indent)
    return _without_commands("\n".join(lines)) or prefix.rstrip()  # a line may have been broken before a command


def progress_line(event: Event) -> str | None:
    """One line for a person who waits, or None for an event that says nothing new to them."""
    match event:
        case PolicyFrozen():
            surfaces = ", ".join(row.surface.value for row in event.policy.surfaces)
            return f"{len(event.files)} files, blast radius {event.policy.blast.radius.value}; surfaces: {surfaces}"
        case SurfaceEnded():
            return f"{event.surface.value}: {event.outcome.value}"
        case ReviewStopped():
            return one_line(f"stopped: {event.detail}")
        case ReviewEnded():
            return None
        case _:
            line = _step_line(event)
            return None if line is None else one_line(f"{event.surface.value}: {line}")


def _step_line(event: StepEvent) -> str | None:
    match event:
        case RoleSkipped():
            return f"{event.role.value} does not run: {', '.join(event.because)}"
        case CallStarted():
            return f"{_role_words(event)} ({event.requested_model}) ..."
        case CallEnded():
            took = "in an earlier run" if event.kept else f"in {event.duration_seconds:.1f} s"
            return f"{_role_words(event)} {event.ended}{f': {event.detail}' if event.detail else f' {took}'}"
        case Consulted():
            return f"consult {event.note.status}: {event.note.consult.question}"
        case Ruled():
            return f"{event.ruling.move.value}: {event.ruling.because}"
        case Verified() | BlindJudged():
            return _verdict_words(event)
        case Repaired():
            return f"repair {event.result}: {repair_words(event)}"
        case Planned() | Reported() | PartEnded() | KnowledgeStored():
            return None
        case _:
            assert_never(event)


def _verdict_words(event: Verified | BlindJudged) -> str:
    if isinstance(event, Verified):
        return f"post_verify says {event.judged.result.verdict}"
    return f"by the diff alone: {event.report.verdict if event.report else 'no verdict'}"


def _role_words(event: CallStarted | CallEnded) -> str:
    words = event.role.value + (", diff alone" if event.blind else "")
    if event.attempt:
        words += f", attempt {event.attempt + 1}"
    return words + (f", part {event.shard + 1}" if event.shard else "")


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


def _attempts_markdown(part: PartRecord) -> Iterator[str]:
    if part.blind is not None:
        yield f"### By the diff alone\n\n{_quoted(blind_words(part.blind))}"
    for number, report in enumerate(part.reports):
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
    return "\n".join(f"> {line}" for line in said(text).split("\n"))
