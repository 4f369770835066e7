import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.policy.budgets import (
    Allowance,
    Budgets,
    Refused,
    Spending,
    allow,
    attempts_of,
    consults_left,
    may_come_back,
    post_verify_retry_budget,
    review_seconds,
    review_usd,
    surface_retry_budget,
)
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Authority, Surface

LOW, MEDIUM, HIGH = BlastRadius

TOO_LITTLE = Refused("money", "what is left of $1.00 is too little for another call")


@pytest.mark.parametrize(
    "blast, authority, retries",
    [
        (LOW, Authority.VETO, 1),
        (MEDIUM, Authority.VETO, 2),
        (HIGH, Authority.VETO, 3),
        (LOW, Authority.ADVISORY, 0),
        (MEDIUM, Authority.ADVISORY, 0),
        (HIGH, Authority.ADVISORY, 0),
    ],
)
def test_the_adrs_retry_table(blast: BlastRadius, authority: Authority, retries: int) -> None:
    assert post_verify_retry_budget(blast, authority) == retries


@pytest.mark.parametrize(
    "surface, retries",
    [
        (Surface.PR_REVIEW, 3),
        (Surface.PRE_MERGE_SPEC_CHECK, 3),
        (Surface.ADR_REVIEW, 0),
        (Surface.VISUAL_GATE, 0),
        (Surface.WIKI_INGEST, 0),
    ],
)
def test_only_looping_surfaces_retry_even_with_a_forced_veto(surface: Surface, retries: int) -> None:
    assert surface_retry_budget(surface, HIGH, Authority.VETO) == retries


@pytest.mark.parametrize(
    "cap, used, failed, left",
    [
        (5, 0, 0, 5),
        (5, 4, 0, 1),
        (5, 5, 0, 0),
        (5, 6, 0, 0),
        (5, 5, 1, 1),
        (5, 5, 3, 3),
        (5, 5, 4, 3),
        (5, 8, 8, 0),
        (0, 0, 0, 0),
        (1, 1, 1, 1),
    ],
)
def test_failed_consults_are_given_back_at_most_three_times(cap: int, used: int, failed: int, left: int) -> None:
    assert consults_left(Budgets(max_usd=1.0, max_consults=cap), used, failed) == left


@pytest.mark.parametrize("refunds", range(4))
def test_the_number_of_refunds_is_the_policys(refunds: int) -> None:
    budgets = Budgets(max_usd=1.0, max_consults=2, max_refunds=refunds)
    assert consults_left(budgets, 5, 5) == max(0, refunds - 3)


@pytest.mark.parametrize(
    "attempts, parts, tokens, cap, usd",
    [
        pytest.param(2, 1, 3_000, 30, 1.18, id="low, 200 lines"),
        pytest.param(3, 1, 15_000, 30, 2.85, id="medium, 1,000 lines"),
        pytest.param(4, 1, 60_000, 30, 9.2, id="high, a full part"),
        pytest.param(2, 1, 60_000, 30, 4.6, id="low, a full part of documentation"),
        pytest.param(2, 3, 180_000, 30, 13.8, id="three parts cost three times as much"),
        pytest.param(4, 20, 1_200_000, 30, 30, id="never over the cap"),
        pytest.param(2, 0, 0, 30, 1.0, id="an empty change"),
    ],
)
def test_the_money_is_what_a_review_of_that_size_costs_with_all_its_retries(
    attempts: int, parts: int, tokens: int, cap: float, usd: float
) -> None:
    assert review_usd(attempts, parts, tokens, cap) == usd


def test_every_surface_and_every_retry_is_an_attempt() -> None:
    assert attempts_of([1], blind=False) == 2
    assert attempts_of([3, 3, 0], blind=False) == 9
    assert attempts_of([1], blind=True) == 3


def test_the_money_grows_with_the_members_of_a_council() -> None:
    assert [attempts_of([1, 0], blind=True, panel=members) for members in (1, 2, 3)] == [4, 10, 13]


