"""Who used what within a call: the executor's tokens and its consults' are told apart, and none is told twice."""

from __future__ import annotations

from dataclasses import astuple, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.calls import tokens
from review_advisor.ledger.page_entries import cost_json
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import (
    RoleCost,
    Turns,
    executor_turns,
    role_costs,
    spent,
    together,
    unpriced_calls,
    unreported,
    used_within,
)
from review_advisor.review.events import CallEnded
from review_advisor.safety.stop import ModelUsage, Usage

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
WHOLE, OWN, CONSULTS = Usage(300, 60, 30, 6, 0.9), Usage(200, 40, 20, 4), Usage(100, 20, 10, 2)
OPUS = (ModelUsage("opus-5", WHOLE),)
ONE_MODEL = CallEnded(
    at=NOON,
    surface=Surface.PR_REVIEW,
    number=1,
    role=Role.EXECUTOR,
    advisor="executor",
    ended="answered",
    requested_model="opus",
    resolved_model="opus-5",
    usage=WHOLE,
    by_model=OPUS,
    own=OWN,
    consulted=("opus-5",) * 5,
)
TWO_MODELS = replace(
    ONE_MODEL,
    requested_model="sonnet",
    resolved_model="sonnet-5",
    by_model=(
        ModelUsage("sonnet-5", replace(OWN, cost_usd=0.2)),
        ModelUsage("opus-5", replace(CONSULTS, cost_usd=0.7)),
    ),
)


def test_only_known_turns_of_the_executors_own_calls_are_counted() -> None:
    known = replace(ONE_MODEL, turns=4)
    judged = replace(known, role=Role.POST_VERIFY)
    of_an_earlier_run = replace(known, kept=True)
    assert executor_turns([known, ONE_MODEL, judged, of_an_earlier_run, replace(known, turns=3)]) == Turns(7, 2)
    assert executor_turns([ONE_MODEL, judged]) == Turns(0, 0)


def test_five_consults_of_the_executors_own_model_are_the_mid_flight_advisors() -> None:
    assert role_costs([ONE_MODEL]) == (
        RoleCost(Role.EXECUTOR, "opus-5", 1, replace(OWN, cost_usd=0.9), shared=True),
        RoleCost(Role.MID_FLIGHT, "opus-5", 5, CONSULTS, shared=True),
    )
    used = spent([ONE_MODEL])
    assert (used.executor_tokens, used.advisor_tokens, used.cost_usd) == (tokens(OWN), tokens(CONSULTS), 0.9)


def test_with_two_models_consults_are_counted_and_have_a_price_of_their_own() -> None:
    assert role_costs([TWO_MODELS, TWO_MODELS]) == (
        RoleCost(Role.EXECUTOR, "sonnet-5", 2, Usage(400, 80, 40, 8, 0.4)),
        RoleCost(Role.MID_FLIGHT, "opus-5", 10, Usage(200, 40, 20, 4, 1.4)),
    )


def test_of_a_call_without_consults_all_is_the_executors() -> None:
    """Also where the CLI says less of the main loop than of the model: it may have used the rest for itself."""
    (used,) = used_within(replace(ONE_MODEL, consulted=()))
    assert (used.role, used.usage, used.shared) == (Role.EXECUTOR, WHOLE, False)


@pytest.mark.parametrize(
    "own",
    [None, Usage(301, 60, 30, 6), Usage(1, 61, 1, 1), Usage(1, 1, 31, 1), Usage(1, 1, 1, 7), Usage(-1, 40, 20, 4)],
)
def test_tokens_that_cannot_be_told_apart_stand_with_the_executor(own: Usage | None) -> None:
    assert role_costs([replace(ONE_MODEL, own=own)]) == (
        RoleCost(Role.EXECUTOR, "opus-5", 1, WHOLE, shared=True),
        RoleCost(Role.MID_FLIGHT, "opus-5", 5, Usage(), shared=True),
    )


def test_a_call_that_an_earlier_version_recorded_is_read_as_it_was() -> None:
    """Its event tells neither the main loop's tokens nor who was consulted."""
    for call in (ONE_MODEL, TWO_MODELS):
        used = list(used_within(replace(call, own=None, consulted=())))
        assert [(each.model, each.usage, each.calls, each.shared) for each in used] == [
            (each.model, each.usage, 1, False) for each in call.by_model
        ]


def test_a_consult_that_failed_counts_where_consults_used_anything() -> None:
    failed = replace(ONE_MODEL, consulted=("",))
    assert [(each.role, each.calls) for each in used_within(failed)] == [(Role.EXECUTOR, 1), (Role.MID_FLIGHT, 1)]
    two = replace(TWO_MODELS, consulted=("opus-5", ""))
    assert [(each.role, each.calls) for each in used_within(two)] == [(Role.EXECUTOR, 1), (Role.MID_FLIGHT, 2)]
    for own in (WHOLE, None):
        unused = list(used_within(replace(failed, own=own and replace(own, cost_usd=None))))
        assert [(each.role, each.usage, each.shared) for each in unused] == [(Role.EXECUTOR, WHOLE, False)]


