"""What a run's page tells of each event: a heading, facts, lists and texts, as plain values for a page to lay out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from review_advisor.core.answers.findings import Finding
from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Event,
    KnowledgeStored,
    MemberReviewed,
    Opined,
    PartEnded,
    Planned,
    PolicyFrozen,
    Repaired,
    Reported,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    Ruled,
    SurfaceEnded,
    UnfoundedRejection,
    Verified,
    Voted,
)
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.questions import unusual_advisor
from review_advisor.core.outcome.rulings import Move
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Disposed, Escalated, Recommended
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.pages.costs import usage_json
from review_advisor.core.pages.entry import TONES, Entry, Tone
from review_advisor.core.pages.text import page_text, without_empty
from review_advisor.core.pages.transcript_entries import of_member, spoken
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.report.wording import counted

ROLE_WORDS = {
    Role.PRE_FLIGHT: "Pre-flight",
    Role.EXECUTOR: "Executor",
    Role.MID_FLIGHT: "Mid-flight",
    Role.POST_VERIFY: "Post-verify",
}
_MOVES: dict[Move, Tone] = {Move.ACCEPT: "good", Move.RETRY: "ask", Move.ESCALATE: "warn"}


def entry_json(number: int, event: Event, named: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The event as a page's value: ``number`` is its place in the run, by which it is linked to."""
    entry = entry_of(event, named)
    step = event if isinstance(event, Step) else None
    role = getattr(event, "role", None)
    surface = getattr(event, "surface", None)
    about = without_empty(
        kind=event.kind,
        **entry.as_json(),
        surface=surface.value if surface else "",
        role=role.value if role else "",
        findings=[finding_json(finding) for finding in entry.findings],
        call=call_json(entry.call) if entry.call else {},
    )
    place = {"attempt": step.attempt, "shard": step.shard} if step else {}
    return {"number": number, "at": event.at.isoformat(), **place, **about}


def entry_of(event: Event, named: Mapping[str, str] | None = None) -> Entry:
    """What the page says of an event; ``named`` are the run's findings by their ids (``findings_by_id``)."""
    match event:
        case PolicyFrozen():
            return _begun(event)
        case MemberReviewed() | Voted() | Challenged() | VoicesHeard():
            return of_member(event)
        case (
            Planned()
            | Opined()
            | Consulted()
            | BlindJudged()
            | UnfoundedRejection()
            | Escalated()
            | Recommended()
            | AdviceOpen()
            | Disposed()
            | Reported()
            | Repaired()
            | Verified()
        ):
            return spoken(event, named)
        case CallStarted() | CallEnded() | RoleSkipped() | Ruled() | KnowledgeStored():
            return _small(event)
        case PartEnded() | SurfaceEnded() | ReviewStopped() | ReviewEnded():
            return _end(event)
        case _:
            assert_never(event)


def _begun(event: PolicyFrozen) -> Entry:
    policy = event.policy
    return Entry(
        "The review began",
        facts=(
            ("files", str(len(event.files))),
            ("changed lines of code", str(policy.code_lines)),
            ("parts", str(event.shards)),
            ("blast radius", policy.blast.radius.value),
            ("budget", f"${policy.budgets.max_usd:.2f}, {counted(policy.budgets.max_consults, 'consult')}"),
            ("judged since", event.scope.since or ""),
            ("own prices", event.priced_by),
        ),
        blocks=(
            ("Why this blast radius", policy.blast.because),
            ("What was decided", tuple(map(_decided, policy.surfaces))),
            ("The bot's own files, guarded", policy.guard.paths),
            ("Not sent to any call", tuple(f"{each.path} ({each.extent}): {each.why}" for each in event.unsent)),
            ("Shortened in prompts", event.cut),
            ("Files", tuple(f"{file.status} {file.path} ({file.kind})" for file in event.files)),
        ),
    )


def _decided(row: SurfacePolicy) -> str:
    roles = "; ".join(
        f"{role.value} {'runs' if decision.runs else 'does not run'} ({', '.join(decision.because)})"
        for role, decision in row.roles.items()
    )
    retries = "retry" if row.retry_budget == 1 else "retries"
    return (
        f"{row.surface.value}: {row.authority.value} authority, {row.retry_budget} {retries},"
        f" executor {row.executor_model}, advisor {row.advisor_model}; {roles}"
    )