@pytest.mark.parametrize(
    "seconds, parts, allowed",
    [
        pytest.param(1800, 1, 1800, id="one part"),
        pytest.param(1800, 3, 2100, id="two further parts"),
        pytest.param(1800, 9, 3000, id="at the ceiling"),
        pytest.param(1800, 100, 3000, id="beyond it"),
    ],
)
def test_the_wall_clock_grows_with_the_parts_up_to_a_ceiling(seconds: float, parts: int, allowed: float) -> None:
    assert review_seconds(seconds, parts) == allowed


def test_the_wall_clock_grows_with_the_members_of_a_council() -> None:
    assert [review_seconds(1800, 2, panel=members) for members in (1, 2, 3)] == [1950, 2250, 2400]


PURSE = Budgets(max_usd=1.0)


@pytest.mark.parametrize(
    "spending, jobs, answer",
    [
        pytest.param(Spending(), 1, Allowance(1.0, 600), id="all of it for the only call"),
        pytest.param(Spending(), 4, Allowance(0.25, 600), id="its share beside others"),
        pytest.param(
            Spending(reserved_usd=0.25, running=1), 4, Allowance(0.25, 600), id="the same share for the second"
        ),
        pytest.param(Spending(reserved_usd=0.75, running=3), 4, Allowance(0.25, 600), id="and for the last"),
        pytest.param(Spending(running=4), 4, Allowance(1.0, 600), id="never more shares than calls"),
        pytest.param(Spending(spent_usd=0.75), 1, Allowance(0.25, 600), id="what is left"),
        pytest.param(Spending(elapsed_seconds=1500), 1, Allowance(1.0, 300), id="the seconds left"),
        pytest.param(Spending(elapsed_seconds=1799), 1, Allowance(1.0, 1), id="the last second"),
        pytest.param(
            Spending(spent_usd=0.995),
            1,
            TOO_LITTLE,
            id="a crumb",
        ),
        pytest.param(
            Spending(spent_usd=2.0),
            1,
            TOO_LITTLE,
            id="overdrawn",
        ),
        pytest.param(
            Spending(elapsed_seconds=1800),
            1,
            Refused("wall_clock", "all 1800 seconds are used"),
            id="too late",
        ),
        pytest.param(
            Spending(spent_usd=2.0, elapsed_seconds=1800),
            1,
            Refused("wall_clock", "all 1800 seconds are used"),
            id="too late and too dear",
        ),
    ],
)
def test_leave_for_one_call_d44(spending: Spending, jobs: int, answer: Allowance | Refused) -> None:
    assert allow(PURSE, spending, jobs) == answer


def test_a_call_that_the_remaining_money_cannot_pay_is_refused_with_both_amounts() -> None:
    budgets, spending = Budgets(max_usd=1.0), Spending(spent_usd=0.6999)
    assert isinstance(allow(budgets, spending, 1, 0.3), Allowance)
    refused = allow(budgets, spending, 1, 0.31)
    assert refused == Refused("money", "it costs at least $0.3100, and of $1.00 are $0.3001 left")
    assert isinstance(allow(budgets, spending, 1), Allowance), "what cannot be estimated is not refused for it"


@given(st.floats(0, 5), st.floats(0, 5), st.integers(0, 5), st.integers(1, 6), st.one_of(st.none(), st.floats(0.01, 5)))
def test_no_call_gets_less_than_it_costs_nor_more_than_is_left(
    spent: float, reserved: float, running: int, jobs: int, least: float | None
) -> None:
    budgets, spending = Budgets(max_usd=4.0), Spending(spent, reserved, running)
    allowed = allow(budgets, spending, jobs, least)
    if isinstance(allowed, Allowance):
        assert (least or 0.0) <= allowed.max_usd <= 4.0 - spent - reserved


@pytest.mark.parametrize(
    "least, reserved, running, waits",
    [(0.5, 0.8, 1, True), (0.1, 0.8, 1, False), (1.5, 0.8, 1, False), (0.5, 0.8, 0, False), (None, 0.8, 1, False)],
)
def test_a_call_waits_for_money_that_only_running_calls_can_give_back(
    least: float | None, reserved: float, running: int, waits: bool
) -> None:
    spending = Spending(spent_usd=0.0, reserved_usd=reserved, running=running)
    assert may_come_back(Budgets(max_usd=1.0), spending, least) is waits
