"""`score`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import click

from review_advisor.app.options import AS_JSON, PATH
from review_advisor.app.terminal import clear_refusals, put
from review_advisor.lab.recorded_reviews import MOST_BYTES, JudgeScore, MartianError, judge_score, read_results
from review_advisor.safety.files import required_file


@click.command(short_help="Score recorded reviews of a public benchmark, also as a council.")
@click.option(
    "--martian",
    "folder",
    type=PATH,
    metavar="DIR",
    required=True,
    help="A checkout of Martian's code-review-benchmark with its results.",
)
@AS_JSON
def score(folder: Path, as_json: bool) -> None:
    """Score recorded reviews of a public benchmark, tool by tool and as a council. It asks no model.

    Each tool is counted as the benchmark counts, and one to one. The council is the product's own rule: the best tool
    leads, the others confirm or add. A placebo and intervals stand beside it; docs/evaluation.md explains them.
    """
    from review_advisor.lab.recorded_reviews import scores_as_json, scores_text

    with clear_refusals():
        scores = list(score_martian(folder))
    put(json.dumps(scores_as_json(scores), indent=2) + "\n" if as_json else scores_text(scores))


_SEED = 17


def score_martian(folder: Path) -> Iterator[JudgeScore]:
    """The scores by each judge of the benchmark in ``folder``: the same ones again. Raises ``MartianError``."""
    for results in read_results(folder, lambda path: required_file(path, MOST_BYTES, MartianError)):
        chance = Random(_SEED)  # noqa: S311 (a score wants to be repeated, not secret)
        yield judge_score(results, chance.randrange)
