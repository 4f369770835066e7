"""Reading the list of prices that is shipped."""

from __future__ import annotations

from importlib.resources import files

from review_advisor.core.metrics.price_list import parse_prices
from review_advisor.core.metrics.prices import Price


def read_prices() -> tuple[Price, ...]:
    """The prices that are shipped."""
    shipped = files("review_advisor") / "prices.toml"
    return parse_prices(shipped.read_text(encoding="utf-8"), "The shipped list of prices")
