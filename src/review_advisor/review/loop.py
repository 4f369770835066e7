"""The self-repairing loop of ADR-0059, over one part of a surface.

alone   <- executor, shown the diff and nothing that is said about it, if that is switched on
loop:   report <- executor, which may consult mid-flight; a rejection without a finding that stands is asked once more
        answer <- post-verify
        ruling <- accept | retry with the full transcript | escalate to a human
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from review_advisor.core.answers.answers import PostVerifyResult, ReviewPlan, ReviewReport
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.outcome.ends import (
    PartEnding,
    flipped,
    halted,
    never_approved,
    nothing_changed,
    ruled,
    settled,
    still_unfounded,
    unread,
    unseen_blind,
)
from review_advisor.core.outcome.events import PartEnded, Reported, Ruled, UnfoundedRejection, Verified
from review_advisor.core.outcome.rulings import Disabled, Move, Ruling, rule
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.advisors import EditableTree, Executor, PostVerifyAdvisor
from review_advisor.core.roles.calls import AgentCall, Lost
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.replies import finding_ask
from review_advisor.core.roles.surface_inputs import Structural
from review_advisor.core.roles.transcript import Attempt, disagreement_ids
from review_advisor.ports.review import Source
from review_advisor.review.blind import judged_blind
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.outages import asked_through_outage
from review_advisor.review.repair_session import RepairSession, Version


@dataclass(frozen=True, slots=True)
class _Told:
    """What the executor is told beside the change when an attempt begins."""

    plan: ReviewPlan | None
    attempts: tuple[Attempt, ...]
    before: CheckedReport | None
    consults: tuple[ConsultNote, ...]

    def ask(self, version: Version, editable: EditableTree | None = None) -> AgentCall:
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
class _Said:
    """What the executor said in one attempt. ``still_unfounded``: why its rejection goes to a human as it is."""

    report: CheckedReport
    number: int
    consults: tuple[ConsultNote, ...]
    still_unfounded: str | None = None


class ReviewLoop:
    """How one part is reviewed. It keeps nothing between parts, and several threads may use it."""

    def __init__(self, source: Source, dispatch: Dispatch) -> None:
        self._source = source
        self._dispatch = dispatch

    def review(self, head: Version, plan: ReviewPlan | None) -> PartEnded:
        """Ask about the head at first, and about what a repair made of it after a veto. Raises ``Stop``."""
        row, part = head.row, head.part
        if not row.roles[Role.MID_FLIGHT].runs:
            self._dispatch.record_skipped(Role.MID_FLIGHT, row, part)
        blind = judged_blind(self._dispatch, head)
        alone = blind if isinstance(blind, CheckedReport) else None
        with RepairSession(self._source, self._dispatch, head) as repairs:
            attempt, ending = self._attempts(repairs, head, plan, alone)
        if isinstance(blind, Lost | Refused):
            ending = unseen_blind(ending, blind, guarded=head.briefing.policy.guard.holds)
        return self._end(head, attempt, ending)

    def judge(self, version: Version, found: Structural) -> PartEnded:
        """Our own check stands in for the executor; post-verify is asked where the check does not settle it."""
        self._dispatch.record_step(Reported, version.row, version.part, report=found.report, structural=True)
        if not found.judged:
            return self._end(version, 0, settled(found.report))
        ruling, judged = self._post_verify(version, None, found.report, ())
        return self._end(version, 0, ruled(ruling, found.report, (), judged=judged))

    def _attempts(
        self, repairs: RepairSession, version: Version, plan: ReviewPlan | None, alone: CheckedReport | None
    ) -> tuple[int, PartEnding]:
        """The self-repairing loop: execute, verify, rule; a retry hands back the whole transcript.

        ``alone`` is the report on the diff alone, against which every verdict is held.
        """
        row, part = version.row, version.part
        attempts: tuple[Attempt, ...] = ()
        before: CheckedReport | None = None
        consults: tuple[ConsultNote, ...] = ()
        while True:
            told = _Told(plan, attempts, before, consults)
            with repairs.editable(version, attempts) as editable:
                asked = self._dispatch.ask(told.ask(version, editable), ReviewReport)
                if not isinstance(asked.answer, ReviewReport):
                    return len(attempts), unread(asked.answer)
                latest = repairs.read_back(version, editable, len(attempts))
            said = _Said(latest.check(asked.answer, disagreement_ids(attempts)), asked.number, asked.consults)
            if said.report.unfounded is not None:
                said = self._asked_for_a_finding(latest, told, said)
            report = said.report
            self._dispatch.record_step(Reported, row, part, len(attempts), number=said.number, report=report)
            if said.still_unfounded is not None:
                return len(attempts), halted(said.still_unfounded)
            unchanged = nothing_changed(before, report, same_diff=latest.tree == version.tree)
            version = latest
            turned = flipped(alone, report, len(attempts)) if alone is not None else None
            halt = version.halt(said.consults) or turned or unchanged
            if halt is not None:
                return len(attempts), halted(halt)
            ruling, judged = self._post_verify(version, plan, report, attempts)
            if ruling.move is not Move.RETRY or judged is None:
                return len(attempts), ruled(ruling, report, attempts, version.briefing.repair, judged=judged)
            attempts += (judged,)
            consults += said.consults
            before = report

    def _asked_for_a_finding(self, version: Version, told: _Told, first: _Said) -> _Said:
        """What the executor says when it is asked once more, after a rejection without a finding that stands."""
        row, part, attempt = version.row, version.part, len(told.attempts)
        self._dispatch.record_step(UnfoundedRejection, row, part, attempt, number=first.number, report=first.report)
        question = replace(told, consults=told.consults + first.consults).ask(version)
        call = finding_ask(question, first.number, first.report, version.briefing.nonce)
        asked = self._dispatch.ask(call, ReviewReport)
        consults = first.consults + asked.consults
        if not isinstance(asked.answer, ReviewReport):
            return replace(first, consults=consults, still_unfounded=still_unfounded(asked.answer))
        second = version.check(asked.answer, disagreement_ids(told.attempts))
        return _Said(second, asked.number, consults, still_unfounded(second))

    def _post_verify(
        self, version: Version, plan: ReviewPlan | None, report: CheckedReport, attempts: tuple[Attempt, ...]
    ) -> tuple[Ruling, Attempt | None]:
        """The ruling on the executor's verdict, and the judgement if there was one."""
        row, part = version.row, version.part
        answer: PostVerifyResult | Lost | Refused | Disabled
        judged: Attempt | None = None
        fallback = ""
        switch = row.roles[Role.POST_VERIFY].disabled_by
        if switch is not None:
            self._dispatch.record_skipped(Role.POST_VERIFY, row, part)
            answer = Disabled(switch)
        else:
            call = PostVerifyAdvisor(version.briefing).call(row, part, plan, report, attempts)
            asked = asked_through_outage(self._dispatch, call, PostVerifyResult, version.briefing.policy.outage)
            answer = asked.answer
            fallback = "" if asked.model == row.advisor_model else asked.model
            if isinstance(answer, PostVerifyResult):
                judged = Attempt(len(attempts), report.verdict, report.summary, answer, asked.raw)
                self._dispatch.record_step(Verified, row, part, len(attempts), number=asked.number, judged=judged)
        ruling = rule(version.standing(report, attempts), answer, fallback)
        self._dispatch.record_step(Ruled, row, part, len(attempts), ruling=ruling)
        return ruling, judged

    def _end(self, version: Version, attempt: int, ending: PartEnding) -> PartEnded:
        row, part = version.row, version.part
        ending = never_approved(ending, part.unread)
        ended = PartEnded(
            at=self._dispatch.now(),
            surface=row.surface,
            attempt=attempt,
            shard=part.shard.index,
            outcome=ending.outcome,
            because=ending.because,
            read=ending.read,
            degraded=ending.degraded,
            recovered=ending.recovered,
            exhausted=ending.exhausted,
            repaired=ending.repaired,
        )
        self._dispatch.record(ended)
        return ended
