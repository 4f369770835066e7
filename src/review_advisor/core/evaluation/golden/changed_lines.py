"""Which lines of a file a change touches."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple


class LineStep(NamedTuple):
    """Lines that became others. Each pair is from one place to another, counted from 0; an empty side is a place."""

    before: tuple[int, int]
    after: tuple[int, int]


def line_steps(before: str | None, after: str | None) -> tuple[LineStep, ...]:
    """What differs between two texts of a file, from its beginning; None is a file that is not there."""
    matcher = SequenceMatcher(None, lines_of(before), lines_of(after), autojunk=False)
    return tuple(
        LineStep((one, to_one), (other, to_other))
        for tag, one, to_one, other, to_other in matcher.get_opcodes()
        if tag != "equal"
    )


def new_lines(before: str | None, after: str | None) -> frozenset[int]:
    """The numbers of the lines of ``after`` that are not in ``before``, counted from 1."""
    return frozenset(line + 1 for step in line_steps(before, after) for line in range(*step.after))


def lines_of(text: str | None) -> list[str]:
    """The lines of a file; the end of the last one begins no further line."""
    return (text or "").removesuffix("\n").split("\n") if text else []
