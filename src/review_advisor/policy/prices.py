"""What tokens cost, by a dated list of prices."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import LONGEST_FILE, PRICES
from review_advisor.safety.files import required_file
from review_advisor.safety.stated_values import TomlError, read_toml, value_mistake, value_place
from review_advisor.safety.stop import Refusal
from review_advisor.safety.wording import counted, printable_line

_MILLION = 1_000_000


class PriceError(Refusal):
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


_LEAST, _LARGEST = 0.001, 1_000_000


_MOST_PRICES = 500


_NAME = "should be a name without spaces, of at most 200 characters"


_Rate = Annotated[float, Field(ge=0, le=_LARGEST, allow_inf_nan=False)]


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(pattern=r"^[^\x00-\x20\x7f]{1,200}$")
    since: date
    input: _Rate
    output: _Rate
    cache_read: _Rate
    cache_write: _Rate
    free: bool = False

    @model_validator(mode="after")
    def _costs_something_or_says_that_it_is_free(self) -> _Price:
        if self.free and (self.input or self.output or self.cache_read or self.cache_write):
            raise ValueError("a model that is free has no rate but 0")
        if not self.free and min(self.input, self.output) < _LEAST:
            raise ValueError(
                f"input and output cost at least {_LEAST}; of a model that costs nothing say `free = true`"
            )
        return self


class _Prices(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    prices: Annotated[tuple[_Price, ...], Field(max_length=_MOST_PRICES)]


@dataclass(frozen=True, slots=True)
class OwnPrices:
    """The repository's own prices; ``source`` is their file with its digest, empty without one."""

    prices: tuple[Price, ...] = ()
    source: str = ""

    @property
    def words(self) -> str:
        """The models; of one that is free, that no limit of money binds its calls."""
        free = {each.model for each in self.prices if not each.input}
        named = (f"{each}: free, so no limit of money binds it" if each in free else each for each in self.models)
        return ", ".join(named) or "no price"

    @property
    def models(self) -> tuple[str, ...]:
        """The models that have a price here."""
        return tuple(dict.fromkeys(each.model for each in self.prices))

    def beside(self, shipped: Iterable[Price]) -> tuple[Price, ...]:
        """These prices and the shipped ones: of a model, from the first day of a price here, no shipped one holds."""
        first: dict[str, date] = {}
        for each in self.prices:
            first[each.model] = min(each.since, first.get(each.model, each.since))
        return (*(each for each in shipped if each.since < first.get(each.model, date.max)), *self.prices)


NO_PRICES = OwnPrices()


def parse_prices(text: str, name: str) -> tuple[Price, ...]:
    """The tables ``[[prices]]`` of a list that is called ``name``. Raises ``PriceError``."""
    try:
        told = _Prices.model_validate(read_toml(text))
    except TomlError as error:
        raise PriceError(f"{name} is not valid TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = value_place(first["loc"])
        why = _NAME if first["type"] == "string_pattern_mismatch" else value_mistake(first)
        raise PriceError(f"{name} is wrong at {place}: {why}.") from None
    prices = tuple(Price(**price.model_dump(exclude={"free"})) for price in told.prices)
    if len({(price.model, price.since) for price in prices}) < len(prices):
        raise PriceError(f"{name} has two prices of one model from the same day.")
    return prices


def own_prices(text: BaseText | None) -> OwnPrices:
    """What ``.review-advisor/prices.toml`` says, if it is there. Raises ``PriceError``."""
    if text is None:
        return NO_PRICES
    if text.problem:
        raise PriceError(f"{PRICES}: {text.problem}.")
    if len(text.text) > LONGEST_FILE:
        raise PriceError(f"{PRICES} is longer than {LONGEST_FILE:,} characters.")
    digest = hashlib.sha256(text.text.encode()).hexdigest()
    return OwnPrices(parse_prices(text.text, PRICES), f"{PRICES} sha256:{digest[:16]}")


def read_prices() -> tuple[Price, ...]:
    """The prices that are shipped."""
    shipped = files("review_advisor.policy") / "prices.toml"
    return parse_prices(shipped.read_text(encoding="utf-8"), "The shipped list of prices")


def listed_prices(prices: Path | None) -> tuple[Price, ...]:
    """The list of prices at ``prices``, or the shipped one. Raises ``PriceError``."""
    return read_prices() if prices is None else prices_of_user(prices)


def prices_of_user(path: Path) -> tuple[Price, ...]:
    """The list of prices in the file at ``path``. Raises ``PriceError``."""
    name = f"The list of prices {path}"
    try:
        return parse_prices(required_file(path, _LARGEST_LIST, PriceError, name).decode(), name)
    except UnicodeDecodeError as error:
        raise PriceError(f"{name} is not valid TOML: {error}.") from None


_LARGEST_LIST = 1_000_000
