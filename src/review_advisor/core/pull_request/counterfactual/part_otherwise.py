"""One part of a stored review, decided once more under other rules from its own answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.outcome.events import PartEnded, PolicyFrozen, Ruled
from review_advisor.core.outcome.replay import PartReplay
from review_advisor.core.outcome.replayed.replayed_advice import NOT_ADVISED, ReplayedAdvice, Unsound
from review_advisor.core.outcome.replayed.steps_in_order import CutShort
from review_advisor.core.outcome.rulings import Disabled, Move, Ruling, rule, rule_panel, standing
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.pull_request.counterfactual.other_rules import OtherRules
from review_advisor.core.roles.transcript import Attempt

Kind = TypeVar("Kind", bound=Step)
STOPPED_ELSEWHERE = "the review was stopped, and would have gone another way"


class WouldAsk(Exception):  # noqa: N818 (what is found, and no error)
    """A question would have been asked to which the events have no answer; its words say which."""


class PartOtherwise(PartReplay):
    """Plays one part until its decisions part from what was recorded.

    ``events`` has what still happens, by the identity of the event that it stands for. What is not in it does not.
    """

    def __init__(
        self, first: PolicyFrozen, row: SurfacePolicy, other: OtherRules, steps: Sequence[Step], *, stopped: bool
    ) -> None:
        super().__init__(first, row, steps, stopped=stopped)
        self._other = other
        self._end = next((each for each in steps if isinstance(each, PartEnded)), None)
        self.events: dict[int, Step] = {}
        self.changed = False

    def otherwise(self) -> PartEnded | None:
        """How the part ends under the other rules; None where a stop came first.

        Raises ``WouldAsk``, and ``Unsound`` for events that no review of this version has.
        """
        try:
            ending = self._ending()
        except CutShort:
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
            return end
        told = PartEnded(
            at=end.at,
            surface=end.surface,
            shard=end.shard,
            attempt=self._attempt,
            outcome=ending.outcome,
            because=ending.because,
            read=ending.read,
            degraded=ending.degraded,
            recovered=ending.recovered,
            exhausted=ending.exhausted,
            repaired=ending.repaired,
        )
        self.events[id(end)] = told
        return told

    def _take(self, kind: type[Kind]) -> Kind:
        told = super()._take(kind)
        self.events[id(told)] = told
        return told

    def _ruled(
        self, report: CheckedReport, attempts: tuple[Attempt, ...], advised: ReplayedAdvice = NOT_ADVISED
    ) -> tuple[Ruling, Attempt | None]:
        told, judged = super()._ruled(report, attempts, advised)
        policy = self._other.policy(self._policy, self._first.shards)
        at = standing(policy, self._other.row(policy, self._row), report.verdict, attempts)
        at = replace(at, turned=advised.turned, advisor_alone=advised.alone)
        switch = self._row.roles[Role.POST_VERIFY].disabled_by
        due = rule(at, Disabled(switch)) if switch is not None else rule_panel(at, self._members)[0]
        if due.move is Move.RETRY and told.move is not Move.RETRY:
            raise WouldAsk("a retry would have been asked: nobody knows its answer")
        if due == told:
            return told, judged
        place, event = next((at, each) for at, each in reversed(self.events.items()) if isinstance(each, Ruled))
        self.events[place] = replace(event, ruling=due)
        self.changed = self.changed or due.move is not told.move or due.degraded is not told.degraded
        self.changed = self.changed or (due.exhausted, due.verdict) != (told.exhausted, told.verdict)
        return due, judged
