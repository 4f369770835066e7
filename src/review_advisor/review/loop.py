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
    """What the executor is told beside the change when an attempt begins.

    ``unapplied`` is the advice of earlier attempts that was overridden or refused.
    """

    plan: ReviewPlan | None
    attempts: tuple[Attempt, ...]
    before: CheckedReport | None
    consults: tuple[ConsultNote, ...]
    unapplied: tuple[str, ...] = ()

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
class AttemptSaid:
    """What the executor said in one attempt. ``halted``: why its report goes to a human as it is.

    ``receipt`` is that of the call ``number``. ``turned``: after advice it approves what it had rejected.
    ``advisor_alone``: a consult was refused, and the advisor's judgement alone decides. ``put_back`` are the findings
    that stay although the executor left them out after advice. ``dispositions`` is its own word on the advice, and
    ``unapplied`` the advice that was overridden or refused.
    """

    report: CheckedReport
    number: int
    consults: tuple[ConsultNote, ...]
    halted: str | None = None
    receipt: Receipt = field(default_factory=Receipt)
    turned: bool = False
    advisor_alone: bool = False
    put_back: tuple[str, ...] = ()
    dispositions: tuple[DispositionAnswer, ...] = ()
    unapplied: tuple[str, ...] = ()

    @property
    def turn(self) -> Turn:
        """The same as what may be a reason to consult the advisor."""
        return Turn(self.number, self.report, self.receipt.failures_unadvised, self.receipt.readings_unadvised)


class HarnessConsult:
    """One consult after what the executor has said."""

    def __init__(
        self, dispatch: Dispatch, version: Version, told: AttemptBrief, said: AttemptSaid, reasons: Sequence[Reason]
    ) -> None:
        self._dispatch = dispatch
        self._version = version
        self._told = told
        self._said = said
        self._reasons = reasons
        self._consults: Consults | None = None
        self._prompt = ""
        self.number = 0
        self.at_cap = False

    def leave(self) -> str:
        """Why the cap refuses the consult; empty with leave."""
        seen, attempt = self._version.briefing, len(self._told.attempts)
        grant = consult_grant(seen, self._version.row, attempt)
        if grant is None:
            return "mid-flight is off"
        earlier = (*self._told.consults, *self._said.consults)
        question = packet(
            seen, self._version.part, self._said.report, self._reasons, plan=self._told.plan, earlier=earlier
        )
        self._consults = self._dispatch.consults(grant)
        leave = self._consults.ask("harness", question)
        if isinstance(leave, Denied):
            self.at_cap = leave.at_cap
            return leave.reason
        self._prompt = leave.prompt
        return ""

    def advice(self) -> ConsultNote:
        """What the advisor says, recorded. An answer that does not come is a failed consult, and is refunded."""
        if self._consults is None:
            raise AssertionError("a consult needs leave")
        version, attempt = self._version, len(self._told.attempts)
        call = consult_call(version.briefing, version.row, version.part, attempt, self._prompt)
        try:
            asked = self._dispatch.ask(call, Recommendation)
            self._consults.settle("harness", _reply(asked.answer, asked.raw, asked.receipt, len(self._prompt)))
        finally:
            (record,) = self._consults.end()
        note = read_consult(record)
        if isinstance(asked.answer, Recommendation):
            said = Guidance.model_validate(asked.answer.model_dump())
            note = ConsultNote(note.consult, note.status, said, resolved_model=note.resolved_model, notes=note.notes)
        self.number = asked.number
        self._dispatch.record_step(
            Consulted,
            version.row,
            version.part,
            attempt,
            number=asked.number,
            advisor=Role.MID_FLIGHT.advisor,
            note=note,
            asked_by="harness",
            effort=call.effort,
        )
        return note


def proven_changes(version: Version, report: CheckedReport, guidance: Guidance) -> tuple[str, ...]:
    """The ids of the findings of ``report`` whose drop or lower carries a quote that shows that they are wrong."""
    there = {each.id: each for each in report.findings}
    milder = (each for each in guidance.changes if each.does in ("drop", "lower") and each.finding in there)
    change = version.subject.whole
    proven = (each.finding for each in milder if change.disproves(each.path, each.quote, there[each.finding]))
    return tuple(dict.fromkeys(proven))


