"""The self-repairing loop over one part of a surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from review_advisor.agents.answers import DispositionAnswer, Guidance, Recommendation, ReviewPlan, ReviewReport
from review_advisor.agents.calls import AgentCall, ConsultReply, Consults, Denied, Lost, tokens
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.mid_flight import ConsultNote, read_consult, stop_signal
from review_advisor.agents.replies import finding_ask
from review_advisor.agents.roles import EditableTree, Executor, consult_call
from review_advisor.agents.surface_inputs import SURFACE_INPUTS, Structural
from review_advisor.agents.transcript import Attempt, disagreement_ids
from review_advisor.change.source import Source
from review_advisor.policy.budgets import Refused, consult_estimate
from review_advisor.policy.escalation_rules import ReasonKind
from review_advisor.policy.surfaces import Role
from review_advisor.review.council import PartJudges
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.ends import (
    PartEnding,
    flipped,
    halted,
    missing_words,
    never_approved,
    nothing_changed,
    ruled,
    settled,
    still_unfounded,
    unopened_pictures,
    unopened_words,
    unread,
    unseen_blind,
)
from review_advisor.review.escalation import (
    UNAPPLIED,
    Disposition,
    Merged,
    Reason,
    ReasonKey,
    Turn,
    Watched,
    after_advice,
    consult_grant,
    disposition_of,
    go_on_ask,
    held_by_advice,
    left_to_the_advisor,
    merge_recommendations,
    no_turn_left,
    open_ask,
    overridden_in,
    packet,
    proven_milder,
    reasons_to_consult,
    refused_question,
    refused_request,
    same_advice,
    settles,
    state_digest,
    watched,
    with_advice,
)
from review_advisor.review.events import (
    AdviceOpen,
    BlindJudged,
    Consulted,
    Disposed,
    Escalated,
    PartEnded,
    Recommended,
    Reported,
    Ruled,
    UnfoundedRejection,
    Verified,
)
from review_advisor.review.repair_session import RepairSession, Version
from review_advisor.review.rulings import Disabled, Move, Ruling, rule, rule_panel
from review_advisor.safety.stop import Receipt


@dataclass(frozen=True, slots=True)
class AttemptBrief:
    """What the executor is shown beside the change when an attempt begins."""

    plan: ReviewPlan | None
    attempts: tuple[Attempt, ...]
    """The vetoed ones that are handed back."""
    before: CheckedReport | None
    """Its latest report."""
    consults: tuple[ConsultNote, ...]
    unapplied: tuple[str, ...] = ()
    """The advice of earlier attempts that was overridden or refused."""

    def ask(self, version: Version, editable: EditableTree | None = None) -> AgentCall:
        """The executor's question about this version of the change."""
        return Executor(version.briefing).call(
            version.row,
            version.part,
            self.plan,
            self.attempts,
            before=self.before,
            consults=self.consults,
            editable=editable,
        )


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The executor's report in one attempt, and how it came about."""

    report: CheckedReport
    number: int
    """The call that brought the report."""
    consults: tuple[ConsultNote, ...]
    halted: str | None = None
    """Why the report goes to a human as it is."""
    receipt: Receipt = field(default_factory=Receipt)
    """That of the call ``number``."""
    turned: bool = False
    """After advice the executor approves what it had rejected."""
    advisor_alone: bool = False
    """A consult was refused, and the advisor's judgement alone decides."""
    put_back: tuple[str, ...] = ()
    """The findings that stay although the executor left them out after advice."""
    dispositions: tuple[DispositionAnswer, ...] = ()
    """The executor's own word on the advice."""
    unapplied: tuple[str, ...] = ()
    """The advice that was overridden or refused."""

    @property
    def turn(self) -> Turn:
        """What of it may be a reason to consult the advisor."""
        return Turn(self.number, self.report, self.receipt.failures_unadvised, self.receipt.readings_unadvised)


