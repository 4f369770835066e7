"""A golden set as one file of JSON lines: each a case with the keys of a TOML file and its ``id``."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.golden.text_reader import ReadText
from review_advisor.core.evaluation.golden.case_file import MOST_CASE_BYTES, read_case_line
from review_advisor.core.evaluation.golden.golden_case import GoldenSet, GoldenSetError, golden_set

_MOST_BYTES = 200_000_000
_MOST_LINES = 5_000


def read_case_lines(path: Path, read: ReadText) -> GoldenSet:
    """The cases of a file; blank lines are none. Raises ``GoldenSetError``."""
    lines = read(path, _MOST_BYTES).split("\n")
    told = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not told:
        raise GoldenSetError(f"{path} holds no golden case.")
    if len(told) > _MOST_LINES:
        raise GoldenSetError(f"{path} holds more than {_MOST_LINES:,} cases.")
    for number, line in told:
        if len(line) > MOST_CASE_BYTES:
            raise GoldenSetError(f"{path}, line {number} is longer than {MOST_CASE_BYTES:,} characters.")
    return golden_set(path.stem, "", [read_case_line(line, f"{path}, line {number}") for number, line in told])
