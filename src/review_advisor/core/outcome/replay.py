"""One part of a surface played again from its own events: in which order they can stand, and how the part must end.

It calls the functions by which the review itself decides, so whatever they come to is what the events must say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, get_args

from review_advisor.core.answers.answers import PostVerifyResult
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.facts.repair_edits import RepairState
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
from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    KnowledgeStored,
    PartEnded,
    Planned,
    PolicyFrozen,
    Repaired,
    Reported,
    RoleSkipped,
    Ruled,
    Step,
    UnfoundedRejection,
    Verified,
)
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.rulings import Disabled, Move, Ruling, rule, standing
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.budgets import RefusalReason, Refused, surface_retry_budget
from review_advisor.core.policy.policy import Policy, SurfacePolicy
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS, Authority, PreFlightRule, Role
from review_advisor.core.roles.calls import Lost, LostReason
from review_advisor.core.roles.mid_flight import ConsultNote, stop_signal
from review_advisor.core.roles.repair_law import may_repair
from review_advisor.core.roles.replies import lost_twice
from review_advisor.core.roles.surface_inputs import SURFACE_INPUTS
from review_advisor.core.roles.transcript import Attempt

Kind = TypeVar("Kind", bound=Step)
_RADII = tuple(BlastRadius)
_NOT_ASKED_AGAIN = "a rejection without a finding that stands was not asked again"


class Unsound(Exception):  # noqa: N818 (what the events are)
    """Events that no review of ours leaves. A few words of our own say why."""


class _Cut(Exception):  # noqa: N818 (what happened to the part)
    """The events of the part end here, because a stop ended the review."""


def require(holds: bool, why: str) -> None:  # noqa: FBT001 (it is read as a sentence)
    """Raise ``Unsound`` unless it holds."""
    if not holds:
        raise Unsound(why)


class PartReplay:
    """Plays one part again. ``stopped``: a stop ended the review, so that the events may end anywhere."""

    def __init__(self, first: PolicyFrozen, row: SurfacePolicy, steps: Sequence[Step], *, stopped: bool) -> None:
        self._first = first
        self._head = (first.policy, row)
        self._policy, self._row = self._head
        self._looks = SURFACE_INPUTS[row.surface]
        self._steps = deque(steps)
        self._stopped = stopped
        self._leads = steps[0].shard == 0
        self._attempt = 0
        self._consults: list[ConsultNote] = []
        self._repair = RepairState()
        self._tree = ""
        self._answered_by = 0
        self._answered_as = ""

    def ended(self) -> PartEnded | None:
        """The part's end, which is the one that its events lead to; None where a stop came first.

        Raises ``Unsound``.
        """
        try:
            ending = self._ending()
            told = self._take(PartEnded)
        except _Cut:
            return None
        said = (told.outcome, told.read, told.degraded, told.recovered, told.exhausted, told.repaired)
        led_to = (ending.outcome, ending.read, ending.degraded, ending.recovered, ending.exhausted, ending.repaired)
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
        return never_approved(ending, self._looks.unread(self._first.pictures))

    # --- before the loop ---

    def _checked(self) -> PartEnding:
        """Our own check in the place of an executor. A judge has its say where a ruling follows."""
        told = self._take(Reported)
        require(told.structural and self._leads, "a report has no call that made it")
        if isinstance(self._next(), PartEnded):
            return settled(told.report)
        ruling, judged = self._ruled(told.report, ())
        return ruled(ruling, told.report, (), judged=judged)

    def _planned(self) -> None:
        """The plan for all parts, which is made before the first one."""
        if not self._leads or SURFACE_DEFAULTS[self._row.surface].pre_flight is PreFlightRule.REUSE:
            return
        if not self._row.roles[Role.PRE_FLIGHT].runs:
            self._skipped(Role.PRE_FLIGHT)
        elif self._asked(Role.PRE_FLIGHT) is None:
            self._take(Planned)

    def _blind(self) -> CheckedReport | Lost | Refused | None:
        if not self._policy.blind.runs or not self._looks.stands_alone:
            return None
        missing = self._asked(Role.EXECUTOR, blind=True)
        told = self._take(BlindJudged)
        require(
            (told.report is None) is (missing is not None), "the blind judgement does not match the answer to its call"
        )
        return told.report or missing

    # --- the loop ---

    def _attempts(self, alone: CheckedReport | None) -> PartEnding:
        attempts: tuple[Attempt, ...] = ()
        before: CheckedReport | None = None
        while True:
            self._attempt = len(attempts)
            missing = self._asked(Role.EXECUTOR)
            if missing is not None:
                return unread(missing)
            tree = self._tree
            self._repaired(attempts)
            insisted = self._asked_for_a_finding()
            told = self._take(Reported)
            require(insisted is not None or told.report.unfounded is None, _NOT_ASKED_AGAIN)
            require(not told.structural, "a model's report is marked as the bot's own structural check")
            still = insisted and self._still_unfounded(*insisted, told)
            if still:
                return halted(still)
            if isinstance(self._next(), PartEnded):
                require(self._may_halt(alone, before, told.report, tree), "a report that needs a judgement has none")
                return halted("")
            require(
                not self._must_halt(alone, before, told.report, tree),
                "a report was judged although the review had to stop and call a person",
            )
            ruling, judged = self._ruled(told.report, attempts)
            if ruling.move is not Move.RETRY or judged is None:
                return ruled(ruling, told.report, attempts, self._repair, judged=judged)
            attempts += (judged,)
            before = told.report

    def _asked_for_a_finding(self) -> tuple[UnfoundedRejection, Lost | Refused | None] | None:
        """A rejection without a finding that stands, and why the second question got no report; None for neither."""
        if not isinstance(self._next(), UnfoundedRejection):
            return None
        told = self._take(UnfoundedRejection)
        require(told.report.unfounded is not None, "a report was asked again although nothing was wrong with it")
        require(self._is_asked_again(told), _NOT_ASKED_AGAIN)
        return told, self._asked(Role.EXECUTOR, after=self._consults)

    def _still_unfounded(self, first: UnfoundedRejection, missing: Lost | Refused | None, told: Reported) -> str | None:
        due = (self._answered_by, told.report) if missing is None else (first.number, first.report)
        require((told.number, told.report) == due, "a report is not the one that the second question brought")
        return still_unfounded(missing or told.report)

    def _must_halt(
        self, alone: CheckedReport | None, before: CheckedReport | None, report: CheckedReport, tree: str
    ) -> bool:
        turned = alone is not None and flipped(alone, report, self._attempt)
        same = nothing_changed(before, report, same_diff=tree == self._tree)
        return bool(stop_signal(self._consults) or turned or same)

    def _may_halt(
        self, alone: CheckedReport | None, before: CheckedReport | None, report: CheckedReport, tree: str
    ) -> bool:
        """Also for a question at the consult cap: which files it is about, the events do not say for sure."""
        denied = any(each.status == "denied" for each in self._consults)
        return self._must_halt(alone, before, report, tree) or (
            denied and self._policy.blast.radius is BlastRadius.HIGH
        )

    def _repaired(self, attempts: tuple[Attempt, ...]) -> None:
        self._repair = replace(self._repair, refused=())
        if not isinstance(self._next(), Repaired):
            return
        told = self._take(Repaired)
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
                require(
                    bool(told.patch and told.tree and told.files),
                    "an accepted repair has no patch, no tree or no files",
                )
                self._repair, self._tree = RepairState(told.patch), told.tree
                self._policy, self._row = self._weighed(told)

    def _weighed(self, told: Repaired) -> tuple[Policy, SurfacePolicy]:
        """What holds for the change with the repair in it: nothing that is milder than for the head."""
        policy, row = self._head
        if told.blast is None or told.guard is None:
            raise Unsound("an accepted repair has no blast radius or no guard")
        milder = _RADII.index(told.blast.radius) < _RADII.index(policy.blast.radius)
        milder = milder or not set(policy.guard.paths) <= set(told.guard.paths)
        require(not milder, "a repair lowers the blast radius or takes paths out of the guard")
        authority = Authority.VETO if told.guard.holds else row.authority
        budget = surface_retry_budget(row.surface, told.blast.radius, authority)
        return replace(policy, guard=told.guard, blast=told.blast), replace(
            row, authority=authority, retry_budget=budget
        )

    def _ruled(self, report: CheckedReport, attempts: tuple[Attempt, ...]) -> tuple[Ruling, Attempt | None]:
        """The ruling, which is the one that the answer leads to, and the judgement if there was one."""
        answer: PostVerifyResult | Lost | Refused | Disabled | None
        judged = None
        switch = self._row.roles[Role.POST_VERIFY].disabled_by
        if switch is not None:
            self._skipped(Role.POST_VERIFY)
            answer = Disabled(switch)
        else:
            answer = self._asked(Role.POST_VERIFY)
        if answer is None:
            judged = self._take(Verified).judged
            about = (judged.number, judged.executor_verdict, judged.executor_summary)
            require(
                about == (len(attempts), report.verdict, report.summary),
                "a judgement is about another report than the last one",
            )
            answer = judged.result
        told = self._take(Ruled).ruling
        stands_in = judged is not None and self._answered_as != self._row.advisor_model
        fallback = self._answered_as if stands_in else ""
        due = rule(standing(self._policy, self._row, report.verdict, attempts), answer, fallback)
        said = (told.move, told.degraded, told.exhausted, told.verdict)
        require(
            said == (due.move, due.degraded, due.exhausted, due.verdict),
            "a ruling does not follow from the answer of the judge",
        )
        return told, judged

    # --- the events, in their order ---

    def _asked(self, role: Role, *, blind: bool = False, after: Sequence[ConsultNote] = ()) -> Lost | Refused | None:
        """All calls that ask this question; why there is no answer, or None for one."""
        self._consults = list(after)
        first = self._call(role, blind=blind)
        missing = self._came_to(first)
        while missing is not None and self._is_asked_again(first):
            before, missing = missing, self._came_to(self._call(role, blind=blind))
            if isinstance(before, Lost) and isinstance(missing, Lost):
                missing = lost_twice(before, missing)
        return missing

    def _came_to(self, call: CallEnded) -> Lost | Refused | None:
        """Why a call brought no answer; None for one, whose number and model are known from here on."""
        if call.ended == "stopped":
            require(self._stopped, "a call was stopped but the review went on")
            raise _Cut
        if call.ended != "answered":
            return _missing(call)
        self._answered_by, self._answered_as = call.number, call.requested_model
        return None

    def _is_asked_again(self, first: CallEnded | UnfoundedRejection) -> bool:
        told = self._next()
        return isinstance(told, CallStarted | CallEnded) and told.asks_again == first.number

    def _call(self, role: Role, *, blind: bool) -> CallEnded:
        begun = self._take(CallStarted) if isinstance(self._next(), CallStarted) else None
        told = self._take(CallEnded)
        require((begun is None) is (told.ended == "refused"), "a refused call has a start, or another call has none")
        for each in (begun, told):
            require(
                each is None or (each.role, each.blind) == (role, blind),
                "a call is of another role than the one whose turn it is",
            )
        consults = self._every(Consulted)
        require(all(each.number == told.number for each in consults), "a consult does not follow its own call")
        self._consults += [each.note for each in consults]
        return told

    def _skipped(self, role: Role) -> None:
        told, decision = self._take(RoleSkipped), self._row.roles[role]
        said = (told.role, told.because, told.disabled_by)
        require(
            said == (role, decision.because, decision.disabled_by),
            "a role was skipped for another reason than the policy gives",
        )

    def _next(self) -> Step | None:
        return self._steps[0] if self._steps else None

    def _take(self, kind: type[Kind]) -> Kind:
        """The next event, which has to be of this kind and of the present attempt."""
        told = self._next()
        if told is None and self._stopped:
            raise _Cut
        if not isinstance(told, kind) or told.attempt != self._attempt:
            raise Unsound("an event is missing, appears twice or is out of place")
        self._steps.popleft()
        return told

    def _every(self, kind: type[Kind]) -> list[Kind]:
        found = []
        while isinstance(self._next(), kind):
            found.append(self._take(kind))
        return found


def _missing(call: CallEnded) -> Lost | Refused:
    """What a call without an answer came to."""
    if call.ended == "lost":
        reasons = [each for each in LostReason if each.value == call.reason]
        require(bool(reasons), "a call was lost for a reason that does not exist")
        return Lost(reasons[0], call.detail)
    for reason in get_args(RefusalReason):
        if reason == call.reason:
            return Refused(reason, call.detail)
    raise Unsound("a call was refused for a reason that does not exist")
