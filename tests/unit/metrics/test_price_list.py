from datetime import date
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.guidelines import BaseText
from review_advisor.policy.prices import NO_PRICES, OwnPrices, Price, PriceError, own_prices, parse_prices, price_on

OLD, NEW = date(2026, 1, 1), date(2026, 6, 1)


def price(model: str, since: date, rate: float) -> Price:
    return Price(model, since, rate, rate, rate, rate)


SHIPPED = (price("a", OLD, 1), price("a", NEW, 2), price("b", OLD, 3))


def test_a_row_of_the_repository_replaces_the_shipped_ones_of_its_model_from_its_day_on_and_adds_others() -> None:
    both = OwnPrices((price("a", date(2026, 3, 1), 7), price("c", OLD, 9))).beside(SHIPPED)
    held = {(model, day): price_on(model, day, both) for model, day in product("abc", (OLD, NEW))}
    rates = {key: None if each is None else each.input for key, each in held.items()}
    assert rates == {("a", OLD): 1, ("a", NEW): 7, ("b", OLD): 3, ("b", NEW): 3, ("c", OLD): 9, ("c", NEW): 9}


def test_without_a_file_the_shipped_prices_are_the_prices() -> None:
    assert (own_prices(None), NO_PRICES.beside(SHIPPED), NO_PRICES.source) == (NO_PRICES, SHIPPED, "")


@given(st.sampled_from(["nan", "inf", "-inf", "-0.01", "0.0", "1e-9", "0.00099", "1_000_001.0"]))
def test_no_rate_that_would_make_a_limit_mean_nothing_is_taken(rate: str) -> None:
    for key in ("input", "output"):
        rates = {"input": "1", "output": "1", "cache_read": "0", "cache_write": "0"} | {key: rate}
        text = '[[prices]]\nmodel = "a"\nsince = 2026-01-01\n' + "".join(f"{k} = {v}\n" for k, v in rates.items())
        with pytest.raises(PriceError, match=r"The list is wrong at prices\.0"):
            parse_prices(text, "The list")


def test_the_digest_is_that_of_the_text() -> None:
    row = '[[prices]]\nmodel = "a"\nsince = 2026-01-01\ninput = 1\noutput = 1\ncache_read = 0\ncache_write = 0\n'
    first, second = (own_prices(BaseText(text)).source for text in (row, row + "# mended\n"))
    assert first != second
    assert first.startswith(".review-advisor/prices.toml sha256:")


@pytest.mark.parametrize(
    "key, said",
    [
        ("since", "2026-01-31T12:00:00"),
        ("since", '"soon"'),
        ("since", "7.5"),
        ("model", "7"),
        ("model", '"a b"'),
        ("input", '"much"'),
        ("input", "-1"),
        ("input", "nan"),
        ("input", "1e9"),
        ("free", '"perhaps"'),
        ("free", "[]"),
        ("colour", "1"),
    ],
)
def test_a_mistake_is_told_in_words_of_a_list_of_prices_and_not_of_its_reader(key: str, said: str) -> None:
    row = {"model": '"m"', "since": "2026-01-31", "input": "1", "output": "1", "cache_read": "1", "cache_write": "1"}
    lines = "".join(f"{name} = {value}\n" for name, value in {**row, key: said}.items())
    for text in (f"[[prices]]\n{lines}", "prices = 7\n", "", "[[prices]]\n"):
        with pytest.raises(PriceError) as told:
            parse_prices(text, "The list")
        words = ("Input", "Datetime", "String", "Tuple", "pattern", "validation", "required", "Extra")
        assert not any(word in str(told.value) for word in words), told.value
