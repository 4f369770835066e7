"""The self-repairing loop of ADR-0059, over one part of a surface.

alone   <- executor, shown the diff and nothing that is said about it, if that is switched on
loop:   report <- executor, which may consult mid-flight; a rejection without a finding that stands is asked once more
        answer <- post-verify
        ruling <- accept | retry with the full transcript | escalate to a human
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial

from review_advisor.core.answers.answers import ReviewPlan, ReviewReport
from review_advisor.core.answers.challenge import Challenge, disproves
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.council.member_calls import refuter_call
from review_advisor.core.outcome.blocking import after_challenges, to_challenge
from review_advisor.core.outcome.ends import (
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
from review_advisor.core.outcome.events import BlindJudged, PartEnded, Reported, Ruled, UnfoundedRejection, Verified
from review_advisor.core.outcome.rulings import Disabled, Move, Ruling, rule, rule_panel
from review_advisor.core.outcome.steps.voteless_events import Challenged
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.advisors import Executor, PostVerifyAdvisor
from review_advisor.core.roles.calls import AgentCall, Lost
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.replies import finding_ask
from review_advisor.core.roles.surface_inputs import SURFACE_INPUTS, Structural
from review_advisor.core.roles.transcript import Attempt, disagreement_ids
from review_advisor.ports.review import Source
from review_advisor.review.council import PartJudges
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.escalating import escalated
from review_advisor.review.repair_session import RepairSession, Version
from review_advisor.review.turns import AttemptBrief, AttemptSaid


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
                ending = replace(ending, unopened=unopened(judges.heard))
                return len(attempts), self._challenged(version, told, report, judged, ending)
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

    def _challenged(
        self,
        version: Version,
        told: AttemptBrief,
        report: CheckedReport,
        judged: Attempt | None,
        ending: PartEnding,
    ) -> PartEnding:
        """The ending once the refuter was asked about what blocks; the same where nobody is to ask it."""
        policy, row = version.briefing.policy, version.row
        findings = to_challenge(policy, row, report, ending, judged)
        if not findings:
            return ending
        judge = PostVerifyAdvisor(version.briefing).call(row, version.part, told.plan, report, told.attempts)
        said = self._dispatch.together(findings, partial(self._challenge, version, judge))
        return after_challenges(policy, report, ending, judged, tuple(each for each in said if each is not None))

    def _challenge(self, version: Version, judge: AgentCall, finding: Finding) -> Challenged | None:
        """What the refuter says of one finding: another voice that tries to disprove it before the rejection is told.

        None where no answer came: the finding stays as it is. ``judge`` is the question of the latest judgement.
        """
        asked = self._dispatch.ask(refuter_call(judge, finding, version.briefing.nonce), Challenge)
        said = asked.answer
        if not isinstance(said, Challenge):
            return None
        return self._dispatch.record_step(
            Challenged,
            version.row,
            version.part,
            judge.attempt,
            number=asked.number,
            finding=finding.id,
            challenge=said,
            proven=disproves(said.path, said.quote, finding, version.subject.whole),
        )

    def _end(self, version: Version, attempt: int, ending: PartEnding) -> PartEnded:
        ending = never_approved(ending, version.part.unread + unopened_words(ending.unopened))
        return self._dispatch.record_step(PartEnded, version.row, version.part, attempt, **asdict(ending))
