"""Thresholds of confidence, and how often findings of a kind were right."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from review_advisor.policy.escalation_rules import Threshold
from review_advisor.policy.surfaces import REVIEW_SURFACES, Surface
from review_advisor.safety.stated_values import TomlError, read_toml, value_mistake, value_place

THRESHOLDS_FILE = ".review-advisor/thresholds.toml"


class ThresholdConfig(BaseModel):
    """One threshold: the least confidence that is enough where everything holds that it names.

    ``labels`` is how many it was calibrated on; None where a person chose it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    surface: Surface | Literal[""] = ""
    category: str = ""
    language: str = ""
    labels: Annotated[int, Field(ge=0)] | None = None

    @field_validator("surface")
    @classmethod
    def _of_reviews(cls, surface: Surface | Literal[""]) -> Surface | Literal[""]:
        if surface and surface not in REVIEW_SURFACES:
            raise ValueError(f"no review has the surface {surface}")
        return surface

    @property
    def words(self) -> str:
        """What it is of, for a person."""
        return " / ".join(filter(None, (self.surface, self.category, self.language))) or "all findings"


class ThresholdFile(BaseModel):
    """The whole file. ``made`` is the day of the calibration that it rests on, and ``labels_of`` who labelled for it.

    Both only say how old and how good the thresholds are: `doctor` reads them, and no review.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    made: date | None = None
    labels_of: Literal["", "people", "golden"] = ""
    threshold: Annotated[tuple[ThresholdConfig, ...], Field(max_length=500)] = ()


def parse_thresholds(text: str) -> tuple[Threshold, ...]:
    """The tables ``[[threshold]]`` of ``.review-advisor/thresholds.toml``. Raises ``ValueError``."""
    found = parse_threshold_file(text).threshold
    return tuple(Threshold(each.value, each.surface, each.category.strip(), each.language.strip()) for each in found)


def parse_threshold_file(text: str) -> ThresholdFile:
    """``.review-advisor/thresholds.toml`` with what it rests on. Raises ``ValueError``."""
    try:
        table = read_toml(text)
    except TomlError as error:
        raise ValueError(f"{THRESHOLDS_FILE} is not valid TOML: {error}.") from None
    try:
        return ThresholdFile.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = value_place(first["loc"][:3])  # what follows names a branch of the form
        raise ValueError(f"{THRESHOLDS_FILE}: {f'{where}: ' if where else ''}{value_mistake(first)}.") from None


Confidence = Annotated[float, Field(ge=0.0, le=1.0)]
