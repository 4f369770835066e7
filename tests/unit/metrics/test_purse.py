"""A purse allows no more than there is, and what a call did not use comes back when it has ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from review_advisor.agents.calls import AgentCall
from review_advisor.agents.purse import Purse
from review_advisor.ledger.task_events import TaskMessage
from review_advisor.policy.budgets import Allowance, Budgets, Refused
from review_advisor.policy.prices import Price
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.stop import ModelUsage, Receipt, Usage

TODAY = date(2026, 11, 23)
A_CALL = AgentCall(
    Role.EXECUTOR, "executor", Surface.PR_REVIEW, 0, 0, "opus", "", ("ask",), TaskMessage, None, None, 0.0, 0.0
)
DEAR = Price("claude-opus-5", TODAY, 0.0, 400.0, 0.0, 0.0)
"""An executor's usual answer costs 0.60 dollars by it."""


def allowed(purse: Purse, call: AgentCall = A_CALL) -> AgentCall:
    leave = purse.reserve(call, 0.0, TODAY)
    assert isinstance(leave, Allowance), leave
    return replace(call, max_usd=leave.max_usd)


def test_calls_that_run_share_what_there_is_and_give_back_what_they_did_not_use() -> None:
    purse = Purse(Budgets(max_usd=1.0), (), 2)
    one, other = allowed(purse), allowed(purse, replace(A_CALL, number=1))
    assert (one.max_usd, other.max_usd, purse.running) == (0.5, 0.5, 2)
    purse.settle(one, Receipt(Usage(cost_usd=0.1)))
    purse.settle(other, Receipt(Usage()))
    assert purse.running == 0
    assert 2 * allowed(purse).max_usd == pytest.approx(0.9)


def test_a_call_is_refused_that_by_its_estimate_costs_more_than_is_left_and_waits_for_what_is_only_reserved() -> None:
    purse = Purse(Budgets(max_usd=1.0), (DEAR,), 2)
    first = allowed(purse)
    assert first.max_usd == pytest.approx(0.6)
    assert purse.may_come_back(A_CALL, TODAY)
    refused = purse.reserve(A_CALL, 0.0, TODAY)
    assert isinstance(refused, Refused)
    assert (refused.reason, purse.running) == ("money", 1)
    purse.settle(first, Receipt(Usage(cost_usd=0.7)))
    assert not purse.may_come_back(A_CALL, TODAY)
    assert isinstance(purse.reserve(A_CALL, 0.0, TODAY), Refused)


def test_the_model_that_answered_is_the_one_whose_price_counts() -> None:
    cheap = replace(DEAR, model="claude-opus-5-5", output=4.0)
    purse = Purse(Budgets(max_usd=0.7), (DEAR, cheap))
    purse.settle(allowed(purse), Receipt(Usage(cost_usd=0.2), resolved_model="claude-opus-5"))
    assert isinstance(purse.reserve(A_CALL, 0.0, TODAY), Refused)


@pytest.mark.parametrize(
    "receipt, left",
    [
        (Receipt(duration_seconds=3.0), 0.4),
        (Receipt(Usage(output_tokens=900)), 0.4),
        (Receipt(Usage(cost_usd=0.0), duration_seconds=3.0), 1.0),
        (Receipt(Usage(cost_usd=0.1), duration_seconds=3.0), 0.9),
        (Receipt(), 1.0),
    ],
)
def test_a_call_that_ran_and_reports_no_cost_counts_with_its_estimate(receipt: Receipt, left: float) -> None:
    purse = Purse(Budgets(max_usd=1.0), (DEAR,))
    purse.settle(allowed(purse), receipt)
    cheap = allowed(purse, replace(A_CALL, model="unknown"))
    assert cheap.max_usd == pytest.approx(left, abs=0.001)


def test_the_estimate_that_counts_is_the_one_by_which_the_call_was_allowed() -> None:
    """It is not that of a later call, which reads the first one's words from the cache."""
    call = replace(A_CALL, blocks=("w" * 4_000, "ask"))
    purse = Purse(Budgets(max_usd=9.0), (replace(DEAR, input=1_000.0),))
    purse.settle(allowed(purse, call), Receipt(duration_seconds=1.0))
    assert allowed(purse, replace(A_CALL, model="unknown")).max_usd < 9.0 - 0.6 - 0.9


TOLD = Usage(200_000, 30_000, 2_000_000, 300_000)
"""What a call told before it was killed; by the prices below it costs 1.65 dollars."""
LISTED = Price("claude-opus-5", TODAY, 2.0, 10.0, 0.1, 2.5)


@pytest.mark.parametrize(
    "receipt, usd",
    [
        pytest.param(Receipt(TOLD, resolved_model="claude-opus-5"), 1.65, id="of the model that answered"),
        pytest.param(Receipt(TOLD, resolved_model="claude-opus-5-20260928"), 1.65, id="of one that is not listed"),
        pytest.param(Receipt(TOLD), 1.65, id="of nobody knows which"),
        pytest.param(
            Receipt(TOLD, (ModelUsage("claude-opus-5", TOLD), ModelUsage("other", Usage(cost_usd=0.5)))),
            2.15,
            id="of several, one of which told its cost",
        ),
        pytest.param(Receipt(Usage(output_tokens=1)), 0.015, id="of hardly any: the estimate holds"),
        pytest.param(Receipt(duration_seconds=600.0), 0.015, id="of none: the estimate holds"),
    ],
)
def test_a_call_that_is_killed_counts_with_the_tokens_that_it_told(receipt: Receipt, usd: float) -> None:
    """Else each call of a review costs one turn, and no limit binds them."""
    purse = Purse(Budgets(max_usd=9.0), (LISTED,))
    call = allowed(purse)
    assert purse.estimate(call, receipt) == pytest.approx(usd, abs=0.001)
    purse.settle(call, receipt)
    assert allowed(purse, replace(A_CALL, model="unknown")).max_usd == pytest.approx(9.0 - usd, abs=0.001)


def test_nobody_can_tell_what_a_call_of_a_model_without_a_price_costs() -> None:
    purse = Purse(Budgets(max_usd=9.0), ())
    call = allowed(purse)
    told = [Receipt(TOLD), Receipt(duration_seconds=1.0), Receipt(), Receipt(Usage(cost_usd=0.2))]
    assert [purse.estimate(call, receipt) for receipt in told] == [None, None, 0.0, None]


def test_after_its_time_nothing_is_allowed() -> None:
    assert isinstance(Purse(Budgets(1.0, review_seconds=60), ()).reserve(A_CALL, 60.0, TODAY), Refused)


def test_a_call_is_counted_once() -> None:
    purse = Purse(Budgets(max_usd=2.0), (DEAR,))
    call = allowed(purse)
    purse.settle(call, Receipt(Usage(output_tokens=900)))
    with pytest.raises(ValueError, match="call 0 was settled before, or was never allowed"):
        purse.settle(call, Receipt(Usage(output_tokens=900)))