def _reply(answer: Guidance | Lost | Refused, raw: str, receipt: Receipt, asked: int) -> ConsultReply:
    """What came back. Under the cap of tokens count a question of ``asked`` characters and the answer.

    The change that stands before the question is no fault of whoever asks, nor is what the advisor reads.
    """
    model, used = receipt.resolved_model, tokens(receipt.usage) or None
    counts = consult_estimate(asked) - consult_estimate(0) + receipt.usage.output_tokens
    if isinstance(answer, Guidance):
        return ConsultReply(True, raw, resolved_model=model, tokens=used, counts=used and counts)
    why = missing_words(answer)
    return ConsultReply(False, reason=why, resolved_model=model, tokens=used, counts=used and counts)


def escalated(dispatch: Dispatch, version: Version, told: AttemptBrief, said: AttemptSaid) -> AttemptSaid:
    """What the executor says after every consult that is due. Raises ``Stop``.

    Without a profile of escalation that is what it said first. A consult that brings no advice does not stop it. One
    that the cap refuses, a conflict that one more question does not settle, advice that stays open, and an executor
    that gives no report after advice send the part to a human, who reads which advice is open.
    """
    paths = [path for file in version.part.shard.files for path in file.paths]
    about = watched(version.briefing.policy, version.row, paths, version.part.of)
    if about is None:
        return said
    return _Escalation(dispatch, version, told, about, said).followed()


@dataclass(slots=True)
class _Advice:
    """One recommendation of an attempt. ``merged`` is with the report that it was given on.

    ``needs_end``: it would change something, so the executor has to say what became of it.
    """

    identity: str
    merged: Merged
    key: str = ""
    needs_end: bool = True
    became: Disposition = "open"


_APPLIED: tuple[Disposition, ...] = ("applied", "applied in part")


def _still_there(report: CheckedReport, put_back: Sequence[str]) -> tuple[str, ...]:
    """Of the findings that were put back those that a proof has not taken away since."""
    there = {each.id for each in report.findings}
    return tuple(each for each in dict.fromkeys(put_back) if each in there)


