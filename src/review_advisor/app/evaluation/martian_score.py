"""Scoring the recorded reviews of a public benchmark: its tools by themselves, and as a council."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from review_advisor.adapters.martian_results import MOST_BYTES, MartianError, read_results
from review_advisor.adapters.user_file import required_file
from review_advisor.core.evaluation.council_gain import JudgeScore, judge_score

__all__ = ["MartianError", "score_martian"]
_SEED = 17


def score_martian(folder: Path) -> Iterator[JudgeScore]:
    """The scores by each judge of the benchmark in ``folder``: the same ones again. Raises ``MartianError``."""
    for results in read_results(folder, lambda path: required_file(path, MOST_BYTES, MartianError)):
        chance = Random(_SEED)  # noqa: S311 (a score wants to be repeated, not secret)
        yield judge_score(results, chance.randrange)