def _small(event: CallStarted | CallEnded | RoleSkipped | Ruled | KnowledgeStored) -> Entry:
    match event:
        case CallStarted():
            why = "The run was killed in flight, or the call is under way."
            return Entry(f"{_asked(event)} was asked; no answer is recorded", "warn", blocks=(("", why),))
        case CallEnded():
            return _call(event)
        case RoleSkipped():
            off = event.disabled_by or ""
            skipped = f"{ROLE_WORDS[event.role]} did not run"
            return Entry(skipped, facts=(("switched off by", off),), blocks=(("Why", event.because),))
        case Ruled():
            move = event.ruling.move
            return Entry(f"Ruling: {move.value}", _MOVES[move], blocks=(("", event.ruling.because),))
        case KnowledgeStored():
            facts = (("as", event.name), ("not in the repository", event.not_in_repository))
            return Entry(f"Stored for the wiki: {event.title}", facts=facts)
        case _:
            assert_never(event)


def _asked(event: CallStarted | CallEnded) -> str:
    """Who was asked: the role, and the advisor's id if it is not the role's usual one."""
    advisor = unusual_advisor(event.role, event.advisor)
    return f"{ROLE_WORDS[event.role]} ({advisor})" if advisor else ROLE_WORDS[event.role]


def _call(event: CallEnded) -> Entry:
    words = {
        "answered": "answered",
        "lost": "gave no answer",
        "refused": "was not asked",
        "cut_short": "was cut short",
        "stopped": "could not be asked",
    }
    blind = ", of the diff alone" if event.blind else ""
    return Entry(
        f"{_asked(event)} {words[event.ended]}{blind}",
        "" if event.ended == "answered" else "warn",
        facts=(
            ("why", event.reason),
            ("cut or set right", "; ".join(event.notes)),
            ("reply", "kept by an earlier run of this review, which paid for it" if event.kept else ""),
            ("failed tools in a row", str(event.tool_failures) if event.tool_failures else ""),
            ("session", event.session_id),
        ),
        blocks=(("", event.detail),),
        call=event,
    )


def _end(event: PartEnded | SurfaceEnded | ReviewStopped | ReviewEnded) -> Entry:
    match event:
        case PartEnded():
            flags = ("degraded", "recovered", "exhausted", "repaired")
            held = [flag for flag in flags if getattr(event, flag)] + ([] if event.read else ["not read"])
            title = f"Part {event.shard + 1}: {_words(event.outcome)}"
            return Entry(title, TONES[event.outcome], (("flags", ", ".join(held)),), (("", event.because),))
        case SurfaceEnded() | ReviewEnded():
            what = event.surface.value if isinstance(event, SurfaceEnded) else "The review ended"
            why = "\n".join(event.because)
            return Entry(f"{what}: {_words(event.outcome)}", TONES[event.outcome], blocks=(("", why),))
        case ReviewStopped():
            again = event.resume_at.isoformat() if event.resume_at else ""
            return Entry(f"Stopped: {event.reason}", "bad", (("again from", again),), (("", event.detail),))
        case _:
            assert_never(event)


def _words(outcome: Outcome) -> str:
    return outcome.value.replace("_", " ")


def call_json(call: CallEnded) -> Mapping[str, Any]:
    """A call's numbers, unrounded."""
    return without_empty(
        role=call.role.value,
        ended=call.ended,
        model=page_text(call.resolved_model or call.requested_model),
        effort=call.effort,
        **usage_json(call.usage),
        seconds=call.duration_seconds,
        turns=call.turns,
        prompt_characters=call.prompt_characters,
        kept=call.kept,
    )


def finding_json(finding: Finding) -> Mapping[str, Any]:
    """A finding as it is shown."""
    return without_empty(
        id=finding.id,
        severity=finding.severity,
        category=page_text(finding.category),
        title=page_text(finding.title),
        path=page_text(finding.path),
        line=finding.line,
        end_line=finding.end_line,
        removed=finding.removed,
        confidence=finding.confidence,
        body=page_text(finding.words),
        suggestion=page_text(finding.suggestion or ""),
        evidence=page_text(finding.evidence),
        corrected=page_text(finding.corrected),
        age=f"{finding.age.value} lines",
    )
