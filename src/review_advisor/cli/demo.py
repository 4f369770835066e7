"""``review-advisor demo``: the whole pipeline on a real git range, with the embedded agent: no token, no model."""

from __future__ import annotations

from pathlib import Path

import click

from review_advisor.cli.terminal.options import PATH, artifacts_option
from review_advisor.cli.terminal.output import note
from review_advisor.cli.terminal.problems import NOT_TO_ITS_END, clear_refusals

PAGE = "github.html"
"""The file in the review's folder that shows the pull request."""


@click.command(short_help="Review a sample change with static checks: no model.")
@click.option("--range", "revisions", metavar="A..B", help="Review this range of --repo instead of the sample.")
@click.option("--repo", type=PATH, help="The repository of --range. [default: this one]")
@artifacts_option("Where the review's folder goes.")
@click.pass_context
def demo(context: click.Context, revisions: str | None, repo: Path | None, artifacts: Path) -> None:
    """Review a small sample change with the embedded agent: static checks, no model, no token.

    The review's folder gets a page that shows the check and the comments as they would stand on GitHub. Exit code 0 if
    the review ran to its end, whatever it found.
    """
    if repo is not None and revisions is None:
        raise click.UsageError("--repo needs --range: it is the repository of that range.")
    with clear_refusals():
        from review_advisor.app.change_source import Selection
        from review_advisor.app.demo import demonstration
        from review_advisor.app.doctor import AgentChoice
        from review_advisor.app.review import ReviewOptions
        from review_advisor.cli.review import Shown, perform
        from review_advisor.mockworld.publishing import page_of

        with demonstration(repo or Path(), revisions) as shown:
            note(f"Reviewing {shown.words}.")
            note("The embedded agent plays both models with static checks. Processes, hooks and rulings are real.")
            note("Staged: what the first report leaves out, the consult, and the veto.")
            options = ReviewOptions(
                repo=shown.repo,
                selection=Selection("range", shown.revisions),
                agent=AgentChoice("embedded", staged=True),
                artifacts=artifacts,
            )
            stored = perform(options, Shown(explain=True))
            if stored.code >= NOT_TO_ITS_END:
                context.exit(stored.code)
            page = stored.folder / PAGE
            page.write_text(page_of(shown.change, stored.document), encoding="utf-8")
    note(f"As it would stand on GitHub: {page}")
    note(f"`review-advisor review` would exit with {stored.code} here. With real models: {shown.real_command}")
