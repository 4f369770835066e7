"""Whether the labels of a case stand on lines that its change touches: nobody trusts one that was counted by hand."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.evaluation.golden.changed_lines import lines_of, new_lines
from review_advisor.core.evaluation.golden.golden_case import GoldenFile, GoldenLabel


def misplaced_label(labels: Sequence[GoldenLabel], files: Sequence[GoldenFile]) -> str | None:
    """What is wrong with the first label whose lines are not there, or none that the change touches; None if all are.

    ``files`` are all files of the change on both sides.
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
