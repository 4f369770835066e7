"""What tokens cost by a list of prices, and which calls nobody knows the cost of."""

from __future__ import annotations

from datetime import date

import pytest

from review_advisor.policy.prices import Money, Price, Unpriced, cost, money, price_on

DAY = date(2026, 1, 15)
OPUS = Price("opus", date(2026, 1, 1), input=4, output=20, cache_read=0.5, cache_write=5)
HAIKU = Price("haiku", date(2026, 1, 1), input=1, output=5, cache_read=0.1, cache_write=1)
DEARER = Price("opus", date(2026, 2, 1), input=8, output=40, cache_read=1, cache_write=10)


def test_each_kind_of_token_has_its_price_per_million() -> None:
    used = Unpriced("opus", DAY, 1, 1_000_000, 2_000_000, 4_000_000, 8_000_000)
    assert used.tokens == 15_000_000
    assert cost(used, OPUS) == 4 + 40 + 2 + 40
    assert money(1.0, [used], [OPUS]) == Money(1.0, 86.0, 0, ())


def test_the_newest_price_that_holds_on_the_day_counts() -> None:
    prices = [DEARER, HAIKU, OPUS]
    assert price_on("opus", date(2025, 12, 31), prices) is None
    assert price_on("opus", date(2026, 1, 1), prices) == OPUS
    assert price_on("opus", date(2026, 1, 31), prices) == OPUS
    assert price_on("opus", date(2026, 2, 1), prices) == DEARER
    assert price_on("opus-4", DAY, prices) is None


@pytest.mark.parametrize(
    "used, unknown, models",
    [
        ([Unpriced("new", DAY, 3, 1, 0, 0, 0)], 3, ("new",)),
        ([Unpriced("opus", DAY, 3, 0, 0, 0, 0)], 3, ()),
        ([Unpriced("new", DAY, 3, 1, 0, 0, 0, (("haiku", True),))], 3, ("new",)),
        ([Unpriced("new", DAY, 3, 1, 0, 0, 0, (("haiku", False),))], 0, ("new",)),
        ([Unpriced("new", DAY, 3, 1, 0, 0, 0, (("other", True),))], 0, ("new",)),
        ([Unpriced("new", DAY, 3, 1, 0, 0, 0, (("haiku", True), ("other", True)))], 0, ("new",)),
        ([Unpriced("z", DAY, 1, 1, 0, 0, 0), Unpriced("a", DAY, 2, 1, 0, 0, 0)], 3, ("a", "z")),
    ],
)
def test_a_call_of_unknown_cost_counts_once_whichever_of_its_models_nobody_knows(
    used: list[Unpriced], unknown: int, models: tuple[str, ...]
) -> None:
    assert money(0.0, used, [OPUS, HAIKU]) == Money(0.0, 0.0, unknown, models)


def test_money_is_told_in_one_line_that_names_what_is_unknown() -> None:
    known = "cost: $1.0000 reported, $0.5000 by the list of prices"
    assert Money(1.0, 0.5).words() == known
    assert Money(1.0, 0.5, 1).words() == f"{known}; unknown for 1 call"
    assert Money(1.0, 0.5, 2, ("a", "b")).words() == f"{known}; unknown for 2 calls of a, b"
    assert Money(1.0, 0.5, 2, ("a",)).as_json() == {
        "reported_usd": 1.0,
        "by_price_usd": 0.5,
        "unknown_calls": 2,
        "unknown_models": ["a"],
    }
