"""``review-advisor review``: review a git range, the index, or a patch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from review_advisor.cli.problems import clear_refusals

if TYPE_CHECKING:
    from review_advisor.app import ReviewOptions

READABLE = click.Path(path_type=Path)


@click.command()
@click.option("--repo", type=READABLE, default=Path(), help="The repository (default: this folder's).")
@click.option("--range", "revisions", metavar="A..B", help="Review from A to B (A...B: from their merge base).")
@click.option("--base", metavar="REF", help="Review what HEAD brought since it left REF.")
@click.option("--staged", is_flag=True, help="Review what is staged.")
@click.option("--patch", type=READABLE, metavar="FILE", help="Review a patch file; no tree, so no reading tools.")
@click.option("--title", help="The change's title (default: the head commit's subject).")
@click.option("--body-file", type=READABLE, metavar="FILE", help="The change's description.")
@click.option("--spec", "spec_file", type=READABLE, metavar="FILE", help="The specification it implements.")
@click.option(
    "--agent",
    type=click.Choice(["claude", "embedded"]),
    default="claude",
    show_default=True,
    help="The real CLI, or static checks without a model.",
)
@click.option("--claude-bin", default="", metavar="PATH", help="The claude binary (default: from PATH).")
@click.option(
    "--jobs", type=click.IntRange(1, 16), default=1, show_default=True, help="Calls at a time, for large changes."
)
@click.option(
    "--repair", type=click.Choice(["off"]), default="off", show_default=True, help="Whether to propose a patch."
)
@click.option(
    "--artifacts",
    type=READABLE,
    default=Path("review_logs"),
    show_default=True,
    metavar="DIR",
    help="Where the review's folder goes.",
)
@click.option("--output", type=READABLE, metavar="FILE", help="Also write outcome.json here.")
@click.option("--json", "as_json", is_flag=True, help="Print outcome.json instead of the report.")
@click.option(
    "--config",
    "config_file",
    type=READABLE,
    metavar="FILE",
    help="Configuration (default: the base commit's .review-advisor.toml or pyproject.toml).",
)
@click.option("--profile", type=click.Choice(["adr", "hydraflow"]), help="Default critical paths.")
@click.option("--gate", is_flag=True, help="For make and CI: a one-line report when approved; exit 0 only then.")
@click.pass_context
def review(
    context: click.Context,
    repo: Path,
    revisions: str | None,
    base: str | None,
    staged: bool,
    patch: Path | None,
    title: str | None,
    body_file: Path | None,
    spec_file: Path | None,
    agent: Literal["claude", "embedded"],
    claude_bin: str,
    jobs: int,
    repair: str,
    artifacts: Path,
    output: Path | None,
    as_json: bool,
    config_file: Path | None,
    profile: Literal["adr", "hydraflow"] | None,
    gate: bool,
) -> None:
    """Review a change: pre-flight plans, the executor reviews, post-verify judges."""
    del repair
    chosen = _selection(revisions, base, patch, staged=staged)
    with clear_refusals():
        from review_advisor.app import ReviewOptions, Selection
        from review_advisor.examination import AgentChoice

        options = ReviewOptions(
            repo=repo,
            selection=Selection(*chosen),
            agent=AgentChoice(agent, claude_bin),
            jobs=jobs,
            artifacts=artifacts,
            output=output,
            config=config_file,
            profile=profile,
            title=title,
            body_file=body_file,
            spec_file=spec_file,
        )
        code = perform(options, as_json=as_json, brief=gate)
    context.exit(code)


def _selection(
    revisions: str | None, base: str | None, patch: Path | None, *, staged: bool
) -> tuple[Literal["range", "base", "staged", "patch"], str]:
    given: list[tuple[Literal["range", "base", "staged", "patch"], str]] = []
    if revisions is not None:
        given.append(("range", revisions))
    if base is not None:
        given.append(("base", base))
    if staged:
        given.append(("staged", ""))
    if patch is not None:
        given.append(("patch", str(patch)))
    if len(given) != 1:
        raise click.UsageError("Say what to review with exactly one of --range, --base, --staged and --patch.")
    return given[0]


def perform(options: ReviewOptions, *, as_json: bool, brief: bool) -> int:
    """Run the review with progress on stderr, print its result on stdout, and return its exit code."""
    from review_advisor.app import run_review
    from review_advisor.cli.progress import progress
    from review_advisor.core.outcome.document import outcome_json
    from review_advisor.core.outcome.outcomes import Outcome
    from review_advisor.core.outcome.terminal import headline, report_text

    with progress() as show:
        stored = run_review(options, os.environ, show.event, show.warning)
    if as_json:
        click.echo(outcome_json(stored.document), nl=False)
    elif brief and stored.document.outcome is Outcome.APPROVED:
        click.echo(headline(stored.document))
    else:
        click.echo(report_text(stored.document), nl=False)
    click.echo(f"Artefacts: {stored.folder}", err=True)
    if stored.interrupted_by:
        click.echo("Interrupted: the review did not run to its end.", err=True)
        return 128 + stored.interrupted_by
    return stored.document.exit_code
