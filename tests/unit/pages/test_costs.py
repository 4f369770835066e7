"""What a role used of a model, for a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.ledger.page_entries import cost_json
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import RoleCost
from review_advisor.safety.stop import Usage

COST = RoleCost(Role.MID_FLIGHT, "opus", 4, Usage(1, 2, 4, 8, 1.5), unpriced=1)


def test_a_role_and_its_model_are_told_whole() -> None:
    assert cost_json(COST) == {
        "role": "mid_flight",
        "model": "opus",
        "calls": 4,
        "unpriced": 1,
        "input_tokens": 1,
        "cache_read_tokens": 4,
        "cache_write_tokens": 8,
        "output_tokens": 2,
        "tokens": 15,
        "cost_usd": 1.5,
        "per_call_usd": 0.5,
        "shared": False,
    }


@pytest.mark.parametrize(
    "role, shared, per_call", [(Role.MID_FLIGHT, True, None), (Role.MID_FLIGHT, False, 0.5), (Role.EXECUTOR, True, 0.5)]
)
def test_consults_whose_cost_stands_with_the_executor_have_no_mean(
    role: Role, per_call: float | None, *, shared: bool
) -> None:
    assert cost_json(replace(COST, role=role, shared=shared))["per_call_usd"] == per_call
