"""Events on a page of the dashboard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from review_advisor.agents.answers import FocusArea, Guidance, ReviewPlan, own_words
from review_advisor.agents.calls import tokens
from review_advisor.agents.evidence import CheckedReport, Knowledge
from review_advisor.agents.findings import Finding, merged_into
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.agents.transcript import Attempt
from review_advisor.policy.policy import SurfacePolicy
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import RoleCost, unusual_advisor
from review_advisor.review.events import (
    AdviceOpen,
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Disposed,
    Escalated,
    Event,
    KnowledgeStored,
    MemberReviewed,
    Opined,
    PartEnded,
    Planned,
    PolicyFrozen,
    Recommended,
    Repaired,
    Reported,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    Ruled,
    Step,
    SurfaceEnded,
    UnfoundedRejection,
    Verified,
    VoicesHeard,
    Voted,
)
from review_advisor.review.report import advice_ends, merge_lines, vote_words
from review_advisor.review.rulings import Move, Outcome
from review_advisor.safety.fence import clean
from review_advisor.safety.stop import Usage
from review_advisor.safety.wording import counted

LONGEST_TEXT = 20_000
"""Characters of one text; what is left out stands in the ledger."""


MOST_LINES = 500
"""Lines of one list."""


def page_text(text: str) -> str:
    """``text`` without secrets, with invisible and bidi characters as ``<U+XXXX>``, clipped with a note."""
    left = len(text) - LONGEST_TEXT
    if left <= 0:
        return clean(text)
    return f"{clean(text[:LONGEST_TEXT])}\n[{left} more characters are left out here; `runs export` writes them all]"


def page_lines(texts: Iterable[str]) -> list[str]:
    """The lines of a list as a page shows them, clipped with a note."""
    lines = list(texts)
    visible = [page_text(line) for line in lines[:MOST_LINES]]
    left = len(lines) - MOST_LINES
    return visible if left <= 0 else [*visible, f"[{left} more are left out here; `runs export` writes them all]"]


def page_block(block: str | tuple[str, ...]) -> str | list[str]:
    """A text or a list of lines as a page shows it."""
    return page_text(block) if isinstance(block, str) else page_lines(block)


def without_empty(**fields: Any) -> Mapping[str, Any]:
    """The fields that say something: an empty text, list or object, None and False are left out."""
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


def cost_json(cost: RoleCost) -> dict[str, Any]:
    """For a page: ``per_call_usd`` is the mean over the calls, or consults, that reported their cost.

    There is none for consults whose cost stands with the executor.
    """
    usage = cost.usage
    elsewhere = cost.shared and cost.role is Role.MID_FLIGHT
    per_call = None if elsewhere or usage.cost_usd is None else usage.cost_usd / (cost.calls - cost.unpriced)
    return {
        "role": cost.role.value,
        "model": page_text(cost.model),
        "calls": cost.calls,
        "unpriced": cost.unpriced,
        **usage_json(usage),
        "tokens": tokens(usage),
        "per_call_usd": per_call,
        "shared": cost.shared,
    }


def usage_json(usage: Usage) -> dict[str, Any]:
    """What was used, by the names of every page."""
    return {
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }


Tone = Literal["", "good", "bad", "warn", "ask"]
"""How a heading is coloured; its words say the same."""


TONES: dict[Outcome, Tone] = {
    Outcome.NOTHING_TO_REVIEW: "",
    Outcome.APPROVED: "good",
    Outcome.CHANGES_REQUESTED: "bad",
    Outcome.ESCALATED: "warn",
    Outcome.STOPPED: "bad",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One event on the page.

    ``blocks`` are texts and lists in their order, each with a label; ``folded`` texts are shown when asked for.
    ``call`` holds the numbers of a call, as the ledger has them; ``patch`` is a diff of git's.
    """

    title: str
    tone: Tone = ""
    facts: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    folded: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    call: CallEnded | None = None
    patch: str = ""

    def as_json(self) -> dict[str, Any]:
        """Its words, as a page gets them; the findings and the call are not among them."""
        return {
            "title": page_text(self.title),
            "tone": self.tone,
            "facts": [[label, page_text(value)] for label, value in self.facts if value],
            "blocks": [[label, page_block(block)] for label, block in self.blocks if block],
            "folded": [[label, page_text(text)] for label, text in self.folded if text],
            "patch": page_text(self.patch),
        }


AdviceStep = Escalated | Recommended | AdviceOpen | Disposed


Answering = (
    Planned | Opined | Consulted | BlindJudged | UnfoundedRejection | AdviceStep | Reported | Repaired | Verified
)


def _of_answer(event: Answering, named: Mapping[str, str] | None) -> Entry:
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


