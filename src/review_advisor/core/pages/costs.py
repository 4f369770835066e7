"""What runs used, by role and model, for a page."""

from __future__ import annotations

from typing import Any

from review_advisor.core.outcome.cost import RoleCost, tokens
from review_advisor.core.pages.text import page_text
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import Usage


def cost_json(cost: RoleCost) -> dict[str, Any]:
    """For a page: ``per_call_usd`` is the mean over the calls, or consults, that reported their cost.

    There is none for consults whose cost stands with the executor.
    """
    usage = cost.usage
    elsewhere = cost.shared and cost.role is Role.MID_FLIGHT
    per_call = None if elsewhere or usage.cost_usd is None else usage.cost_usd / (cost.calls - cost.unpriced)
    return {
        "role": cost.role.value,
        "model": page_text(cost.model),
        "calls": cost.calls,
        "unpriced": cost.unpriced,
        **usage_json(usage),
        "tokens": tokens(usage),
        "per_call_usd": per_call,
        "shared": cost.shared,
    }


def usage_json(usage: Usage) -> dict[str, Any]:
    """What was used, by the names of every page."""
    return {
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }
