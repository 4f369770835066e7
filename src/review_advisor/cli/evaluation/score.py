"""``review-advisor score``: what recorded reviews come to, tool by tool and as a council."""

from __future__ import annotations

import json
from pathlib import Path

import click

from review_advisor.cli.terminal.options import AS_JSON, PATH
from review_advisor.cli.terminal.output import put
from review_advisor.cli.terminal.problems import clear_refusals


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
    from review_advisor.app.evaluation.martian_score import score_martian
    from review_advisor.core.evaluation.score_table import scores_as_json, scores_text

    with clear_refusals():
        scores = list(score_martian(folder))
    put(json.dumps(scores_as_json(scores), indent=2) + "\n" if as_json else scores_text(scores))