def of_member(event: MemberReviewed | Voted | VoicesHeard) -> Entry:
    """What the page says of a member of a council."""
    if isinstance(event, VoicesHeard):
        advice = tuple(f"{each.advisor}: {each.words}" for each in event.voices)
        return Entry("Advice of the inline members, which have no vote", blocks=(("Advice", advice),))
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
    instances = tuple(f"{each.instance}: {each.opinion}" for each in event.instances)
    return Entry(
        f"Opinion of {event.advisor}",
        "warn" if event.missing else "",
        blocks=(
            ("Opinion", event.opinion.opinion),
            ("Concerns", event.opinion.concerns),
            ("Of each", instances),
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
    consult, guidance = note.consult, note.guidance
    return Entry(
        f"Consult: {note.status}",
        "ask" if note.status == "answered" else "warn",
        facts=(
            ("urgency", consult.urgency),
            ("preferred", consult.preferred_option),
            ("why", note.reason),
            ("model", note.resolved_model),
            ("took", "" if note.duration_ms is None else f"{note.duration_ms / 1000:.1f} s"),
            ("tokens", "" if note.tokens is None else f"{note.tokens:,}"),
            ("too long", note.overlong),
            *_guided(guidance, wrapped=note.wrapped),
        ),
        blocks=(
            ("Question", consult.question),
            ("Context", consult.context),
            ("Options", consult.options),
            ("Guidance", guidance.action if guidance else ""),
            ("Rationale", guidance.rationale if guidance else ""),
            ("Risks", guidance.risk_flags if guidance else ()),
            ("Evidence", guidance.evidence if guidance else ()),
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
    disagreements = tuple(
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
            ("Disagreements", disagreements),
        ),
        folded=(("The executor's summary", judged.executor_summary), ("The reply as it came", judged.raw)),
    )


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
        case MemberReviewed() | Voted() | VoicesHeard():
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
            return _of_answer(event, named)
        case CallStarted() | CallEnded() | RoleSkipped() | Ruled() | KnowledgeStored():
            return _of_progress(event)
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


def _of_progress(event: CallStarted | CallEnded | RoleSkipped | Ruled | KnowledgeStored) -> Entry:
    match event:
        case CallStarted():
            why = "The run was killed in flight, or the call is under way."
            return Entry(f"{_who(event)} was asked; no answer is recorded", "warn", blocks=(("", why),))
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


def _who(event: CallStarted | CallEnded) -> str:
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
        f"{_who(event)} {words[event.ended]}{blind}",
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


How = Literal["new", "gone", "changed", "same"]


_Numbered = tuple[int, Step]


_FINAL = (Reported,)


_SO_FAR = (Reported, Escalated, AdviceOpen)
"""Where the review itself consults, the executor's report stands in these until the final one."""


@dataclass(frozen=True, slots=True)
class FindingChange:
    """What became of one finding; ``was`` is its earlier severity where that ``changed``."""

    how: How
    finding: Finding
    was: str = ""


@dataclass(frozen=True, slots=True)
class ReportChange:
    """The reports before and after an intervention, by the numbers of their events; None where there is none.

    ``patch`` is the repair that was accepted in between.
    """

    before: int | None
    after: int | None
    verdicts: tuple[str, str]
    findings: tuple[FindingChange, ...]
    patch: str

    def as_json(self) -> Mapping[str, Any]:
        """For a page."""
        return {
            "before": self.before,
            "after": self.after,
            "verdicts": list(self.verdicts),
            "findings": [
                without_empty(
                    how=each.how,
                    was=each.was,
                    id=each.finding.id,
                    severity=each.finding.severity,
                    title=page_text(each.finding.title),
                    place=page_text(f"{each.finding.path}:{each.finding.line}"),
                )
                for each in self.findings
            ],
            "patch": page_text(self.patch),
        }


def changes(events: Sequence[Event]) -> dict[int, ReportChange]:
    """By the number of its event: what each veto and each answered consult led to, within its part of its surface."""
    parts: dict[tuple[Surface, int], list[_Numbered]] = defaultdict(list)
    for number, event in enumerate(events):
        if isinstance(event, Step):
            parts[event.surface, event.shard].append((number, event))
    found: dict[int, ReportChange] = {}
    for steps in parts.values():
        for place, (number, step) in enumerate(steps):
            if _intervenes(step):
                found[number] = _change(step, steps[:place], steps[place + 1 :])
    return found


def became_of_advice(events: Sequence[Event]) -> dict[int, str]:
    """By the number of its event: what became of the advice of each consult, and why."""
    ends: dict[int, str] = {}
    for end in advice_ends(events) if events else ():
        if end.consulted is not None and end.disposition is not None:
            why = f": {end.reason}" if end.reason else ""
            ends[end.index] = page_text(f"{end.disposition}{why}")
    return ends


def _intervenes(event: Step) -> bool:
    if isinstance(event, Consulted):
        return event.note.status == "answered"
    return isinstance(event, Verified) and event.judged.result.verdict == "VETO"


def _change(event: Step, earlier: Sequence[_Numbered], later: Sequence[_Numbered]) -> ReportChange:
    before = next(((n, e) for n, e in reversed(earlier) if isinstance(e, _SO_FAR)), None)
    answers = _FINAL if isinstance(event, Verified) else _SO_FAR
    after = next(((n, e) for n, e in later if isinstance(e, answers)), None)
    until_judged: list[Step] = []
    for _, each in later:
        if isinstance(each, Verified):
            break
        until_judged.append(each)
    repairs = [each for each in until_judged if isinstance(each, Repaired) and each.result == "accepted"]
    old = before[1].report if before else None
    new = after[1].report if after else None
    return ReportChange(
        before[0] if before else None,
        after[0] if after else None,
        (old.verdict if old else "", new.verdict if new else ""),
        tuple(_compared(old.findings if old else (), new.findings)) if new else (),
        repairs[-1].patch if repairs and after else "",
    )


def _compared(old: Sequence[Finding], new: Sequence[Finding]) -> Iterator[FindingChange]:
    """What is gone first, then the later report in its order."""
    earlier = {finding.id: finding for finding in old}
    now = {finding.id for finding in new}
    yield from (FindingChange("gone", finding) for finding in old if finding.id not in now)
    for finding in new:
        was = earlier.get(finding.id)
        if was is None:
            yield FindingChange("new", finding)
        elif was.severity != finding.severity:
            yield FindingChange("changed", finding, was.severity)
        else:
            yield FindingChange("same", finding)
