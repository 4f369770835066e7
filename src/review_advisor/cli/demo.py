"""``review-advisor demo``: the whole pipeline on a real git range, with the embedded agent: no token, no model."""

from __future__ import annotations

from pathlib import Path

import click

from review_advisor.cli.output import note
from review_advisor.cli.problems import NOT_TO_ITS_END, clear_refusals

ARTIFACTS = Path("review_logs")


@click.command(short_help="Review the last commits with static checks: no model.")
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), help="The repository. [default: this one]")
@click.option(
    "--artifacts",
    type=click.Path(path_type=Path),
    default=ARTIFACTS,
    show_default=True,
    metavar="DIR",
    help="Where the review's folder goes.",
)
@click.pass_context
def demo(context: click.Context, repo: Path, artifacts: Path) -> None:
    """Review this repository's last commits with the embedded agent: static checks, no model, no token.

    Where the history holds nothing to review, a sample repository is made and reviewed instead. Exit code 0
    if the review ran to its end, whatever it found.
    """
    with clear_refusals():
        from review_advisor.app.change import Selection
        from review_advisor.app.demo import demonstration_range
        from review_advisor.app.doctor import AgentChoice
        from review_advisor.app.review import ReviewOptions
        from review_advisor.cli.review import perform

        with demonstration_range(repo) as shown:
            note(f"Reviewing {shown.words}, with the embedded agent: static checks, no model.")
            options = ReviewOptions(
                repo=shown.repo,
                selection=Selection("range", shown.revisions),
                agent=AgentChoice("embedded"),
                artifacts=artifacts,
            )
            code = perform(options, as_json=False, brief=False)
    if code >= NOT_TO_ITS_END:
        context.exit(code)
    note(f"`review-advisor review` would exit with {code} here. The same by the real models: {shown.real_command}")
