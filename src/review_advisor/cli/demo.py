"""``review-advisor demo``: the whole pipeline on a real git range, with the embedded agent: no token, no model."""

from __future__ import annotations

from pathlib import Path

import click

from review_advisor.cli.problems import clear_refusals


@click.command()
@click.option(
    "--repo", type=click.Path(path_type=Path), default=Path(), help="The repository (default: this folder's)."
)
@click.option(
    "--artifacts",
    type=click.Path(path_type=Path),
    default=Path("review_logs"),
    show_default=True,
    metavar="DIR",
    help="Where the review's folder goes.",
)
@click.pass_context
def demo(context: click.Context, repo: Path, artifacts: Path) -> None:
    """Review this repository's last commits with the embedded agent: static checks, no model, no token.

    Where the history holds nothing to review, a sample repository is made and reviewed instead.
    """
    with clear_refusals():
        from review_advisor.app import ReviewOptions, Selection
        from review_advisor.cli.review import perform
        from review_advisor.demonstration import demonstration_range
        from review_advisor.examination import AgentChoice

        with demonstration_range(repo) as (where, revisions, words):
            click.echo(f"Reviewing {words}, with the embedded agent: static checks, no model.", err=True)
            options = ReviewOptions(
                repo=where,
                selection=Selection("range", revisions),
                agent=AgentChoice("embedded"),
                artifacts=artifacts,
            )
            code = perform(options, as_json=False, brief=False)
    click.echo(f"\nExit code {code}. The same review by the real models: review-advisor review --range {revisions}")
    context.exit(code)
