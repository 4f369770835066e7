"""Which lines of a file a change touches, and whether the labels of a case stand on them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from review_advisor.core.evaluation.golden.golden_case import GoldenFile, GoldenLabel


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


def misplaced_label(labels: Sequence[GoldenLabel], files: Sequence[GoldenFile]) -> str | None:
    """What is wrong with the first label whose lines are not there, or none that the change touches; None if all are.

    Nobody trusts a label that was counted by hand. ``files`` are all files of the change on both sides.
    """
    of_path = {file.path: file for file in files}
    for number, label in enumerate(labels, start=1):
        wrong = _wrong(label, of_path.get(label.file)) if label.file else None
        if wrong is not None:
            return f"label {number} is about {wrong}"
    return None


def _wrong(label: GoldenLabel, file: GoldenFile | None) -> str | None:
    if file is None or file.after is None:
        return f"{label.file}, which is not there after the change"
    if not label.first_line:
        return None
    if label.last_line > len(lines_of(file.after)):
        return f"line {label.last_line} of {label.file}, which has fewer lines"
    touched = not new_lines(file.before, file.after).isdisjoint(range(label.first_line, label.last_line + 1))
    if touched and label.unchanged:
        return f"lines of {label.file} that change, and says unchanged"
    if not touched and not label.unchanged:
        return f"lines of {label.file} that do not change: correct them, or say unchanged = true"
    return None
