"""What a run's page tells of the events in which a role spoke: plan, consult, report, repair, judgement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from review_advisor.core.answers.answers import FocusArea, Guidance, ReviewPlan
from review_advisor.core.answers.evidence import CheckedReport, Knowledge
from review_advisor.core.answers.findings import merged_into
from review_advisor.core.answers.opinion import own_words
from review_advisor.core.outcome.events import (
    BlindJudged,
    Consulted,
    MemberReviewed,
    Opined,
    Planned,
    Repaired,
    Reported,
    UnfoundedRejection,
    Verified,
    Voted,
)
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Disposed, Escalated, Recommended
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.pages.entry import Entry, Tone
from review_advisor.core.report.advice_text import merge_lines
from review_advisor.core.report.council_text import vote_words
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.transcript import Attempt

AdviceStep = Escalated | Recommended | AdviceOpen | Disposed
Spoken = Planned | Opined | Consulted | BlindJudged | UnfoundedRejection | AdviceStep | Reported | Repaired | Verified


def spoken(event: Spoken, named: Mapping[str, str] | None = None) -> Entry:
    """What the page says of such an event."""
    match event:
        case Planned():
            return _planned(event.plan)
        case Opined():
            return _opined(event)
        case Consulted():
            return _consulted(event.note)
        case BlindJudged() | UnfoundedRejection():
            return _first_word(event)
        case Reported():
            by = " (our own check, no model was asked)" if event.structural else ""
            return _reported(f"Report: {event.report.verdict}{by}", event.report)
        case Escalated() | Recommended() | AdviceOpen() | Disposed():
            return _advice(event, named)
        case Repaired():
            return _repaired(event)
        case Verified():
            return _verified(event.judged)
        case _:
            assert_never(event)


def of_member(event: MemberReviewed | Voted | Challenged | VoicesHeard) -> Entry:
    """What the page says of a member of a council, or of the refuter."""
    if isinstance(event, VoicesHeard):
        said = tuple(f"{each.advisor}: {each.words}" for each in event.voices)
        return Entry("Advice of the inline members, which have no vote", blocks=(("Advice", said),))
    if isinstance(event, Challenged):
        return Entry(
            f"The refuter on {event.finding}: {event.words}",
            "warn" if event.refutes else "",
            blocks=(
                ("Reasoning", event.challenge.reasoning),
                ("Quote", tuple(event.challenge.quote.split("\n")) if event.challenge.quote else ()),
                ("From", event.challenge.path),
            ),
        )
    if isinstance(event, MemberReviewed):
        return _reported(f"{event.advisor} by itself: {event.report.verdict}", event.report)
    vote = event.vote
    return Entry(
        f"{event.advisor} votes",
        "good" if vote.verdict == "APPROVE" else "bad",
        facts=(("weights", vote_words(vote)), ("verdict", vote.verdict)),
        blocks=(
            ("Why this vote", vote.vote.reasoning if vote.vote else ""),
            ("Reasoning", vote.reasoning),
            ("Disagreements", tuple(f"{each.severity}: {each.advisor_assessment}" for each in vote.disagreements)),
            ("Of each finding", tuple(f"{each.instance}: {each.opinion}" for each in vote.instances)),
            ("Its own fields", own_words(vote.own)),
        ),
    )


def _first_word(event: BlindJudged | UnfoundedRejection) -> Entry:
    if isinstance(event, UnfoundedRejection):
        title = "Report: reject, without a finding that stands, so the executor was asked again"
        return _reported(title, event.report)
    if event.report is None:
        return Entry("No judgement by the diff alone", "warn", facts=(("why", event.missing),))
    return _reported(f"By the diff alone: {event.report.verdict}", event.report)


def _opined(event: Opined) -> Entry:
    said = tuple(f"{each.instance}: {each.opinion}" for each in event.instances)
    return Entry(
        f"Opinion of {event.advisor}",
        "warn" if event.missing else "",
        blocks=(
            ("Opinion", event.opinion.opinion),
            ("Concerns", event.opinion.concerns),
            ("Of each", said),
            ("Says nothing of", event.missing),
            ("Its own fields", own_words(event.own)),
        ),
    )


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
            ("too long", note.overlong),
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
    if guidance.stops:
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


def _advice(event: AdviceStep, named: Mapping[str, str] | None) -> Entry:
    match event:
        case Escalated():
            return _escalated(event)
        case Recommended():
            tone: Tone = "warn" if event.merged.conflict or event.repeated else ""
            twice = "yes: the same was recommended before and not applied" if event.repeated else ""
            diff = merge_lines(event.merged, named)
            return Entry(f"Recommendation {event.recommendation}", tone, (("repeated", twice),), (("Diff", diff),))
        case AdviceOpen():
            return Entry(
                "The executor is asked what became of the advice", "ask", blocks=(("", event.recommendations),)
            )
        case Disposed():
            title = f"Recommendation {event.recommendation}: {event.disposition}"
            return Entry(
                title,
                "warn" if event.disposition in ("open", "applied in part") else "",
                blocks=(("Why", event.reason),),
            )
        case _:
            assert_never(event)


def _escalated(event: Escalated) -> Entry:
    title = "The advisor was due and not consulted" if event.refused else "The review consults the advisor"
    reasons = tuple(f"{reason.kind.value}: {reason.detail}" for reason in event.reasons)
    return Entry(
        title,
        "warn" if event.refused else "ask",
        facts=(("the report so far", event.report.verdict), ("confidence", f"{event.report.confidence:.2f}")),
        blocks=(("Reasons", reasons), ("Why not", event.refused)),
        findings=event.report.findings,
    )


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
