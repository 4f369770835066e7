"""What a shadow would have changed in one review, from its events and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from review_advisor.core.ledger.row import Tables, row
from review_advisor.core.outcome.cost import MOST_USD, ShadowCost
from review_advisor.core.shadow.shadow_events import ShadowBegan, ShadowCalled, ShadowDecided, ShadowEnded, ShadowEvent

ShadowDecision = Literal["would_veto", "would_pass", "differs", "lost", "agreed"]
"""The weightiest first. Of a judge, ``would_veto``: it objects to an approval that passed; ``would_pass``: it accepts
an approval to which the review objected; ``differs``: they differ on a rejection. Of an executor, ``would_veto``: it
rejects what the real one approves; ``differs``: it approves what the real one rejects. Of a surface, ``would_veto``: it
objects to a review that approved. ``lost``: an answer of the shadow did not come."""
_WEIGHTIEST_FIRST: tuple[ShadowDecision, ...] = ("would_veto", "would_pass", "differs", "lost", "agreed")


def decision_on(decided: ShadowDecided) -> ShadowDecision:
    """What the shadow would have changed in one part of a surface."""
    if decided.shadow_objects is None:
        return "lost"
    if decided.shadow_objects is decided.real_objects:
        return "agreed"
    if decided.verdict == "reject":
        return "differs"
    return "would_veto" if decided.shadow_objects else "would_pass"


def shadow_decision(decided: Iterable[ShadowDecided], *, finished: bool) -> ShadowDecision:
    """The same for the review: its weightiest part counts. A shadow that did not reach its end has lost an answer."""
    found = {decision_on(each) for each in decided}
    if not finished or not found:
        found.add("lost")
    return next(each for each in _WEIGHTIEST_FIRST if each in found)


def shadow_cost(events: Sequence[ShadowEvent]) -> ShadowCost:
    """What a shadow has cost, by its events so far; while it runs, what it may cost."""
    first, last = events[0], events[-1]
    if not isinstance(first, ShadowBegan):
        raise TypeError("a shadow's events begin with ShadowBegan")
    told = [
        each.call.usage.cost_usd for each in events if isinstance(each, ShadowCalled) and each.call.ended != "refused"
    ]
    known = [usd for usd in told if usd is not None and 0 <= usd <= MOST_USD]
    usd = round(min(sum(known), MOST_USD), 4) if isinstance(last, ShadowEnded) else first.max_usd
    status = last.status if isinstance(last, ShadowEnded) else "running"
    return ShadowCost(first.shadow, status, usd, calls=len(told), unpriced=len(told) - len(known))


def readings_of_shadow(events: Sequence[ShadowEvent]) -> Tables:
    """The ledger's row of one shadow, by table. Without its end the status is ``unfinished``."""
    first, last = events[0], events[-1]
    if not isinstance(first, ShadowBegan):
        raise TypeError("a shadow's events begin with ShadowBegan")
    status = last.status if isinstance(last, ShadowEnded) else "unfinished"
    calls = [each.call for each in events if isinstance(each, ShadowCalled) and each.call.ended != "refused"]
    costs = [call.usage.cost_usd for call in calls if call.usage.cost_usd is not None]
    decided = [each for each in events if isinstance(each, ShadowDecided)]
    told = row(
        of_run=first.of_run,
        shadow=first.shadow,
        part=first.part,
        setup=first.setup,
        repository=first.repository,
        pull_request=first.pull_request,
        status=status,
        decision=shadow_decision(decided, finished=status == "finished"),
        missed=sum(len(each.missed) for each in decided),
        calls=len(calls),
        unpriced=len(calls) - len(costs),
        cost_usd=sum(costs),
    )
    return {"shadows": (told,)}
