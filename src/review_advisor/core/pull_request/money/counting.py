"""How the cost of one more review is added to what a pull request has cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from review_advisor.core.outcome.cost import counted_money
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.policy.budgets import USD_OF_AN_UNTOLD_REVIEW
from review_advisor.core.pull_request.money.day_spending import UNCOUNTED, DaySpent, newest
from review_advisor.core.pull_request.state import State


@dataclass(frozen=True, slots=True)
class PaidSoFar:
    """What the reviews of a pull request have cost, as far as its check runs say: in all, and ``today``.

    Nothing is counted by days where ``today`` has none.
    """

    usd: float = 0.0
    today: DaySpent = UNCOUNTED


NOTHING = PaidSoFar()


class Counted(TypedDict):
    """What a pull request has cost so far; fields of ``State``."""

    spent_usd: float
    estimated_usd: float
    counted: str
    day: str
    day_usd: float


def with_cost(
    before: State | None, document: OutcomeDocument, spent: PaidSoFar = NOTHING, *, asked: bool = False
) -> Counted:
    """What the reviews cost together once this one is over. A run is counted once.

    A call that reported no cost counts with its estimate. What nobody can estimate counts once, as what one attempt at
    a part of full size may cost: a call that is killed must not be free. No amount is below 0. Of what the state says
    and what is known without it (``spent``), the larger amount counts. A review that a person ``asked`` for adds
    nothing to the day. What ran in shadow of a review is part of its cost.
    """
    earlier, today = so_far(before, spent)
    estimated = before.estimated_usd if before is not None else 0.0
    counted = document.run_id
    if before is not None and is_counted(before, document.run_id):
        counted = before.counted
    else:
        money = counted_money(document.events)
        estimate = money.estimated_usd + (USD_OF_AN_UNTOLD_REVIEW if money.untold else 0.0)
        in_shadow = sum(each.usd for each in document.shadows)
        usd = money.reported_usd + estimate + max(0.0, in_shadow)
        today = today if asked else today.plus(usd)
        earlier, estimated = round(earlier + usd, 4), round(estimated + estimate, 4)
    return Counted(spent_usd=earlier, estimated_usd=estimated, counted=counted, day=today.day, day_usd=today.usd)


def so_far(state: State | None, spent: PaidSoFar) -> tuple[float, DaySpent]:
    """What a state and the check runs together say, in all and today."""
    if state is None:
        return spent.usd, spent.today
    told = DaySpent(state.day, state.day_usd)
    today = newest(spent.today.day, told, spent.today) if spent.today.day else told
    return max(spent.usd, state.spent_usd), today


def is_counted(before: State, run_id: str) -> bool:
    """Whether what a run cost is in the sum: of the review that stands, or of the one that was overtaken last."""
    return run_id in (before.run_id, before.counted)