class _Escalation:
    def __init__(
        self, dispatch: Dispatch, version: Version, told: AttemptBrief, about: Watched, said: AttemptSaid
    ) -> None:
        self._dispatch = dispatch
        self._version = version
        self._told = told
        self._about = about
        self._said = said
        self._consulted: set[ReasonKey] = set()
        self._turns = 1
        self._given: list[_Advice] = []
        self._proven: dict[str, str] = {}
        self._insisted = False

    def followed(self) -> AttemptSaid:
        self._hear(self._said.consults)
        while self._settles():
            reasons = reasons_to_consult(self._about, self._said.turn, self._consulted)
            if not reasons or not self._consults(reasons):
                break
        alone = self._said.advisor_alone or left_to_the_advisor(self._about, self._said.consults)
        self._said = replace(self._said, advisor_alone=alone)
        self._leaves_open()
        return self._said

    # --- a consult ---

    def _consults(self, reasons: Sequence[Reason]) -> bool:
        """Hold a consult, and let the executor go on. False: nobody is asked any more in this attempt."""
        self._consulted.update(reason.key for reason in reasons)
        contested: _Advice | None = None
        while True:
            note, number = self._asked(reasons, contested)
            if note is None:
                return False
            if stop_signal([note]):
                self._hear([note])
                return False
            if note.guidance is None:
                return contested is None or self._halts("the reconciling question brought no answer")
            advice, repeated = self._merged(note, number)
            if repeated:
                return self._halts(f"the same advice was given twice and not applied: {note.guidance.action}")
            if contested is not None and not advice.merged.conflict:
                advice.needs_end = True
                if not settles(contested.merged, advice.merged):
                    return self._halts(
                        "the advisor neither takes back nor repeats what it contradicts the executor in:"
                        f" {contested.merged.conflict}"
                    )
            if not advice.merged.conflict:
                self._turns += 1
                return self._goes_on(go_on_ask, [reason.detail for reason in reasons])
            if contested is not None:
                return self._halts(f"the executor and the advisor contradict one another: {advice.merged.conflict}")
            reasons = [Reason(ReasonKind.RECONCILE, advice.identity, advice.merged.conflict)]
            contested = advice

    def _asked(self, reasons: Sequence[Reason], contested: _Advice | None) -> tuple[ConsultNote | None, int]:
        """The advisor's answer and its call; None where the consult is refused.

        Nobody decides a conflict alone, so a refused question about ``contested`` advice always calls a person.
        """
        consult = HarnessConsult(self._dispatch, self._version, self._told, self._said, reasons)
        refused = no_turn_left(self._about, self._turns) or consult.leave()
        alone = consult.at_cap and self._about.rules.handoff == "advisor_only" and contested is None
        self._record(
            Escalated,
            self._said.number,
            report=self._said.report,
            reasons=tuple(reasons),
            state=state_digest(self._version.tree or "", self._said.report),
            refused=refused,
            advisor_alone=alone,
        )
        if refused:
            halted = None if alone else refused_request(reasons, refused)
            self._said = replace(self._said, halted=halted, advisor_alone=alone)
            return None, 0
        if contested is not None:
            self._dispose(contested, "superseded", "one more question was asked")
        note = consult.advice()
        self._said = replace(self._said, consults=(*self._said.consults, note))
        return note, consult.number

    def _merged(self, note: ConsultNote, number: int) -> tuple[_Advice, bool]:
        if note.guidance is None:
            raise AssertionError("only guidance can be merged")
        proven = proven_changes(self._version, self._said.report, note.guidance)
        brought = self._version.believed(note.guidance.findings, Role.MID_FLIGHT.advisor)
        merged = merge_recommendations(self._said.report, note.guidance, self._about, proven, brought)
        key = same_advice(note.guidance)
        advice = _Advice(f"r{len(self._given) + 1}", merged, key, note.guidance.changes_something)
        self._given.append(advice)
        self._said = replace(self._said, report=with_advice(self._said.report, merged))
        self._proven |= proven_milder(merged, proven)
        repeated = key in (*self._told.unapplied, *self._said.unapplied)
        self._record(
            Recommended, number, recommendation=advice.identity, merged=merged, proven=proven, repeated=repeated
        )
        return advice, repeated

    # --- what becomes of the advice ---

    def _hear(self, notes: Sequence[ConsultNote]) -> None:
        """Take in what the advisor said to questions of the executor's own, of which only its word tells."""
        plain = Merged(self._said.report.verdict, ())
        for note in notes:
            if note.guidance is not None:
                name, changes = f"r{len(self._given) + 1}", note.guidance.changes_something
                self._given.append(_Advice(name, plain, needs_end=changes))

    def _settles(self) -> bool:
        """Whether every recommendation has come to an end; what is open is asked once."""
        if stop_signal(self._said.consults) or refused_question(self._about, self._said.consults):
            return False
        while self._said.halted is None:
            still = [each for each in self._given if each.became == "open"]
            for each in still:
                became, why = disposition_of(each.identity, each.merged, self._said.report, self._said.dispositions)
                if became == "open" and not each.needs_end:
                    became = "not stated"
                if became != "open":
                    self._dispose(each, became, why)
            still = [each for each in still if each.became == "open"]
            if not still:
                return True
            names = tuple(each.identity for each in still)
            if self._insisted:
                return self._halts("the executor does not say what became of the advice")
            self._insisted = True
            self._record(AdviceOpen, self._said.number, report=self._said.report, recommendations=names)
            self._goes_on(open_ask, names)
        return False

    def _dispose(self, advice: _Advice, became: Disposition, why: str) -> None:
        advice.became = became
        self._record(Disposed, self._said.number, recommendation=advice.identity, disposition=became, reason=why)
        if became in UNAPPLIED and advice.key:
            self._said = replace(self._said, unapplied=(*self._said.unapplied, advice.key))

    def _leaves_open(self) -> None:
        """Tell the person whom a halt calls which advice it overtook."""
        left = [each for each in self._given if each.became == "open"]
        if not left:
            return
        for each in left:
            self._dispose(each, "open", "a person decides first")
        why = self._said.halted or self._version.halt(self._said.consults)
        names = ", ".join(each.identity for each in left)
        self._halts(f"{why} (open advice: {names})")

    # --- the executor's next turn ---

    def _goes_on(self, ask: Callable[[AgentCall, Sequence[str], str], AgentCall], words: Sequence[str]) -> bool:
        """A fresh call of the same attempt, with the report and all guidance so far. False: there is no report."""
        said, told, version = self._said, self._told, self._version
        question = replace(told, before=said.report, consults=told.consults + said.consults).ask(version)
        asked = self._dispatch.ask(ask(question, words, version.briefing.nonce), ReviewReport)
        consults = said.consults + asked.consults
        if not isinstance(asked.answer, ReviewReport):
            why = f"the executor gave no report after the advice ({missing_words(asked.answer)})"
            self._said = replace(said, consults=consults)
            self._hear(asked.consults)
            return self._halts(why)
        checked = version.check(asked.answer, disagreement_ids(told.attempts))
        overridden = overridden_in(asked.answer.dispositions)
        holding = (
            each
            for each in self._given
            if each.became in _APPLIED or (each.became == "open" and each.identity not in overridden)
        )
        held = held_by_advice(each.merged for each in holding)
        kept = after_advice(said.report, checked, self._proven, held)
        turned = said.turned or (said.report.verdict, kept.report.verdict) == ("reject", "approve")
        self._said = replace(
            said,
            report=kept.report,
            number=asked.number,
            consults=consults,
            receipt=asked.receipt,
            turned=turned,
            put_back=_still_there(kept.report, (*said.put_back, *kept.put_back)),
            dispositions=asked.answer.dispositions,
        )
        self._hear(asked.consults)
        unfounded = kept.report.unfounded
        if unfounded is not None:
            return self._halts(f"after the advice the executor rejects without a finding: {unfounded}")
        return True

    def _halts(self, why: str) -> bool:
        self._said = replace(self._said, halted=why)
        return False

    def _record(self, event: type[Escalated | Recommended | AdviceOpen | Disposed], number: int, **facts: Any) -> None:
        version, attempt = self._version, len(self._told.attempts)
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
            told = AttemptBrief(plan, attempts, before, consults, unapplied)
            with repairs.editable(version, attempts) as editable:
                asked = self._dispatch.ask(told.ask(version, editable), ReviewReport)
                if not isinstance(asked.answer, ReviewReport):
                    return len(attempts), unread(asked.answer)
                latest = repairs.read_back(version, editable, len(attempts))
            checked = latest.check(asked.answer, disagreement_ids(attempts))
            stated = asked.answer.dispositions
            said = AttemptSaid(checked, asked.number, asked.consults, receipt=asked.receipt, dispositions=stated)
            if said.report.unfounded is not None:
                said = self._asked_for_a_finding(latest, told, said)
            said = escalated(self._dispatch, latest, told, said)
            report = said.report
            self._dispatch.record_step(
                Reported, row, part, len(attempts), number=said.number, report=report, put_back=said.put_back
            )
            unopened = partial(unopened_pictures, row, pictures, said.receipt.opened)
            if said.halted is not None:
                return len(attempts), replace(halted(said.halted), unopened=unopened(()))
            unchanged = nothing_changed(before, report, same_diff=latest.tree == version.tree)
            version = latest
            turned = flipped(alone, report, len(attempts)) if alone is not None else None
            halt = version.halt(said.consults) or turned or unchanged
            if halt is not None:
                return len(attempts), replace(halted(halt), unopened=unopened(()))
            ruling, judged = self._post_verify(judges, version, plan, report, attempts, said=said)
            if ruling.move is not Move.RETRY or judged is None:
                ending = ruled(ruling, report, attempts, version.briefing.repair, judged=judged)
                return len(attempts), replace(ending, unopened=unopened(judges.heard))
            attempts += (judged,)
            consults += said.consults
            unapplied += said.unapplied
            before = report

    def _asked_for_a_finding(self, version: Version, told: AttemptBrief, first: AttemptSaid) -> AttemptSaid:
        """What the executor says when it is asked once more, after a rejection without a finding that stands."""
        row, part, attempt = version.row, version.part, len(told.attempts)
        self._dispatch.record_step(UnfoundedRejection, row, part, attempt, number=first.number, report=first.report)
        question = replace(told, consults=told.consults + first.consults).ask(version)
        call = finding_ask(question, first.number, first.report, version.briefing.nonce)
        asked = self._dispatch.ask(call, ReviewReport)
        consults = first.consults + asked.consults
        if not isinstance(asked.answer, ReviewReport):
            return replace(first, consults=consults, halted=still_unfounded(asked.answer))
        second = version.check(asked.answer, disagreement_ids(told.attempts))
        stated = asked.answer.dispositions
        return AttemptSaid(second, asked.number, consults, still_unfounded(second), asked.receipt, dispositions=stated)

    def _post_verify(
        self,
        judges: PartJudges,
        version: Version,
        plan: ReviewPlan | None,
        report: CheckedReport,
        attempts: tuple[Attempt, ...],
        *,
        said: AttemptSaid | None = None,
    ) -> tuple[Ruling, Attempt | None]:
        """The ruling on the executor's verdict, and the judgement if there was one."""
        row, part = version.row, version.part
        judged: Attempt | None = None
        stands = version.standing(report, attempts)
        if said is not None:
            stands = replace(stands, turned=said.turned, advisor_alone=said.advisor_alone)
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
