"""Validators that cut an answer or set it right, and note that they did, instead of refusing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticOmit

from review_advisor.core.answers.words import every_word, worst_named
from review_advisor.core.facts.files.value_mistake import value_mistake

_MOST_COMPLAINTS = 10


@dataclass(slots=True)
class Notes:
    """What was cut from one answer or set right in it, in words without any of the answer's own.

    It is handed to pydantic as the validation's context. Without one, validators cut silently and refuse what is wrong:
    stored values were read with notes when they came.
    """

    said: dict[str, None] = field(default_factory=dict)
    unreadable: list[tuple[object, str]] = field(default_factory=list)
    """Items that no validator could read, each with the reason; whoever reads the answer says what becomes of them."""

    def add(self, note: str) -> None:
        """Note it; what was noted before is not noted twice."""
        self.said[note] = None

    @property
    def words(self) -> tuple[str, ...]:
        """All notes, in order."""
        return tuple(self.said)


def complaints(error: ValidationError) -> str:
    """Where an answer is wrong and how, without echoing its own words."""
    lines = []
    for each in error.errors()[:_MOST_COMPLAINTS]:
        where = ".".join(str(step) for step in each["loc"]) or "the object"
        lines.append(f"{where}: {value_mistake(each, block='an object')}")
    return "; ".join(lines)


def at_most(most: int, *, worst_first: Sequence[str] = ()) -> AfterValidator:
    """Keep the first ``most`` characters or items.

    ``worst_first`` are severities: items are then kept by them, the worst first, and stay in their order.
    """

    def cut(value: Any, info: ValidationInfo) -> Any:
        if len(value) <= most:
            return value
        what = "characters" if isinstance(value, str) else "items"
        _note(info, f"{info.field_name} was cut to {most:,} of its {len(value):,} {what}")
        if not worst_first:
            return value[:most]
        ranked = sorted(range(len(value)), key=lambda place: worst_first.index(value[place].severity))
        return tuple(value[place] for place in sorted(ranked[:most]))

    return AfterValidator(cut)


def at_most_words(most: int) -> AfterValidator:
    """Keep the first ``most`` words of a text."""

    def cut(value: str, info: ValidationInfo) -> str:
        words = value.split()
        if len(words) <= most:
            return value
        _note(info, f"{info.field_name} was cut to {most} of its {len(words)} words")
        return " ".join(words[:most])

    return AfterValidator(cut)


def left_out_beyond(most: int) -> AfterValidator:
    """Leave a text out that is longer: half of it would be wrong."""

    def leave_out(value: str, info: ValidationInfo) -> str | None:
        if len(value) <= most:
            return value
        _note(info, f"{info.field_name} was left out: it has {len(value):,} characters, the most is {most:,}")
        return None

    return AfterValidator(leave_out)


def severity_of(severities: Sequence[str]) -> BeforeValidator:
    """Read a severity in whatever form it was given, as ``worst_named`` does."""

    def read(value: object, info: ValidationInfo) -> object:
        if not isinstance(info.context, Notes) or value in severities:
            return value
        severity = worst_named(severities, value)
        if severity not in every_word(value):
            _note(info, f"{info.field_name} was none of {', '.join(severities)}: it counts as {severity}")
        return severity

    return BeforeValidator(read)


def otherwise(fallback: object) -> WrapValidator:
    """Take ``fallback`` for a value that cannot be read."""

    def read(value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        try:
            return handler(value)
        except ValidationError:
            if not isinstance(info.context, Notes):
                raise
            info.context.add(f"{info.field_name} could not be read: it counts as {fallback}")
            return fallback

    return WrapValidator(read)


def or_left_out(*, kept_aside: bool = False) -> WrapValidator:
    """Leave an item of a list out that cannot be read. ``kept_aside`` puts it among the unreadable ones."""

    def read(value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        try:
            return handler(value)
        except ValidationError as error:
            if not isinstance(info.context, Notes):
                raise
            if kept_aside:
                info.context.unreadable.append((value, complaints(error)))
            else:
                info.context.add(f"an item of {info.field_name} was left out: {complaints(error)}")
            raise PydanticOmit from error

    return WrapValidator(read)


def _note(info: ValidationInfo, note: str) -> None:
    if isinstance(info.context, Notes):
        info.context.add(note)
