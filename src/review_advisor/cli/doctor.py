"""``review-advisor doctor``: what is missing for a review, and how to get it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.output import plain, put
from review_advisor.cli.terminal.problems import clear_refusals

if TYPE_CHECKING:
    from review_advisor.app.doctor import Diagnosis


@click.command(short_help="Say what is missing for a review, and how to get it.")
@click.option("--claude-bin", default="", metavar="PATH", help="The claude binary (default: from PATH).")
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), help="The repository. [default: this one]")
@click.option("--github", "repository", metavar="OWNER/NAME", help="Also ask GitHub about this repository's gate.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(context: click.Context, claude_bin: str, repo: Path, repository: str | None, as_json: bool) -> None:
    """Say whether git, the claude CLI, its credential and the embedded agent are ready.

    It names the files of your own rules for reviews that are committed here. Where a repository has the workflow that
    `init` writes, its drift is told; with --github also what the token in
    GITHUB_TOKEN may do there, whether the check is required, and who could forge it. That is advice. Exit code 0 if at
    least one agent can review here, else 2.
    """
    with clear_refusals():
        from review_advisor.app.applicable_rules import examine_rules
        from review_advisor.app.configuration import working_config
        from review_advisor.app.doctor import examine, examine_github, examine_workflow, ready

        checks = [*examine(os.environ, claude_bin), *examine_workflow(repo)]
        checks += examine_rules(repo)
        if repository is not None:
            config, _ = working_config(repo)
            checks += examine_github(repository, config.github, os.environ)
    agents = ready(checks)
    if as_json:
        rows = [{"for": c.agent, "name": c.name, "ok": c.ok, "says": c.says} for c in checks]
        put(json.dumps({"ready": agents, "checks": rows}, indent=2) + "\n")
    else:
        put("\n".join([*map(_row, checks), "", f"Agents that can review here: {', '.join(agents) or 'none'}"]) + "\n")
    context.exit(0 if agents else 2)


def _row(check: Diagnosis) -> str:
    word = "ok" if check.ok else "ADVICE" if check.agent in ("github", "rules") else "MISSING"
    return f"{word:<7}  {check.agent:<9} {check.name:<14} {plain(check.says)}"
