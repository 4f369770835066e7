"""One part of a surface played again from its own events: in which order they can stand, and how the part must end.

It calls the functions by which the review itself decides, so whatever they come to is what the events must say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.council.panel import MemberAnswer
from review_advisor.core.facts.repair_edits import RepairState
from review_advisor.core.outcome.blocking import after_challenges, to_challenge
from review_advisor.core.outcome.ends import (
    PartEnding,
    flipped,
    halted,
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
from review_advisor.core.outcome.events import (
    BlindJudged,
    KnowledgeStored,
    Opined,
    PartEnded,
    Planned,
    PolicyFrozen,
    Repaired,
    Reported,
    RoleSkipped,
    Ruled,
    UnfoundedRejection,
    Verified,
)
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.replayed.replayed_advice import (
    NOT_ADVISED,
    ReplayedAdvice,
    watched_in,
)
from review_advisor.core.outcome.replayed.replayed_judges import ReplayedJudges
from review_advisor.core.outcome.replayed.replayed_repair import calls_a_person, weighed
from review_advisor.core.outcome.replayed.steps_in_order import OUT_OF_PLACE, CutShort, StepsInOrder, Unsound, require
from review_advisor.core.outcome.rulings import Disabled, Move, Ruling, Standing, rule, rule_panel, standing
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Disposed, Escalated, Recommended
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS, PreFlightRule, Role
from review_advisor.core.roles.calls import Lost
from review_advisor.core.roles.mid_flight import stop_signal
from review_advisor.core.roles.repair_law import may_repair
from review_advisor.core.roles.surface_inputs import SURFACE_INPUTS
from review_advisor.core.roles.transcript import Attempt

_NOT_ASKED_AGAIN = "a rejection without a finding that stands was not asked again"


class PartReplay(StepsInOrder):
    """Plays one part again. ``stopped``: a stop ended the review, so that the events may end anywhere."""

    def __init__(self, first: PolicyFrozen, row: SurfacePolicy, steps: Sequence[Step], *, stopped: bool) -> None:
        self._first = first
        self._head = (first.policy, row)
        self._policy, self._row = self._head
        self._looks = SURFACE_INPUTS[row.surface]
        super().__init__(steps, stopped=stopped)
        self._shard = steps[0].shard
        self._repair, self._tree = RepairState(), ""
        self._members: list[MemberAnswer] = []
        self._counted: Sequence[MemberAnswer] = ()
        """The members whose answers the latest ruling rests on."""
        self._judges = ReplayedJudges(self)

    def ended(self) -> PartEnded | None:
        """The part's end, which is the one that its events lead to; None where a stop came first.

        Raises ``Unsound``.
        """
        try:
            ending = self._ending()
            told = self.take(PartEnded)
        except CutShort:
            return None
        led_to = asdict(replace(ending, because=told.because))
        said = {name: getattr(told, name) for name in led_to}
        require(said == led_to, "the end of a part does not follow from its events")
        stored = self._every(KnowledgeStored)
        require(len({each.name for each in stored}) == len(stored), "a knowledge entry is stored twice")
        leave = told.outcome is Outcome.APPROVED and self._looks.stores
        require(not stored or leave, "a knowledge entry is stored although the part was not approved")
        require(not self._steps, "a part has events after its end")
        return told

    def _ending(self) -> PartEnding:
        if self._looks.checks_itself and isinstance(self._next(), Reported):
            ending = self._checked()
        else:
            self._planned()
            if not self._row.roles[Role.MID_FLIGHT].runs:
                self._skipped(Role.MID_FLIGHT)
            blind = self._blind()
            ending = self._attempts(blind if isinstance(blind, CheckedReport) else None)
            if isinstance(blind, Lost | Refused):
                ending = unseen_blind(ending, blind, guarded=self._head[0].guard.holds)
        self._judges.voices(self._policy.roster.voices)
        if ending.read and self.turn is not None:
            unopened = unopened_pictures(self._row, self._first.pictures, self.turn.opened, self._counted)
            ending = replace(ending, unopened=unopened)
        return never_approved(ending, self._looks.unread(self._first.pictures) + unopened_words(ending.unopened))

    # --- before the loop ---

    def _checked(self) -> PartEnding:
        """Our own check in the place of an executor. A judge has its say where a ruling follows."""
        told = self.take(Reported)
        require(told.structural and self._shard == 0, "a report has no call that made it")
        if isinstance(self._next(), PartEnded):
            return settled(told.report)
        ruling, judged = self._ruled(told.report, ())
        return ruled(ruling, told.report, (), judged=judged)

    def _planned(self) -> None:
        """The plan for all parts, which is made before the first one."""
        if self._shard != 0 or SURFACE_DEFAULTS[self._row.surface].pre_flight is PreFlightRule.REUSE:
            return
        if not self._row.roles[Role.PRE_FLIGHT].runs:
            self._skipped(Role.PRE_FLIGHT)
            return
        if self.asked(Role.PRE_FLIGHT) is None:
            self.take(Planned)
        for advisor in self._policy.roster.opening:
            if self.asked(Role.PRE_FLIGHT, advisor=advisor.id) is None:
                self.take(Opined)

    def _blind(self) -> CheckedReport | Lost | Refused | None:
        if not self._policy.blind.runs or not self._looks.stands_alone:
            return None
        missing = self.asked(Role.EXECUTOR, blind=True)
        told = self.take(BlindJudged)
        require((told.report is None) is (missing is not None), "the blind judgement does not fit its call's answer")
        return told.report or missing

    # --- the loop ---

    def _attempts(self, alone: CheckedReport | None) -> PartEnding:
        attempts: tuple[Attempt, ...] = ()
        before: CheckedReport | None = None
        unapplied: set[str] = set()
        while True:
            self._attempt = len(attempts)
            missing = self.asked(Role.EXECUTOR)
            if missing is not None:
                return unread(missing)
            tree = self._tree
            self._repaired(attempts)
            insisted = self._asked_for_a_finding()
            self._may_be_cut_short()
            first = self._next_but(Disposed)
            if isinstance(first, Escalated | AdviceOpen | Reported):
                require(insisted is not None or first.report.unfounded is None, _NOT_ASKED_AGAIN)
            still = insisted and self._still_unfounded(*insisted, first)
            about = watched_in(self._first, self._policy, self._row, self._shard)
            advised = ReplayedAdvice(about, self._tree, unapplied)
            advised.halts = bool(still)
            told = self._escalated(advised)
            require(not told.structural, "a model's report is marked as the bot's own structural check")
            if still or advised.halts:
                return halted(still or "")
            self._may_be_cut_short()
            if self._is_over():
                require(self._may_halt(alone, before, told.report, tree), "a report that needs a judgement has none")
                return halted("")
            require(
                not self._must_halt(alone, before, told.report, tree),
                "a report was judged although the review had to stop and call a person",
            )
            ruling, judged = self._ruled(told.report, attempts, advised)
            if ruling.move is not Move.RETRY or judged is None:
                ending = ruled(ruling, told.report, attempts, self._repair, judged=judged)
                due = to_challenge(self._policy, self._row, told.report, ending, judged)
                return after_challenges(self._policy, told.report, ending, judged, self._judges.challenges(due))
            attempts += (judged,)
            before = told.report

    def _asked_for_a_finding(self) -> tuple[UnfoundedRejection, Lost | Refused | None] | None:
        """A rejection without a finding that stands, and why the second question got no report; None for neither."""
        if not isinstance(self._next(), UnfoundedRejection):
            return None
        told = self.take(UnfoundedRejection)
        require(told.report.unfounded is not None, "a report was asked again although nothing was wrong with it")
        self._may_be_cut_short()
        require(self._is_asked_again(told), _NOT_ASKED_AGAIN)
        return told, self.asked(Role.EXECUTOR, after=self.consults)

    def _escalated(self, advised: ReplayedAdvice) -> Reported:
        """The attempt's report, after every consult of the harness that was due before it."""
        while not advised.halts:
            self._disposed(advised)
            if isinstance(self._next(), AdviceOpen):
                advised.is_open(self.take(AdviceOpen))
                advised.goes_on(with_report=self.asked(Role.EXECUTOR, after=self.consults) is None)
            elif not isinstance(self._next(), Escalated) or not self._consulted(advised):
                break
        self._disposed(advised)
        report = self.take(Reported)
        advised.ends(report, self.turn, self.consults)
        return report

    def _disposed(self, advised: ReplayedAdvice) -> None:
        for each in self._every(Disposed):
            advised.disposed(each)

    def _consulted(self, advised: ReplayedAdvice) -> bool:
        """One consult of the harness; False where nobody is asked any more after it."""
        told = self.take(Escalated)
        advised.due(told, self.turn)
        if told.refused:
            return False
        self._disposed(advised)
        self.asked(Role.MID_FLIGHT, after=self.consults)
        self._may_be_cut_short()
        require(bool(self.consults), "a consult of the harness is not recorded")
        note = self.consults[-1]
        if stop_signal([note]):
            advised.stops()
            return False
        if note.guidance is None:
            advised.unanswered()
            return True
        advised.recommended(merged := self.take(Recommended), note.guidance)
        if not (merged.merged.conflict or advised.halts):
            advised.goes_on(with_report=self.asked(Role.EXECUTOR, after=self.consults) is None)
        return True

    def _still_unfounded(
        self, first: UnfoundedRejection, missing: Lost | Refused | None, told: Step | None
    ) -> str | None:
        if not isinstance(told, Escalated | AdviceOpen | Reported):
            raise Unsound(OUT_OF_PLACE)
        due = (self.answered_by, told.report) if missing is None else (first.number, first.report)
        require((told.number, told.report) == due, "a report is not the one that the second question brought")
        return still_unfounded(missing or told.report)

    def _must_halt(
        self, alone: CheckedReport | None, before: CheckedReport | None, report: CheckedReport, tree: str
    ) -> bool:
        turned = alone is not None and flipped(alone, report, self._attempt)
        same = nothing_changed(before, report, same_diff=tree == self._tree)
        place = (self._policy, self._row, self._shard)
        told = calls_a_person(self._first, *place, self._tree, consults=self.consults)
        return bool(told or turned or same)

    def _may_halt(
        self, alone: CheckedReport | None, before: CheckedReport | None, report: CheckedReport, tree: str
    ) -> bool:
        """Also for any question that the consult cap refused: which files it is about, the events may not tell."""
        denied = any(each.status == "denied" for each in self.consults)
        return self._must_halt(alone, before, report, tree) or (
            denied and self._policy.blast.radius is BlastRadius.HIGH
        )

    def _repaired(self, attempts: tuple[Attempt, ...]) -> None:
        self._repair = replace(self._repair, refused=())
        if not isinstance(self._next(), Repaired):
            return
        told = self.take(Repaired)
        require(
            may_repair(self._policy, self._row.surface, attempts), "a repair was made that the policy does not allow"
        )
        match told.result:
            case "refused":
                require(bool(told.refused), "a refused repair does not name the paths that it was refused for")
                self._repair = replace(self._repair, refused=told.refused)
            case "withdrawn":
                self._repair, self._tree = RepairState(), ""
                self._policy, self._row = self._head
            case "accepted":
                whole = bool(told.patch and told.tree and told.files)
                require(whole, "an accepted repair has no patch, no tree or no files")
                self._repair, self._tree = RepairState(told.patch), told.tree
                self._policy, self._row = weighed(*self._head, told)

    def _ruled(
        self, report: CheckedReport, attempts: tuple[Attempt, ...], advised: ReplayedAdvice = NOT_ADVISED
    ) -> tuple[Ruling, Attempt | None]:
        """The ruling, which is the one that the answer leads to, and the judgement if there was one."""
        judged = None
        stands = standing(self._policy, self._row, report.verdict, attempts)
        at = replace(stands, turned=advised.turned, advisor_alone=advised.alone)
        switch = self._row.roles[Role.POST_VERIFY].disabled_by
        if switch is not None:
            self._skipped(Role.POST_VERIFY)
            due = rule(at, Disabled(switch))
        else:
            due, judged = self._by_the_judges(at, report)
            self._counted = self._members
        told = self.take(Ruled).ruling
        said = (told.move, told.degraded, told.exhausted, told.verdict)
        require(
            said == (due.move, due.degraded, due.exhausted, due.verdict),
            "a ruling does not follow from the answer of the judge",
        )
        return told, judged

    def _by_the_judges(self, at: Standing, report: CheckedReport) -> tuple[Ruling, Attempt | None]:
        """The ruling that the answers of the panel lead to, and their one judgement if there was one."""
        panel, model = self._policy.roster.panel, self._row.advisor_model
        told: Attempt | None = None
        if len(panel) == 1:
            alone, told = self._judges.alone(panel[0], model)
            self._members = [alone]
        else:
            self._members = [self._judges.member(each, model, self._tree) for each in panel]
        due, joint = rule_panel(at, self._members)
        if joint is None:
            return due, None
        judged = told or self.take(Verified).judged
        about = (judged.number, judged.executor_verdict, judged.executor_summary)
        require(
            about == (self._attempt, report.verdict, report.summary),
            "a judgement is about another report than the last one",
        )
        require(judged.result == joint, "the judgement of a council does not follow from its votes")
        return due, judged

    def _skipped(self, role: Role) -> None:
        told, decision = self.take(RoleSkipped), self._row.roles[role]
        said = (told.role, told.because, told.disabled_by)
        require(
            said == (role, decision.because, decision.disabled_by),
            "a role was skipped for another reason than the policy gives",
        )