def test_a_consult_whose_model_has_another_name_among_those_that_were_used_counts_too() -> None:
    dated = ("opus-5-20260105",) * 2
    assert [each.calls for each in used_within(replace(ONE_MODEL, consulted=dated))] == [1, 2]
    assert [each.calls for each in used_within(replace(TWO_MODELS, consulted=dated))] == [1, 2]


def test_where_nobody_told_the_cost_each_role_has_its_own_tokens_to_be_priced() -> None:
    call = replace(ONE_MODEL, by_model=(ModelUsage("opus-5", replace(WHOLE, cost_usd=None)),))
    assert [(each.role, each.usage, each.shared) for each in unreported(call)] == [
        (Role.EXECUTOR, OWN, False),
        (Role.MID_FLIGHT, CONSULTS, False),
    ]
    assert [(cost.calls, cost.unpriced) for cost in role_costs([call])] == [(1, 1), (5, 5)]
    assert unpriced_calls([call]) == 1
    (whole,) = unreported(replace(call, own=None))
    assert (whole.role, tokens(whole.usage)) == (Role.EXECUTOR, tokens(WHOLE))
    assert (list(unreported(ONE_MODEL)), unpriced_calls([ONE_MODEL])) == ([], 0)


COUNTS = st.integers(0, 50)
USAGES = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, st.none() | st.just(0.25))
MODELS = st.sampled_from(["opus-5", "sonnet-5", "haiku-5"])
CALLS = st.builds(
    replace,
    st.just(ONE_MODEL),
    role=st.sampled_from([Role.EXECUTOR, Role.POST_VERIFY]),
    resolved_model=MODELS | st.just(""),
    usage=USAGES,
    by_model=st.lists(st.builds(ModelUsage, MODELS, USAGES), unique_by=lambda each: each.model).map(tuple),
    own=st.none() | USAGES,
    consulted=st.lists(MODELS | st.just(""), max_size=5).map(tuple),
)


@given(CALLS)
def test_every_token_and_dollar_is_told_once_and_none_is_negative(call: CallEnded) -> None:
    told = [each.usage for each in call.by_model] or [call.usage]
    used = list(used_within(call))
    assert [sum(kind) for kind in zip(*(astuple(each.usage)[:4] for each in used), strict=True)] == [
        sum(kind) for kind in zip(*(astuple(each)[:4] for each in told), strict=True)
    ]
    assert sum(each.usage.cost_usd or 0 for each in used) == sum(each.cost_usd or 0 for each in told)
    assert all(count >= 0 for each in used for count in astuple(each.usage)[:4])
    assert all(each.calls >= 1 for each in used)
    assert len({(each.role, each.model) for each in used}) == len(used)
    assert any(each.unpriced for each in used) == any(each.cost_usd is None for each in told)


def test_a_page_tells_what_is_counted_with_the_executor_and_no_price_of_a_consult_that_nobody_knows() -> None:
    executor, consults = map(cost_json, role_costs([ONE_MODEL]))
    assert (executor["shared"], executor["cost_usd"], executor["per_call_usd"]) == (True, 0.9, 0.9)
    assert (consults["shared"], consults["cost_usd"], consults["per_call_usd"]) == (True, None, None)
    assert (consults["calls"], consults["tokens"]) == (5, tokens(CONSULTS))
    apart = cost_json(role_costs([TWO_MODELS])[1])
    assert (apart["shared"], apart["per_call_usd"]) == (False, pytest.approx(0.14))
    both = {cost.role: cost_json(cost) for cost in together(role_costs([ONE_MODEL]) + role_costs([TWO_MODELS]))}
    mixed = both[Role.MID_FLIGHT]
    assert (mixed["shared"], mixed["calls"], mixed["cost_usd"], mixed["per_call_usd"]) == (True, 10, 0.7, None)


def test_costs_are_told_by_role_and_then_by_model_in_any_order_of_calls() -> None:
    calls = [
        replace(ONE_MODEL, role=role, resolved_model=model, by_model=(ModelUsage(model, OWN),), own=None, consulted=())
        for role in (Role.PRE_FLIGHT, Role.POST_VERIFY)
        for model in ("sonnet", "opus", "haiku")
    ]
    told = [(each.role, each.model) for each in role_costs(calls)]
    assert told == [
        (role, name) for role in (Role.POST_VERIFY, Role.PRE_FLIGHT) for name in ("haiku", "opus", "sonnet")
    ]
    assert role_costs(calls[::-1]) == role_costs(calls)


def test_what_runs_used_is_added_up_by_role_and_model_in_their_order() -> None:
    cost = RoleCost(Role.MID_FLIGHT, "opus", 4, Usage(1, 2, 4, 8, 1.5), unpriced=1)
    costs = [
        cost,
        replace(cost, model="haiku", shared=True),
        replace(cost, role=Role.EXECUTOR, model="opus"),
        replace(cost, role=Role.EXECUTOR, model="haiku"),
        replace(cost, shared=True),
    ]
    assert together(costs) == (
        replace(cost, role=Role.EXECUTOR, model="haiku"),
        replace(cost, role=Role.EXECUTOR, model="opus"),
        replace(cost, model="haiku", shared=True),
        RoleCost(Role.MID_FLIGHT, "opus", 8, Usage(2, 4, 8, 16, 3.0), unpriced=2, shared=True),
    )
    assert together(reversed(costs)) == together(costs)