def proven_changes(version: Version, report: CheckedReport, guidance: Guidance) -> tuple[str, ...]:
    """The ids of the findings of ``report`` whose drop or lower carries a quote that shows that they are wrong."""
    there = {each.id: each for each in report.findings}
    milder = (each for each in guidance.changes if each.does in ("drop", "lower") and each.finding in there)
    change = version.subject.whole
    proven = (each.finding for each in milder if change.disproves(each.path, each.quote, there[each.finding]))
    return tuple(dict.fromkeys(proven))


def _reply(answer: Guidance | Lost | Refused, raw: str, receipt: Receipt, asked: int) -> ConsultReply:
    """The reply to a consult of the harness. Under the cap of tokens count a question of ``asked`` characters and it.

    The change that stands before the question is no fault of whoever asks, nor is what the advisor reads.
    """
    model, used = receipt.resolved_model, tokens(receipt.usage) or None
    counts = consult_estimate(asked) - consult_estimate(0) + receipt.usage.output_tokens
    if isinstance(answer, Guidance):
        return ConsultReply(True, raw, resolved_model=model, tokens=used, counts=used and counts)
    why = missing_words(answer)
    return ConsultReply(False, reason=why, resolved_model=model, tokens=used, counts=used and counts)


def escalated(dispatch: Dispatch, version: Version, brief: AttemptBrief, result: AttemptResult) -> AttemptResult:
    """The executor's result after every consult that is due. Raises ``Stop``.

    Without a profile of escalation that is its first. A consult that brings no advice does not stop it. One
    that the cap refuses, a conflict that one more question does not settle, advice that stays open, and an executor
    that gives no report after advice send the part to a human, who reads which advice is open.
    """
    paths = [path for file in version.part.shard.files for path in file.paths]
    about = watched(version.briefing.policy, version.row, paths, version.part.of)
    if about is None:
        return result
    return _Escalation(dispatch, version, brief, about, result).run()


@dataclass(slots=True)
class _Advice:
    """One recommendation of an attempt."""

    identity: str
    merged: Merged
    """The recommendation merged with the report that it was given on."""
    key: str = ""
    """What the same advice in a later attempt has as well."""
    needs_end: bool = True
    """It would change something, so the executor has to say what became of it."""
    disposition: Disposition = "open"


@dataclass(frozen=True, slots=True)
class _GrantedConsult:
    consults: Consults
    prompt: str


_APPLIED: tuple[Disposition, ...] = ("applied", "applied in part")


