"""Scoring the recorded reviews of a public benchmark: its tools by themselves, and as a council."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from review_advisor.adapters.martian_results import MOST_BYTES, MartianError, read_results
from review_advisor.adapters.user_file import UserFileError, read_user_file
from review_advisor.core.evaluation.council_gain import JudgeScore, judge_score

__all__ = ["MartianError", "score_martian"]
_SEED = 17


def score_martian(folder: Path) -> Iterator[JudgeScore]:
    """The scores by each judge of the benchmark in ``folder``: the same ones again. Raises ``MartianError``."""
    for results in read_results(folder, _read):
        chance = Random(_SEED)  # noqa: S311 (a score wants to be repeated, not secret)
        yield judge_score(results, chance.randrange)


def _read(path: Path) -> bytes:
    try:
        return read_user_file(path, MOST_BYTES)
    except UserFileError as problem:
        raise MartianError(f"{path} cannot be read: {problem}.") from None
