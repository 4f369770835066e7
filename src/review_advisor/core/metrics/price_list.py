"""Lists of prices as files tell them: the shipped one, a user's, and ``.review-advisor/prices.toml`` of the base."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from review_advisor.core.facts.files.declared import LONGEST_FILE, PRICES
from review_advisor.core.facts.files.toml_text import TomlError, read_toml
from review_advisor.core.facts.files.value_mistake import value_mistake, value_place
from review_advisor.core.facts.guidelines import BaseText
from review_advisor.core.metrics.prices import Price, PriceError

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
