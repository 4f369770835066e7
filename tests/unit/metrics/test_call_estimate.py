"""A call is estimated by its prompt and the list of prices, never above what is sure to be paid."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import ReviewReport
from review_advisor.agents.calls import AgentCall
from review_advisor.agents.purse import ANSWER_TOKENS, CallEstimates
from review_advisor.policy.prices import Price, read_prices
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import DEFAULT_ADVISOR_MODEL, DEFAULT_EXECUTOR_MODEL

TODAY = date(2026, 11, 23)
DEAR = Price("claude-opus-5", date(2026, 7, 24), 5.0, 25.0, 0.5, 6.25)
CHEAP = Price("claude-opus-5-5", date(2026, 9, 23), 4.0, 20.0, 0.2, 5.0)
MUCH = "x" * 350_000
"""A hundred thousand tokens."""


def call(*blocks: str, role: Role = Role.EXECUTOR, model: str = "opus") -> AgentCall:
    return AgentCall(role, role.advisor, Surface.PR_REVIEW, 0, 0, model, "", blocks, ReviewReport, None, None, 0.0, 0.0)


def answer(price: Price, role: Role = Role.EXECUTOR) -> float:
    return ANSWER_TOKENS[role] * price.output / 1_000_000


def test_the_prompt_counts_at_the_price_of_input_and_a_usual_answer_at_that_of_output() -> None:
    estimates = CallEstimates([DEAR])
    assert estimates.least_usd(call(MUCH), TODAY) == pytest.approx(0.5 + answer(DEAR))
    with_system = replace(call(MUCH), system_prompt=MUCH)
    assert estimates.least_usd(with_system, TODAY) == pytest.approx(1.0 + answer(DEAR))


@pytest.mark.parametrize("model", ["haiku", "", "opus-5", "claude-opus", "op"])
def test_a_model_of_which_the_list_has_no_price_is_not_estimated(model: str) -> None:
    estimates = CallEstimates([replace(DEAR, model="claude-sonnet-5")])
    assert estimates.least_usd(call(MUCH, model=model), TODAY) is None
    assert CallEstimates([]).least_usd(call(MUCH), TODAY) is None


def test_a_price_of_a_day_to_come_is_none_yet() -> None:
    assert CallEstimates([DEAR]).least_usd(call(MUCH), date(2026, 7, 23)) is None


def test_a_short_name_counts_with_the_cheapest_model_until_one_has_answered() -> None:
    estimates = CallEstimates([DEAR, CHEAP])
    assert estimates.least_usd(call(MUCH), TODAY) == pytest.approx(0.4 + answer(CHEAP))
    estimates.answered("opus", DEAR.model)
    assert estimates.least_usd(call(MUCH), TODAY) == pytest.approx(0.5 + answer(DEAR))
    estimates.answered("opus", "claude-opus-9")
    assert estimates.least_usd(call(MUCH), TODAY) == pytest.approx(0.5 + answer(DEAR)), "it has no price"


def test_a_price_of_exactly_the_name_that_is_asked_for_beats_what_the_name_may_mean() -> None:
    exact = Price("opus", date(2026, 9, 23), 40.0, 200.0, 2.0, 50.0)
    estimates = CallEstimates([DEAR, CHEAP, exact])
    assert estimates.least_usd(call(MUCH), TODAY) == pytest.approx(4.0 + answer(exact))
    assert estimates.least_usd(call(MUCH), date(2026, 9, 22)) == pytest.approx(0.5 + answer(DEAR)), "it is none yet"
    estimates.answered("opus", DEAR.model)
    assert estimates.least_usd(call(MUCH), TODAY) == pytest.approx(4.0 + answer(exact)), "whoever has answered to it"


FREE = Price("claude-opus-4", date(2026, 9, 23), 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "prices, model, binds",
    [
        ([DEAR], "claude-opus-5", True),
        ([DEAR], "haiku", False),
        ([DEAR, FREE], "claude-opus-4", False),
        ([DEAR, FREE], "opus", False),
        ([replace(FREE, output=1.0)], "claude-opus-4", True),
        ([replace(FREE, cache_read=1.0)], "claude-opus-4", False),
        ([FREE, replace(FREE, input=1.0, since=date(2026, 11, 24))], "claude-opus-4", False),
    ],
)
def test_no_limit_of_money_binds_what_is_free_or_has_no_price(prices: list[Price], model: str, binds: bool) -> None:
    assert CallEstimates(prices).binds(model, TODAY) is binds


def test_what_an_earlier_call_of_the_role_has_sent_is_read_from_the_cache() -> None:
    estimates = CallEstimates([DEAR])
    estimates.made(call(MUCH, "first"))
    again = estimates.least_usd(call(MUCH, ""), TODAY)
    assert again == pytest.approx(0.05 + answer(DEAR))
    other_system = replace(call(MUCH, ""), system_prompt="other")
    others = (call(MUCH, "", role=Role.POST_VERIFY), call(f"{MUCH}.", ""), other_system)
    for other in others:
        assert (estimates.least_usd(other, TODAY) or 0.0) > 0.5


def test_every_default_model_has_a_price_and_no_ordinary_call_is_near_the_money_of_its_review() -> None:
    """200 lines are some 15,000 characters of prompt, and a small review may spend a dollar."""
    estimates = CallEstimates(read_prices())
    for model in (DEFAULT_ADVISOR_MODEL, DEFAULT_EXECUTOR_MODEL):
        found = estimates.least_usd(call("x" * 40_000, model=model), TODAY)
        assert found is not None
        assert 0 < found < 0.1


@given(st.integers(0, 400_000), st.integers(0, 400_000))
def test_a_longer_prompt_never_costs_less(one: int, other: int) -> None:
    estimates = CallEstimates([DEAR, CHEAP])
    shorter, longer = (estimates.least_usd(call("x" * size), TODAY) or 0.0 for size in sorted((one, other)))
    assert shorter <= longer
