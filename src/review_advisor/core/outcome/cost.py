"""What was used, by whom and of which model: tokens, and money as far as it was reported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import ModelUsage, Usage


@dataclass(frozen=True, slots=True)
class RoleCost:
    """What one role used of one model: ``unpriced`` of its calls reported no cost, which nobody guesses.

    ``usage.cost_usd`` is None where none did. A call that used several models is one of each: ``unpriced_calls`` counts
    it once.
    """

    role: Role
    model: str
    calls: int
    usage: Usage
    unpriced: int = 0


def role_costs(calls: Iterable[CallEnded]) -> tuple[RoleCost, ...]:
    """What these calls used, by role and model: whoever used it within them."""
    used: dict[tuple[Role, str], list[Usage]] = defaultdict(list)
    for call in calls:
        for role, each in used_within(call):
            used[role, each.model].append(each.usage)
    return tuple(
        RoleCost(role, model, len(usages), total_usage(usages), sum(usage.cost_usd is None for usage in usages))
        for (role, model), usages in sorted(used.items(), key=lambda item: (item[0][0].value, item[0][1]))
    )


def unpriced_calls(calls: Iterable[CallEnded]) -> int:
    """How many of these calls lack a part of their cost: each is one, whichever of its models nobody told it of."""
    return sum(any(each.usage.cost_usd is None for _, each in used_within(call)) for call in calls)


def used_within(call: CallEnded) -> Iterator[tuple[Role, ModelUsage]]:
    """What each model used within a call, and as whom: an executor's subagent is the mid-flight advisor."""
    if call.ended == "refused":
        return
    for each in call.by_model or (ModelUsage(call.resolved_model or call.requested_model, call.usage),):
        foreign = call.role is Role.EXECUTOR and call.resolved_model not in ("", each.model)
        yield (Role.MID_FLIGHT if foreign else call.role), each


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sum; its cost is None only if none of them reported one."""
    every = tuple(usages)
    costs = [usage.cost_usd for usage in every if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in every),
        output_tokens=sum(usage.output_tokens for usage in every),
        cache_read_tokens=sum(usage.cache_read_tokens for usage in every),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in every),
        cost_usd=sum(costs) if costs else None,
    )
