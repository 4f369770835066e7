"""What a run's page tells of the events in which a role spoke: plan, consult, report, repair, judgement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from review_advisor.core.answers.answers import FocusArea, Guidance, ReviewPlan
from review_advisor.core.answers.evidence import CheckedReport, Knowledge
from review_advisor.core.answers.findings import merged_into
from review_advisor.core.outcome.events import (
    BlindJudged,
    Consulted,
    Planned,
    Repaired,
    Reported,
    UnfoundedRejection,
    Verified,
)
from review_advisor.core.pages.entry import Entry
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.transcript import Attempt

Spoken = Planned | Consulted | BlindJudged | UnfoundedRejection | Reported | Repaired | Verified


def spoken(event: Spoken) -> Entry:
    """What the page says of such an event."""
    match event:
        case Planned():
            return _planned(event.plan)
        case Consulted():
            return _consulted(event.note)
        case BlindJudged():
            return _blind(event)
        case Reported():
            by = " (our own check, no model was asked)" if event.structural else ""
            return _reported(f"Report: {event.report.verdict}{by}", event.report)
        case UnfoundedRejection():
            return _reported(
                "Report: reject, without a finding that stands, so the executor was asked again", event.report
            )
        case Repaired():
            return _repaired(event)
        case Verified():
            return _verified(event.judged)
        case _:
            assert_never(event)


def _blind(event: BlindJudged) -> Entry:
    if event.report is None:
        return Entry("No judgement by the diff alone", "warn", facts=(("why", event.missing),))
    return _reported(f"By the diff alone: {event.report.verdict}", event.report)


def _planned(plan: ReviewPlan) -> Entry:
    return Entry(
        "Plan",
        blocks=(
            ("Risk", plan.risk_summary),
            ("Focus", tuple(map(_focus, plan.focus_areas))),
            ("Rubric", plan.rubric),
            ("Signals to escalate", plan.escalation_signals),
        ),
    )


def _focus(area: FocusArea) -> str:
    files = f" ({', '.join(area.files)})" if area.files else ""
    return f"{area.description}{files}{': ' if area.rationale else ''}{area.rationale}"


def _consulted(note: ConsultNote) -> Entry:
    asked, given = note.consult, note.guidance
    chosen = asked.preferred_option
    return Entry(
        f"Consult: {note.status}",
        "ask" if note.status == "answered" else "warn",
        facts=(
            ("urgency", asked.urgency),
            ("preferred", chosen),
            ("why", note.reason),
            ("model", note.resolved_model),
            ("took", "" if note.duration_ms is None else f"{note.duration_ms / 1000:.1f} s"),
            ("tokens", "" if note.tokens is None else f"{note.tokens:,}"),
            *_guided(given, wrapped=note.wrapped),
        ),
        blocks=(
            ("Question", asked.question),
            ("Context", asked.context),
            ("Options", asked.options),
            ("Guidance", given.action if given else ""),
            ("Rationale", given.rationale if given else ""),
            ("Risks", given.risk_flags if given else ()),
            ("Evidence", given.evidence if given else ()),
        ),
    )


def _guided(guidance: Guidance | None, *, wrapped: bool) -> Iterable[tuple[str, str]]:
    if guidance is None:
        return
    if guidance.confidence is not None:
        yield "confidence", f"{guidance.confidence:.2f}"
    if guidance.stop_signal:
        yield "stop signal", "yes: the review goes to a human"
    if wrapped:
        yield "malformed", "the answer was not in the asked form; its text is taken as the guidance"


def _reported(title: str, report: CheckedReport) -> Entry:
    answers = tuple(
        f"{answer.disagreement} {answer.position}"
        f"{', with evidence that stands' if answer.disagreement in report.settled else ''}"
        f"{f': {answer.path}: {answer.evidence}' if answer.evidence else ''}"
        for answer in report.answers
    )
    return Entry(
        title,
        "good" if report.verdict == "approve" else "bad",
        facts=(
            ("confidence", f"{report.confidence:.2f}"),
            ("findings", str(len(report.findings))),
            ("merged into them", str(merged_into(report.findings) or "")),
            ("not believed", str(len(report.refused) or "")),
        ),
        blocks=(
            ("Summary", report.summary),
            (
                "Findings that are not believed",
                tuple(f"{r.severity}: {r.title} ({r.path}: {r.why})" for r in report.refused),
            ),
            ("Answers to the advisor", answers),
            ("Offered to the wiki", tuple(map(_learned, report.knowledge))),
            ("Not kept for the wiki", tuple(f"{each.title} ({each.why})" for each in report.dropped)),
        ),
        findings=report.findings,
    )


def _learned(entry: Knowledge) -> str:
    tags = f"\nTags: {', '.join(entry.tags)}" if entry.tags else ""
    return f"{entry.title} ({entry.path}:{entry.line})\n{entry.body}\nEvidence: {entry.evidence}{tags}"


def _repaired(event: Repaired) -> Entry:
    return Entry(
        f"Repair: {event.result}",
        "good" if event.result == "accepted" else "warn",
        facts=(("tree", event.tree), ("blast radius", event.blast.radius.value if event.blast else "")),
        blocks=(
            ("Files", event.files),
            ("Refused because of", tuple(f"{each.path}: {each.why}" for each in event.refused)),
        ),
        patch=event.patch,
    )


def _verified(judged: Attempt) -> Entry:
    result = judged.result
    said = tuple(
        f"{identity}, {each.severity}\nThe executor: {each.executor_claim}\nThe advisor: {each.advisor_assessment}"
        for identity, each in judged.disagreements
    )
    return Entry(
        f"Post-verify: {result.verdict}",
        "good" if result.verdict == "APPROVE" else "bad",
        facts=(("the executor had said", judged.executor_verdict),),
        blocks=(
            ("Reasoning", result.reasoning),
            ("Direction", result.suggested_fix_direction or ""),
            ("Disagreements", said),
        ),
        folded=(("The executor's summary", judged.executor_summary), ("The reply as it came", judged.raw)),
    )
