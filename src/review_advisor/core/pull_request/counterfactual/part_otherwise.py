"""One part of a stored review, decided once more under other rules from its own answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from typing import TypeVar

from review_advisor.core.answers.answers import PostVerifyResult
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.council.member_calls import asked_as
from review_advisor.core.council.panel import MemberAnswer
from review_advisor.core.escalation.reasons import ReasonKey, Turn, reasons_to_consult
from review_advisor.core.outcome.events import CallEnded, PartEnded, PolicyFrozen, Reported, Ruled, Verified
from review_advisor.core.outcome.replayed.part_replay import PartReplay
from review_advisor.core.outcome.replayed.replayed_advice import NOT_ADVISED, ReplayedAdvice, watched_in
from review_advisor.core.outcome.replayed.steps_in_order import CutShort, Unsound
from review_advisor.core.outcome.rulings import Disabled, Move, Ruling, rule, rule_panel, standing
from review_advisor.core.outcome.steps.advice_events import Escalated
from review_advisor.core.outcome.steps.happened import OfCall, Step
from review_advisor.core.policy.escalation_rules import ReasonKind
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.pull_request.counterfactual.other_roster import counted_by
from review_advisor.core.pull_request.counterfactual.other_rules import OtherRules
from review_advisor.core.pull_request.counterfactual.would_ask import WantedQuestion, WouldAsk, like
from review_advisor.core.roles.transcript import Attempt

Kind = TypeVar("Kind", bound=Step)
STOPPED_ELSEWHERE = "the review was stopped, and would have gone another way"


class PartOtherwise(PartReplay):
    """Plays one part until its decisions part from what was recorded.

    ``events`` has what still happens, by the identity of the event that it stands for. What is not in it does not.
    """

    def __init__(
        self, first: PolicyFrozen, row: SurfacePolicy, other: OtherRules, steps: Sequence[Step], *, stopped: bool
    ) -> None:
        super().__init__(first, row, steps, stopped=stopped)
        self._other = other
        self._recorded = tuple(steps)
        self._end = next((each for each in steps if isinstance(each, PartEnded)), None)
        self._led_to_consults: dict[int, set[ReasonKey]] = {}
        self.events: dict[int, Step] = {}
        self.changed = False

    def otherwise(self) -> PartEnded | None:
        """How the part ends under the other rules; None where a stop came first.

        Raises ``WouldAsk``, and ``Unsound`` for events that no review of this version has.
        """
        gone = self._gone()
        try:
            ending = self._ending()
        except CutShort:
            if gone:
                raise WouldAsk(STOPPED_ELSEWHERE) from None
            return None
        except Unsound:
            if not self.changed:
                raise
            raise WouldAsk("a refuter or an inline member would have been asked about another result") from None
        end = self._end
        if end is None and self.changed:
            raise WouldAsk(STOPPED_ELSEWHERE)
        if end is None:
            raise Unsound("a part has no end")
        if not self.changed:
            self.events |= {id(each): each for each in self._steps}
        self._leave_out(gone)
        if not self.changed:
            return end
        told = replace(end, attempt=self._attempt, **asdict(ending))
        self.events[id(end)] = told
        return told

    def _gone(self) -> frozenset[int]:
        """The calls of judges that the other roster does not ask."""
        now = {asked_as(each) for each in self._other.policy(self._policy, self._first).roster.panel}
        gone = {asked_as(each) for each in self._policy.roster.panel} - now
        calls = (each for each in self._recorded if isinstance(each, CallEnded) and each.role is Role.POST_VERIFY)
        return frozenset(each.number for each in calls if each.advisor in gone)

    def _leave_out(self, numbers: Collection[int]) -> None:
        for place, each in list(self.events.items()):
            if isinstance(each, OfCall) and each.number in numbers:
                del self.events[place]

    def take(self, kind: type[Kind]) -> Kind:
        """The same, kept among what still happens, if it is consulted alike under the other rules."""
        told = super().take(kind)
        self.events[id(told)] = told
        if isinstance(told, Escalated | Reported):
            self._is_consulted_alike(told)
        return told

    def _is_consulted_alike(self, told: Escalated | Reported) -> None:
        """The other thresholds give the same reasons to consult after this turn. Raises ``WouldAsk``."""
        call, known = self.turn, self._led_to_consults.setdefault(told.attempt, set())
        reasons = told.reasons if isinstance(told, Escalated) else ()
        if any(each.kind is ReasonKind.RECONCILE for each in reasons) or call is None or call.number != told.number:
            return
        turn = Turn(told.number, told.report, call.failures_unadvised, call.readings_unadvised)
        rules = (self._policy, self._other.policy(self._policy, self._first))
        watched = (watched_in(self._first, each, self._row, self._shard) for each in rules)
        was, now = (reasons_to_consult(each, turn, known) if each is not None else () for each in watched)
        known.update(each.key for each in reasons)
        if was == now:
            return
        if not was:
            consult = WantedQuestion(Role.MID_FLIGHT, self._row.advisor_model, 0, call.at.date())
            asked = (consult, *self._asked_like(Role.EXECUTOR))
            raise WouldAsk("a consult would have been due, for a confidence below the threshold", asked)
        if not now:
            why = "a consult would not have been due, and the report was made with its advice"
            raise WouldAsk(why, self._asked_like(Role.POST_VERIFY))
        raise WouldAsk("a consult would have given other reasons", self._asked_like(Role.MID_FLIGHT, Role.EXECUTOR))

    def _ruled(
        self, report: CheckedReport, attempts: tuple[Attempt, ...], advised: ReplayedAdvice = NOT_ADVISED
    ) -> tuple[Ruling, Attempt | None]:
        told, judged = super()._ruled(report, attempts, advised)
        policy = self._other.policy(self._policy, self._first)
        at = standing(policy, self._other.row(policy, self._row), report.verdict, attempts)
        at = replace(at, turned=advised.turned, advisor_alone=advised.alone)
        switch = self._row.roles[Role.POST_VERIFY].disabled_by
        members: list[MemberAnswer] = []
        if switch is not None:
            due, joint = rule(at, Disabled(switch)), None
        else:
            members = counted_by(self._members, policy.roster, self._asked_like(Role.POST_VERIFY))
            due, joint = rule_panel(at, members)
        self._counted = members
        if due.move is Move.RETRY and told.move is not Move.RETRY:
            again = self._asked_like(Role.EXECUTOR, Role.POST_VERIFY)
            raise WouldAsk("a retry would have been asked, and its answer is unknown", again)
        now = self._judged_by(members, joint, judged)
        if due.move is Move.RETRY and now != judged:
            raise WouldAsk("a retry would have been handed another judgement", self._asked_like(Role.EXECUTOR))
        self._tell(told, due, judged, now)
        return due, now

    def _judged_by(
        self, members: Sequence[MemberAnswer], joint: PostVerifyResult | None, judged: Attempt | None
    ) -> Attempt | None:
        """The judgement that the other roster's votes come to, with the replies of those who are asked in it."""
        if judged is None or joint is None:
            return None
        if {each.advisor.id for each in self._members} == {each.advisor.id for each in members}:
            return replace(judged, result=joint)
        return replace(judged, result=joint, raw=_of_members(judged.raw, [each.advisor.id for each in members]))

    def _tell(self, told: Ruling, due: Ruling, judged: Attempt | None, now: Attempt | None) -> None:
        """Put another judgement and ruling in the place of what was recorded."""
        if now != judged:
            place, verified = self._latest(Verified)
            self.changed = True
            if now is None:
                del self.events[place]
            else:
                self.events[place] = replace(verified, judged=now)
        if due != told:
            place, ruled = self._latest(Ruled)
            self.events[place] = replace(ruled, ruling=due)
            self.changed = self.changed or due.move is not told.move or due.degraded is not told.degraded
            self.changed = self.changed or (due.exhausted, due.verdict) != (told.exhausted, told.verdict)

    def _latest(self, kind: type[Kind]) -> tuple[int, Kind]:
        return next((at, each) for at, each in reversed(self.events.items()) if isinstance(each, kind))

    def _asked_like(self, *roles: Role) -> tuple[WantedQuestion, ...]:
        """Questions like those of the present attempt."""
        calls = (each for each in self._recorded if isinstance(each, CallEnded) and each.attempt == self._attempt)
        return like(calls, *roles)


def _of_members(raw: str, ids: Sequence[str]) -> str:
    """Of the replies of a council those of these members, as the council's own judgement tells them."""
    try:
        said = json.loads(raw)
    except ValueError:
        return raw
    return json.dumps({each: said[each] for each in ids if each in said}) if isinstance(said, dict) else raw
