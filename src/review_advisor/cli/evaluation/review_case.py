"""``review-advisor eval review-case``: one review of a golden case, in the process that ``eval run`` starts for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import click

from review_advisor.cli.terminal.options import PATH
from review_advisor.cli.terminal.problems import clear_refusals


@click.command(name="review-case", hidden=True)
@click.argument("repo", type=PATH)
@click.argument("revisions")
@click.option("--agent", type=click.Choice(["embedded", "claude"]), required=True)
@click.option("--rules", default="", help="The commit whose rules hold; empty: the base.")
@click.option("--config", type=PATH, required=True)
@click.option("--output", type=PATH, required=True)
@click.option("--artifacts", type=PATH, required=True)
@click.option("--title")
@click.option("--body-file", type=PATH)
@click.option("--spec-file", type=PATH)
@click.option("--most-usd", type=float)
@click.pass_context
def review_case(
    context: click.Context, /, repo: Path, revisions: str, agent: Literal["embedded", "claude"], rules: str, **own: Any
) -> None:
    """Review one golden case past every cache, and leave the outcome at --output."""
    with clear_refusals():
        from review_advisor.app.change_source import Selection
        from review_advisor.app.doctor import AgentChoice
        from review_advisor.app.review import ReviewOptions, run_review

        options = ReviewOptions(
            repo=repo,
            selection=Selection("range", revisions, rules=rules),
            agent=AgentChoice(agent, staged=agent == "embedded"),
            repair="off",
            fresh=True,
            **own,
        )
        stored = run_review(options, os.environ, lambda _event: None, lambda _sentence: None)
        context.exit(128 + stored.interrupted_by if stored.interrupted_by else stored.document.exit_code)