class _Escalation:
    """The consults of the harness in one attempt, and what the executor makes of their advice."""

    def __init__(
        self, dispatch: Dispatch, version: Version, brief: AttemptBrief, about: Watched, result: AttemptResult
    ) -> None:
        self._dispatch = dispatch
        self._version = version
        self._brief = brief
        self._about = about
        self._result = result
        self._consulted: set[ReasonKey] = set()
        self._turns = 1
        self._given: list[_Advice] = []
        self._proven: dict[str, str] = {}
        self._insisted = False

    def run(self) -> AttemptResult:
        self._take_in(self._result.consults)
        while self._settles():
            reasons = reasons_to_consult(self._about, self._result.turn, self._consulted)
            if not reasons or not self._consult(reasons):
                break
        alone = self._result.advisor_alone or left_to_the_advisor(self._about, self._result.consults)
        self._result = replace(self._result, advisor_alone=alone)
        self._close_open_advice()
        return self._result

    # --- a consult ---

    def _consult(self, reasons: Sequence[Reason]) -> bool:
        """Hold a consult, and let the executor go on. False: nobody is asked any more in this attempt."""
        self._consulted.update(reason.key for reason in reasons)
        contested: _Advice | None = None
        while True:
            note, number = self._ask_advisor(reasons, contested)
            if note is None:
                return False
            if stop_signal([note]):
                self._take_in([note])
                return False
            if note.guidance is None:
                return contested is None or self._halt("the reconciling question brought no answer")
            advice, repeated = self._merge(note, number)
            if repeated:
                return self._halt(f"the same advice was given twice and not applied: {note.guidance.action}")
            if contested is not None and not advice.merged.conflict:
                advice.needs_end = True
                if not settles(contested.merged, advice.merged):
                    return self._halt(
                        "the advisor neither takes back nor repeats what it contradicts the executor in:"
                        f" {contested.merged.conflict}"
                    )
            if not advice.merged.conflict:
                self._turns += 1
                return self._continue(go_on_ask, [reason.detail for reason in reasons])
            if contested is not None:
                return self._halt(f"the executor and the advisor contradict one another: {advice.merged.conflict}")
            reasons = [Reason(ReasonKind.RECONCILE, advice.identity, advice.merged.conflict)]
            contested = advice

    def _ask_advisor(self, reasons: Sequence[Reason], contested: _Advice | None) -> tuple[ConsultNote | None, int]:
        """The advisor's answer and its call; None where the consult is refused.

        Nobody decides a conflict alone, so a refused question about ``contested`` advice always calls a person.
        """
        leave = self._leave(reasons)
        refused = leave.reason if isinstance(leave, Denied) else ""
        at_cap = isinstance(leave, Denied) and leave.at_cap
        alone = at_cap and self._about.rules.handoff == "advisor_only" and contested is None
        self._record(
            Escalated,
            self._result.number,
            report=self._result.report,
            reasons=tuple(reasons),
            state=state_digest(self._version.tree or "", self._result.report),
            refused=refused,
            advisor_alone=alone,
        )
        if isinstance(leave, Denied):
            halted = None if alone else refused_request(reasons, refused)
            self._result = replace(self._result, halted=halted, advisor_alone=alone)
            return None, 0
        if contested is not None:
            self._dispose(contested, "superseded", "one more question was asked")
        note, number = self._advice(leave)
        self._result = replace(self._result, consults=(*self._result.consults, note))
        return note, number

    def _leave(self, reasons: Sequence[Reason]) -> _GrantedConsult | Denied:
        """Leave for one more consult, or why there is none."""
        refused = no_turn_left(self._about, self._turns)
        if refused:
            return Denied(refused)
        briefing, row, attempt = self._version.briefing, self._version.row, len(self._brief.attempts)
        grant = consult_grant(briefing, row, attempt)
        if grant is None:
            return Denied("mid-flight is off")
        question = packet(
            briefing,
            self._version.part,
            self._result.report,
            reasons,
            plan=self._brief.plan,
            earlier=(*self._brief.consults, *self._result.consults),
        )
        consults = self._dispatch.consults(grant)
        leave = consults.ask("harness", question)
        return leave if isinstance(leave, Denied) else _GrantedConsult(consults, leave.prompt)

    def _advice(self, leave: _GrantedConsult) -> tuple[ConsultNote, int]:
        """The advisor's answer, recorded, and its call. One that does not come is a failed consult, and is refunded."""
        version, attempt = self._version, len(self._brief.attempts)
        call = consult_call(version.briefing, version.row, version.part, attempt, leave.prompt)
        try:
            asked = self._dispatch.ask(call, Recommendation)
            leave.consults.settle("harness", _reply(asked.answer, asked.raw, asked.receipt, len(leave.prompt)))
        finally:
            (record,) = leave.consults.end()
        note = read_consult(record)
        if isinstance(asked.answer, Recommendation):
            guidance = Guidance.model_validate(asked.answer.model_dump())
            note = ConsultNote(
                note.consult, note.status, guidance, resolved_model=note.resolved_model, notes=note.notes
            )
        self._dispatch.record_step(
            Consulted,
            version.row,
            version.part,
            attempt,
            number=asked.number,
            advisor=Role.MID_FLIGHT.advisor,
            note=note,
            asked_by="harness",
        )
        return note, asked.number

    def _merge(self, note: ConsultNote, number: int) -> tuple[_Advice, bool]:
        if note.guidance is None:
            raise AssertionError("only guidance can be merged")
        proven = proven_changes(self._version, self._result.report, note.guidance)
        brought = self._version.believed(note.guidance.findings, Role.MID_FLIGHT.advisor)
        merged = merge_recommendations(self._result.report, note.guidance, self._about, proven, brought)
        key = same_advice(note.guidance)
        advice = _Advice(f"r{len(self._given) + 1}", merged, key, note.guidance.changes_something)
        self._given.append(advice)
        self._result = replace(self._result, report=with_advice(self._result.report, merged))
        self._proven |= proven_milder(merged, proven)
        repeated = key in (*self._brief.unapplied, *self._result.unapplied)
        self._record(
            Recommended, number, recommendation=advice.identity, merged=merged, proven=proven, repeated=repeated
        )
        return advice, repeated

    # --- what becomes of the advice ---

    def _take_in(self, notes: Sequence[ConsultNote]) -> None:
        """Add the advice that answers the executor's own questions: only its report shows what became of it."""
        plain = Merged(self._result.report.verdict, ())
        for note in notes:
            if note.guidance is not None:
                name, changes = f"r{len(self._given) + 1}", note.guidance.changes_something
                self._given.append(_Advice(name, plain, needs_end=changes))

    def _settles(self) -> bool:
        """Whether every recommendation has come to an end; what is open is asked once."""
        if stop_signal(self._result.consults) or refused_question(self._about, self._result.consults):
            return False
        while self._result.halted is None:
            unsettled = [each for each in self._given if each.disposition == "open"]
            for each in unsettled:
                disposition, why = disposition_of(
                    each.identity, each.merged, self._result.report, self._result.dispositions
                )
                if disposition == "open" and not each.needs_end:
                    disposition = "not stated"
                if disposition != "open":
                    self._dispose(each, disposition, why)
            unsettled = [each for each in unsettled if each.disposition == "open"]
            if not unsettled:
                return True
            names = tuple(each.identity for each in unsettled)
            if self._insisted:
                return self._halt("the executor does not say what became of the advice")
            self._insisted = True
            self._record(AdviceOpen, self._result.number, report=self._result.report, recommendations=names)
            self._continue(open_ask, names)
        return False

    def _dispose(self, advice: _Advice, disposition: Disposition, why: str) -> None:
        advice.disposition = disposition
        self._record(Disposed, self._result.number, recommendation=advice.identity, disposition=disposition, reason=why)
        if disposition in UNAPPLIED and advice.key:
            self._result = replace(self._result, unapplied=(*self._result.unapplied, advice.key))

    def _close_open_advice(self) -> None:
        """Name the advice that a halt overtook to the person whom it calls."""
        left = [each for each in self._given if each.disposition == "open"]
        if not left:
            return
        for each in left:
            self._dispose(each, "open", "a person decides first")
        why = self._result.halted or self._version.halt(self._result.consults)
        names = ", ".join(each.identity for each in left)
        self._halt(f"{why} (open advice: {names})")

    # --- the executor's next turn ---

    def _continue(self, ask: Callable[[AgentCall, Sequence[str], str], AgentCall], words: Sequence[str]) -> bool:
        """A fresh call of the same attempt, with the report and all guidance so far. False: there is no report."""
        result, brief, version = self._result, self._brief, self._version
        question = replace(brief, before=result.report, consults=brief.consults + result.consults).ask(version)
        asked = self._dispatch.ask(ask(question, words, version.briefing.nonce), ReviewReport)
        consults = result.consults + asked.consults
        if not isinstance(asked.answer, ReviewReport):
            why = f"the executor gave no report after the advice ({missing_words(asked.answer)})"
            self._result = replace(result, consults=consults)
            self._take_in(asked.consults)
            return self._halt(why)
        checked = version.check(asked.answer, disagreement_ids(brief.attempts))
        overridden = overridden_in(asked.answer.dispositions)
        holding = (
            each
            for each in self._given
            if each.disposition in _APPLIED or (each.disposition == "open" and each.identity not in overridden)
        )
        held = held_by_advice(each.merged for each in holding)
        kept = after_advice(result.report, checked, self._proven, held)
        there = {each.id for each in kept.report.findings}
        turned = result.turned or (result.report.verdict, kept.report.verdict) == ("reject", "approve")
        self._result = replace(
            result,
            report=kept.report,
            number=asked.number,
            consults=consults,
            receipt=asked.receipt,
            turned=turned,
            put_back=tuple(each for each in dict.fromkeys((*result.put_back, *kept.put_back)) if each in there),
            dispositions=asked.answer.dispositions,
        )
        self._take_in(asked.consults)
        unfounded = kept.report.unfounded
        if unfounded is not None:
            return self._halt(f"after the advice the executor rejects without a finding: {unfounded}")
        return True

    def _halt(self, why: str) -> bool:
        self._result = replace(self._result, halted=why)
        return False

    def _record(self, event: type[Escalated | Recommended | AdviceOpen | Disposed], number: int, **facts: Any) -> None:
        version, attempt = self._version, len(self._brief.attempts)
        self._dispatch.record_step(event, version.row, version.part, attempt, number=number, **facts)


