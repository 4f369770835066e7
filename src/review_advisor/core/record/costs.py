"""What runs used, by role and model, for a page: where calls did not report their cost, how many those are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from review_advisor.core.outcome.cost import RoleCost, role_costs, total_usage, used_within
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.record.shown import told
from review_advisor.core.record.spending import tokens


@dataclass(frozen=True, slots=True)
class Cost:
    """What one role used of one model; ``unpriced`` of its calls reported no cost, which nobody guesses."""

    spent: RoleCost
    unpriced: int

    def as_json(self) -> dict[str, Any]:
        """For a page: ``per_call_usd`` is the mean over the calls that reported their cost."""
        usage = self.spent.usage
        priced = self.spent.calls - self.unpriced
        return {
            "role": self.spent.role.value,
            "model": told(self.spent.model),
            "calls": self.spent.calls,
            "unpriced": self.unpriced,
            "input_tokens": usage.input_tokens,
            "cached_tokens": usage.cache_read_tokens + usage.cache_write_tokens,
            "output_tokens": usage.output_tokens,
            "tokens": tokens(usage),
            "cost_usd": usage.cost_usd,
            "per_call_usd": None if usage.cost_usd is None else usage.cost_usd / priced,
        }


def costs(calls: Iterable[CallEnded]) -> tuple[Cost, ...]:
    """What these calls used."""
    made = tuple(calls)
    used = [each for call in made for each in used_within(call)]
    unpriced = Counter((role, each.model) for role, each in used if each.usage.cost_usd is None)
    return tuple(Cost(spent, unpriced[spent.role, spent.model]) for spent in role_costs(made))


def together(every: Iterable[Cost]) -> tuple[Cost, ...]:
    """What many runs used."""
    found: dict[tuple[Role, str], list[Cost]] = defaultdict(list)
    for cost in every:
        found[cost.spent.role, cost.spent.model].append(cost)
    return tuple(_sum(found[one]) for one in sorted(found, key=lambda one: (one[0].value, one[1])))


def _sum(its: list[Cost]) -> Cost:
    first = its[0].spent
    calls, usage = sum(each.spent.calls for each in its), total_usage(each.spent.usage for each in its)
    return Cost(RoleCost(first.role, first.model, calls, usage), sum(each.unpriced for each in its))
