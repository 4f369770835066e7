"""What calls used: tokens of every kind, and money as far as it was reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from review_advisor.core.outcome.cost import RoleCost, tokens, used_within
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.policy.surfaces import Role


@dataclass(frozen=True, slots=True)
class Spent:
    """Money as far as it was reported, in US dollars, and tokens of every kind.

    ``consult_tokens`` are those of ``advisor_tokens`` that consults used.
    """

    cost_usd: float
    executor_tokens: int
    advisor_tokens: int
    consult_tokens: int


def spent(calls: Iterable[CallEnded]) -> Spent:
    """What these calls used, whoever made them."""
    used = [each for call in calls for each in used_within(call)]
    return Spent(
        cost_usd=sum((each.usage.cost_usd or 0.0 for each in used), 0.0),
        executor_tokens=sum(tokens(each.usage) for each in used if each.role is Role.EXECUTOR),
        advisor_tokens=sum(tokens(each.usage) for each in used if each.role is not Role.EXECUTOR),
        consult_tokens=sum(tokens(each.usage) for each in used if each.role is Role.MID_FLIGHT),
    )


def unreported(call: CallEnded) -> Iterator[RoleCost]:
    """What was used within a call without a word about its cost, whoever made it."""
    return (used for used in used_within(call) if used.unpriced)
