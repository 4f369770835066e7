"""What a shadow would have changed in one review, from its events and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from review_advisor.core.ledger.row import Tables, row
from review_advisor.core.outcome.cost import MOST_USD, ShadowCost, counted_money
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.shadow.shadow_events import (
    ShadowAdvised,
    ShadowBegan,
    ShadowCalled,
    ShadowEnded,
    ShadowEvent,
    ShadowReviewed,
    ShadowSaid,
    ShadowStatus,
)

ShadowDecision = Literal["would_veto", "would_pass", "differs", "lost", "agreed"]
"""The weightiest first. ``would_veto`` would have stopped what passed, ``would_pass`` the other way round:

- a judge: it objects to an approval that passed; accepts one to which the review objected; differs on a rejection
- an executor: it rejects what the real one approves; differs: it approves what the real one rejects
- an advisor on consults: it calls a person; calls none where the real one did; differs: it changes something else
- a surface: it objects to a review that approved
- a whole review: it does not approve what was approved; approves what was not; differs: one requests changes, the other
  calls a person

``lost``: an answer of the shadow did not come."""
MOST_TOLD = 10
"""Findings of a shadow alone that its row tells in words; its events have all."""
_WEIGHTIEST_FIRST: tuple[ShadowDecision, ...] = ("would_veto", "would_pass", "differs", "lost", "agreed")


def decision_on(decided: ShadowSaid) -> ShadowDecision:
    """What the shadow would have changed in one part of a surface, or in the whole review."""
    if isinstance(decided, ShadowReviewed):
        return _decision_on_review(decided.real, decided.outcome)
    if isinstance(decided, ShadowAdvised):
        return _decision_on_advice(decided)
    if decided.shadow_objects is None:
        return "lost"
    if decided.shadow_objects is decided.real_objects:
        return "agreed"
    if decided.verdict == "reject":
        return "differs"
    return "would_veto" if decided.shadow_objects else "would_pass"


def _decision_on_review(real: Outcome, outcome: Outcome | None) -> ShadowDecision:
    if outcome is None:
        return "lost"
    if outcome is real:
        return "agreed"
    if real is Outcome.APPROVED:
        return "would_veto"
    return "would_pass" if outcome is Outcome.APPROVED else "differs"


def _decision_on_advice(advised: ShadowAdvised) -> ShadowDecision:
    if advised.stops is None:
        return "lost"
    if advised.stops is not advised.real_stops:
        return "would_veto" if advised.stops else "would_pass"
    return "agreed" if advised.changes == advised.real else "differs"


def shadow_decision(decided: Iterable[ShadowSaid], *, finished: bool) -> ShadowDecision:
    """The same for the review: its weightiest part counts. A shadow that did not reach its end has lost an answer."""
    found = {decision_on(each) for each in decided}
    if not finished or not found:
        found.add("lost")
    return next(each for each in _WEIGHTIEST_FIRST if each in found)


def shadow_cost(events: Sequence[ShadowEvent]) -> ShadowCost:
    """What a shadow counts with, by its events so far; what it may cost while it runs, or if nobody can tell."""
    first, calls, status = _course(events)
    unpriced = sum(call.usage.cost_usd is None for call in calls)
    if status is None:
        return ShadowCost(first.shadow, "running", first.max_usd, len(calls), unpriced)
    money = counted_money(calls)
    usd = max(money.usd, first.max_usd) if money.untold else money.usd
    return ShadowCost(first.shadow, status, round(min(usd, MOST_USD), 4), len(calls), unpriced)


def _course(events: Sequence[ShadowEvent]) -> tuple[ShadowBegan, list[CallEnded], ShadowStatus | None]:
    """How a shadow began, the calls that it made, and how it ended; None while it runs, or where it was killed."""
    first, last = events[0], events[-1]
    if not isinstance(first, ShadowBegan):
        raise TypeError("a shadow's events begin with ShadowBegan")
    calls = [each.call for each in events if isinstance(each, ShadowCalled) and each.call.ended != "refused"]
    return first, calls, last.status if isinstance(last, ShadowEnded) else None


def readings_of_shadow(events: Sequence[ShadowEvent]) -> Tables:
    """The ledger's row of one shadow, by table. Without its end the status is ``unfinished``."""
    first, calls, status = _course(events)
    costs = [call.usage.cost_usd for call in calls if call.usage.cost_usd is not None]
    decided = [each for each in events if isinstance(each, ShadowSaid)]
    reviewed = next((each for each in decided if isinstance(each, ShadowReviewed)), None)
    told = row(
        of_run=first.of_run,
        shadow=first.shadow,
        part=first.part,
        setup=first.setup,
        repository=first.repository,
        pull_request=first.pull_request,
        status=status or "unfinished",
        decision=shadow_decision(decided, finished=status == "finished"),
        missed=sum(len(each.missed) for each in decided if not isinstance(each, ShadowAdvised)),
        calls=len(calls),
        unpriced=len(calls) - len(costs),
        cost_usd=sum(costs),
        outcome="" if reviewed is None or reviewed.outcome is None else reviewed.outcome.value,
        found=0 if reviewed is None else len(reviewed.besides),
        besides="" if reviewed is None else "\n".join(reviewed.besides[:MOST_TOLD]),
    )
    return {"shadows": (told,)}
