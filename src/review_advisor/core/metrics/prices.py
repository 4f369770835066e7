"""What tokens cost where nobody reported it, by a dated list of prices. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from review_advisor.core.report.wording import counted, printable_line

_MILLION = 1_000_000


class PriceError(Exception):
    """A list of prices cannot be read: one sentence says why."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens of ``model``, from the day ``since`` (UTC) until its next price."""

    model: str
    since: date
    input: float
    output: float
    cache_read: float
    cache_write: float

    @property
    def rates(self) -> tuple[float, ...]:
        """Of input, output, reading from the cache and writing to it."""
        return (self.input, self.output, self.cache_read, self.cache_write)


@dataclass(frozen=True, slots=True)
class Unpriced:
    """What calls of one model used on one day, with no word about its cost.

    ``beside`` are models that the same calls used so as well, each with whether it told tokens. Of two models of a call
    only one has the other beside it, so that the call can be counted once.
    """

    model: str
    day: date
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    beside: tuple[tuple[str, bool], ...] = ()

    @property
    def tokens(self) -> int:
        """Of every kind."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True)
class Money:
    """US dollars: as calls reported them, and by the list of prices; and the calls whose cost nobody knows."""

    reported_usd: float = 0.0
    by_price_usd: float = 0.0
    unknown_calls: int = 0
    unknown_models: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self) | {"unknown_models": list(self.unknown_models)}

    def words(self) -> str:
        """One line for a person."""
        told = f"cost: ${self.reported_usd:.4f} reported, ${self.by_price_usd:.4f} by the list of prices"
        if not self.unknown_calls:
            return told
        models = f" of {printable_line(', '.join(self.unknown_models))}" if self.unknown_models else ""
        return f"{told}; unknown for {counted(self.unknown_calls, 'call')}{models}"


def money(reported_usd: float, used: Iterable[Unpriced], prices: Iterable[Price]) -> Money:
    """What was spent. A model without a price on its day, and a call that told no tokens either, cost nobody knows."""
    listed = tuple(prices)
    by_price, unknown_calls, unknown_models = 0.0, 0, set[str]()
    for each in used:
        price = price_on(each.model, each.day, listed)
        if price is None or not each.tokens:
            beside = (not told or price_on(model, each.day, listed) is None for model, told in each.beside)
            unknown_calls += 0 if any(beside) else each.calls  # counted with that model
            unknown_models |= {each.model} if price is None else set()
        else:
            by_price += cost(each, price)
    return Money(reported_usd, by_price, unknown_calls, tuple(sorted(unknown_models)))


def price_on(model: str, day: date, prices: Iterable[Price]) -> Price | None:
    """The newest price of exactly this model that holds on ``day``; None if there is none."""
    held = (price for price in prices if price.model == model and price.since <= day)
    return max(held, key=lambda price: price.since, default=None)


def cost(used: Unpriced, price: Price) -> float:
    """US dollars."""
    return (
        used.input_tokens * price.input
        + used.output_tokens * price.output
        + used.cache_read_tokens * price.cache_read
        + used.cache_write_tokens * price.cache_write
    ) / _MILLION
