"""Reading a list of prices: the one that is shipped, or one that the user names."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from review_advisor.core.facts.files.toml_text import TomlError, read_toml
from review_advisor.core.metrics.prices import Price, PriceError

_LARGEST = 1_000_000


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1, max_length=200)
    since: date
    input: float = Field(ge=0, le=_LARGEST, allow_inf_nan=False)
    output: float = Field(ge=0, le=_LARGEST, allow_inf_nan=False)
    cache_read: float = Field(ge=0, le=_LARGEST, allow_inf_nan=False)
    cache_write: float = Field(ge=0, le=_LARGEST, allow_inf_nan=False)


class _Prices(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    prices: tuple[_Price, ...]


def read_prices(path: Path | None = None) -> tuple[Price, ...]:
    """The prices of the file at ``path``, or those that are shipped. Raises ``PriceError``."""
    name = "The shipped list of prices" if path is None else f"The list of prices {path}"
    try:
        shipped = files("review_advisor") / "prices.toml"
        text = shipped.read_text(encoding="utf-8") if path is None else path.read_text(encoding="utf-8")
        told = _Prices.model_validate(read_toml(text))
    except OSError as error:
        raise PriceError(f"{name} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, TomlError) as error:
        raise PriceError(f"{name} is not valid TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise PriceError(f"{name} is wrong at {place}: {first['msg']}.") from None
    prices = tuple(Price(**price.model_dump()) for price in told.prices)
    if len({(price.model, price.since) for price in prices}) < len(prices):
        raise PriceError(f"{name} has two prices of one model from the same day.")
    return prices
