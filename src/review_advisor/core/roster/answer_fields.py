"""The fields that an advisor's own answer has beside its vote."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

_RESERVED_NAMES = (
    "id advisor calls findings verdict reasoning disagreements opinion concerns instances of_each summary"
    " confidence pre_existing suggested_fix_direction"
)
RESERVED = frozenset(_RESERVED_NAMES.split())
"""What every answer of an advisor says anyway, or its reader is told with it. Its own fields have other names."""
_Name = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9_]{0,39}$")]
_Words = Annotated[str, Field(max_length=500)]


class AnswerField(BaseModel):
    """One field of an advisor's own answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["string", "number", "integer", "boolean", "array"]
    description: _Words = ""
    enum: Annotated[tuple[_Words, ...], Field(max_length=50)] = ()
    minimum: Annotated[float, Field(allow_inf_nan=False)] | None = None
    maximum: Annotated[float, Field(allow_inf_nan=False)] | None = None
    items: AnswerItems | None = None


class AnswerItems(BaseModel):
    """What the items of a list are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["string", "number", "integer", "boolean"]
    description: _Words = ""


class AnswerFields(BaseModel):
    """An advisor's own answer beside its vote: the part of JSON Schema that every model fills in without fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["object"] = "object"
    description: _Words = ""
    properties: Annotated[dict[_Name, AnswerField], Field(min_length=1, max_length=20)]
    required: tuple[str, ...] = ()
    additionalProperties: bool = False  # noqa: N815 (JSON Schema's word)

    @model_validator(mode="after")
    def _names_fit(self) -> AnswerFields:
        taken = sorted(name for name in self.properties if name in RESERVED or hasattr(BaseModel, name))
        if taken:
            raise ValueError(f"the name {taken[0]!r} is taken: choose another")
        lost = sorted(set(self.required) - self.properties.keys())
        if lost:
            raise ValueError(f"{lost[0]!r} is required and not among the properties")
        return self
