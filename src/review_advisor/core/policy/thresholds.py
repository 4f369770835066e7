"""The thresholds of confidence that a repository sets for itself: ``.review-advisor/thresholds.toml`` of its base."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from review_advisor.core.facts.files.toml_text import TomlError, read_toml
from review_advisor.core.policy.escalation_rules import Threshold
from review_advisor.core.policy.surfaces import Surface

THRESHOLDS_FILE = ".review-advisor/thresholds.toml"


class ThresholdConfig(BaseModel):
    """One threshold: the least confidence that is enough where everything holds that it names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    surface: Surface | Literal[""] = ""
    category: str = ""
    language: str = ""


class _ThresholdFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: Annotated[tuple[ThresholdConfig, ...], Field(max_length=500)] = ()


def parse_thresholds(text: str) -> tuple[Threshold, ...]:
    """The tables ``[[threshold]]`` of ``.review-advisor/thresholds.toml``. Raises ``ValueError``."""
    try:
        table = read_toml(text)
    except TomlError as error:
        raise ValueError(f"{THRESHOLDS_FILE} is not valid TOML: {error}.") from None
    try:
        found = _ThresholdFile.model_validate(table).threshold
    except ValidationError as error:
        raise ValueError(f"{THRESHOLDS_FILE}: {error.errors(include_url=False)[0]['msg']}.") from None
    return tuple(Threshold(each.value, each.surface, each.category.strip(), each.language.strip()) for each in found)