class ReviewLoop:
    """How one part is reviewed. It keeps nothing between parts, and several threads may use it."""

    def __init__(self, source: Source, dispatch: Dispatch) -> None:
        self._source = source
        self._dispatch = dispatch

    def review(self, head: Version, plan: ReviewPlan | None) -> PartEnded:
        """Ask about the head and, after a veto, about what a repair made of it. Raises ``Stop``."""
        row, part = head.row, head.part
        if not row.roles[Role.MID_FLIGHT].runs:
            self._dispatch.record_skipped(Role.MID_FLIGHT, row, part)
        blind = self._judged_blind(head)
        alone = blind if isinstance(blind, CheckedReport) else None
        judges = PartJudges(self._dispatch)
        with RepairSession(self._source, self._dispatch, head) as repairs:
            attempt, ending = self._attempts(repairs, judges, head, plan, alone)
            judges.advise(attempt)
        if isinstance(blind, Lost | Refused):
            ending = unseen_blind(ending, blind, guarded=head.briefing.policy.guard.holds)
        return self._end(head, attempt, ending)

    def _judged_blind(self, head: Version) -> CheckedReport | Lost | Refused | None:
        """The report on the diff alone, or why it did not come; None if the policy or the surface has no such pass.

        The executor judges the diff before it sees the change's title and description. One call, like any other:
        within the budgets, and recorded.
        """
        row, part = head.row, head.part
        if not head.briefing.policy.blind.runs or not SURFACE_INPUTS[row.surface].stands_alone:
            return None
        asked = self._dispatch.ask(Executor(head.briefing).blind_call(row, part), ReviewReport)
        answer = asked.answer
        found = head.check(answer, ()) if isinstance(answer, ReviewReport) else answer
        report = found if isinstance(found, CheckedReport) else None
        missing = "" if isinstance(found, CheckedReport) else missing_words(found)
        self._dispatch.record_step(BlindJudged, row, part, number=asked.number, report=report, missing=missing)
        return found

    def judge(self, version: Version, found: Structural) -> PartEnded:
        """A check of our own takes the executor's place; post-verify is asked if the check does not decide."""
        self._dispatch.record_step(Reported, version.row, version.part, report=found.report, structural=True)
        if not found.judged:
            return self._end(version, 0, settled(found.report))
        judges = PartJudges(self._dispatch)
        ruling, judged = self._post_verify(judges, version, None, found.report, ())
        judges.advise(0)
        return self._end(version, 0, ruled(ruling, found.report, (), judged=judged))

    def _attempts(
        self,
        repairs: RepairSession,
        judges: PartJudges,
        version: Version,
        plan: ReviewPlan | None,
        alone: CheckedReport | None,
    ) -> tuple[int, PartEnding]:
        """The self-repairing loop: execute, verify, rule; a retry hands back the whole transcript.

        ``alone`` is the report on the diff alone, against which every verdict is held.
        """
        row, part = version.row, version.part
        attempts: tuple[Attempt, ...] = ()
        before: CheckedReport | None = None
        consults: tuple[ConsultNote, ...] = ()
        unapplied: tuple[str, ...] = ()
        pictures = version.subject.pictures
        while True:
            brief = AttemptBrief(plan, attempts, before, consults, unapplied)
            with repairs.editable(version, attempts) as editable:
                asked = self._dispatch.ask(brief.ask(version, editable), ReviewReport)
                if not isinstance(asked.answer, ReviewReport):
                    return len(attempts), unread(asked.answer)
                latest = repairs.read_back(version, editable, len(attempts))
            checked = latest.check(asked.answer, disagreement_ids(attempts))
            stated = asked.answer.dispositions
            result = AttemptResult(checked, asked.number, asked.consults, receipt=asked.receipt, dispositions=stated)
            if result.report.unfounded is not None:
                result = self._asked_for_a_finding(latest, brief, result)
            result = escalated(self._dispatch, latest, brief, result)
            report = result.report
            self._dispatch.record_step(
                Reported, row, part, len(attempts), number=result.number, report=report, put_back=result.put_back
            )
            unopened = partial(unopened_pictures, row, pictures, result.receipt.opened)
            if result.halted is not None:
                return len(attempts), replace(halted(result.halted), unopened=unopened(()))
            unchanged = nothing_changed(before, report, same_diff=latest.tree == version.tree)
            version = latest
            turned = flipped(alone, report, len(attempts)) if alone is not None else None
            halt = version.halt(result.consults) or turned or unchanged
            if halt is not None:
                return len(attempts), replace(halted(halt), unopened=unopened(()))
            ruling, judged = self._post_verify(judges, version, plan, report, attempts, result=result)
            if ruling.move is not Move.RETRY or judged is None:
                ending = ruled(ruling, report, attempts, version.briefing.repair, judged=judged)
                return len(attempts), replace(ending, unopened=unopened(judges.answers))
            attempts += (judged,)
            consults += result.consults
            unapplied += result.unapplied
            before = report

    def _asked_for_a_finding(self, version: Version, brief: AttemptBrief, first: AttemptResult) -> AttemptResult:
        """The result of asking the executor once more, after a rejection without a finding that stands."""
        row, part, attempt = version.row, version.part, len(brief.attempts)
        self._dispatch.record_step(UnfoundedRejection, row, part, attempt, number=first.number, report=first.report)
        question = replace(brief, consults=brief.consults + first.consults).ask(version)
        call = finding_ask(question, first.number, first.report, version.briefing.nonce)
        asked = self._dispatch.ask(call, ReviewReport)
        consults = first.consults + asked.consults
        if not isinstance(asked.answer, ReviewReport):
            return replace(first, consults=consults, halted=still_unfounded(asked.answer))
        second = version.check(asked.answer, disagreement_ids(brief.attempts))
        stated = asked.answer.dispositions
        return AttemptResult(
            second, asked.number, consults, still_unfounded(second), asked.receipt, dispositions=stated
        )

    def _post_verify(
        self,
        judges: PartJudges,
        version: Version,
        plan: ReviewPlan | None,
        report: CheckedReport,
        attempts: tuple[Attempt, ...],
        *,
        result: AttemptResult | None = None,
    ) -> tuple[Ruling, Attempt | None]:
        """The ruling on the executor's verdict, and the judgement if there was one."""
        row, part = version.row, version.part
        judged: Attempt | None = None
        stands = version.standing(report, attempts)
        if result is not None:
            stands = replace(stands, turned=result.turned, advisor_alone=result.advisor_alone)
        switch = row.roles[Role.POST_VERIFY].disabled_by
        if switch is not None:
            self._dispatch.record_skipped(Role.POST_VERIFY, row, part)
            ruling = rule(stands, Disabled(switch))
        else:
            judged_by = judges.judge(version, plan, report, attempts)
            ruling, joint = rule_panel(stands, judged_by.members)
            if joint is not None:
                judged = Attempt(len(attempts), report.verdict, report.summary, joint, judged_by.raw)
                self._dispatch.record_step(Verified, row, part, len(attempts), number=judged_by.number, judged=judged)
        self._dispatch.record_step(Ruled, row, part, len(attempts), ruling=ruling)
        return ruling, judged

    def _end(self, version: Version, attempt: int, ending: PartEnding) -> PartEnded:
        ending = never_approved(ending, version.part.unread + unopened_words(ending.unopened))
        return self._dispatch.record_step(PartEnded, version.row, version.part, attempt, **asdict(ending))
