"""``review-advisor init``: put the workflow and a commented configuration into a repository."""

from __future__ import annotations

from pathlib import Path

import click

from review_advisor.cli.terminal.options import REPO
from review_advisor.cli.terminal.output import put
from review_advisor.cli.terminal.problems import NOTHING_ASKED, ExitWithCode, clear_refusals

_CREDENTIAL = """\

Next steps on GitHub:
  1. Store the model credential: a repository secret named ANTHROPIC_API_KEY.
"""
_SHADOW = """\
  2. Commit the files to the default branch, and open a pull request to see the check "review-advisor (shadow)" on it.
  3. Require neither that check nor review-advisor: in shadow mode nothing is enforced.
  4. Watch for some weeks what would have been. Then set mode = "enforce", and require the check review-advisor.
"""
_GATE = """\
  2. Commit the files to the default branch, and open a pull request to see the check review-advisor on it.
  3. Require that check, by its name, in a ruleset of the default branch. A job's name is not the gate.
  4. Anybody who may push a branch can forge a check that GitHub Actions makes. Let a GitHub App of your own publish it,
     and require the check from that app.
  5. review-advisor doctor --github OWNER/NAME looks at all of it. init does not ask GitHub who may push: if you
     are the only one, set github.self_settle to "admins", or you cannot settle the review of your own work.
  6. To watch the bot before it decides anything, set mode = "shadow", which init --shadow does.
"""
_TERMINAL = """\

Before a push, the same review from a Makefile (it passes on exit code 0 only):

    quality:
    \treview-advisor review --base origin/main --gate
"""


@click.command(short_help="Put the workflow and a commented configuration into a repository.")
@REPO
@click.option(
    "--ref",
    default="",
    metavar="OWNER/NAME@SHA",
    help="The commit of the action that the workflow runs. [default: the one that this program was installed from]",
)
@click.option(
    "--agent",
    type=click.Choice(["claude-code"]),
    help="Write instead a skill for this coding agent, and a block in AGENTS.md: when to ask an advisor.",
)
@click.option("--shadow", is_flag=True, help="Set the mode to shadow: reviews are shown, and nothing is enforced.")
@click.option("--evaluation", is_flag=True, help="Write instead the workflow that evaluates golden cases.")
@click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")
@click.pass_context
def init(
    context: click.Context,
    repo: Path,
    ref: str,
    agent: str | None,
    shadow: bool,
    evaluation: bool,
    dry_run: bool,
) -> None:
    """Write .review-advisor.toml and .github/workflows/review-advisor.yml.

    The configuration is commented and sets nothing, or with --shadow the mode. Existing files stay as they are; --agent
    rewrites only its own block. Exit code 0 if every file is there afterwards, else 2.
    """
    from review_advisor.app.doctor import repository_top
    from review_advisor.app.init import (
        EVALUATION_FILE,
        StarterError,
        action_named,
        evaluation_text,
        put_files,
        starter_files,
    )
    from review_advisor.app.settings import CONFIG_FILE
    from review_advisor.core.safety.terminal import printable

    with clear_refusals():
        top = repository_top(repo)
    if not (top / ".git").exists():
        raise ExitWithCode(printable(f"{repo} is not in a git repository."), NOTHING_ASKED)
    words = {"written": "would write" if dry_run else "wrote", "left": "left", "refused": "REFUSED"}
    if agent is not None:
        from review_advisor.app.tasks.agent_setup import put_agent_files

        if ref or shadow or evaluation:
            raise click.UsageError("--agent excludes --ref and --shadow, which are about the workflow.")
        told = put_agent_files(top, dry_run=dry_run)
        put("".join(f"{words[each.end]:<11}  {each.path}{': ' if each.says else ''}{each.says}\n" for each in told))
        context.exit(NOTHING_ASKED if any(each.end == "refused" for each in told) else 0)
    try:
        action = action_named(ref)
        files = {EVALUATION_FILE: evaluation_text(action)} if evaluation else starter_files(action, shadow=shadow)
    except StarterError as problem:
        raise ExitWithCode(printable(str(problem)), NOTHING_ASKED) from None
    done = put_files(top, files, dry_run=dry_run)
    for each in done:
        put(f"{words[each.end]:<11}  {each.path}{': ' if each.says else ''}{each.says}\n")
        if dry_run and each.end == "written":
            put("".join(f"    {line}\n" if line else "\n" for line in files[each.path].splitlines()))
    if evaluation:
        put("\nStart it on GitHub under Actions. Live answers need the repository secret ANTHROPIC_API_KEY.\n")
        context.exit(NOTHING_ASKED if any(each.end == "refused" for each in done) else 0)
    put(_CREDENTIAL + (_SHADOW if shadow else _GATE) + _TERMINAL)
    if shadow and any(each.path == CONFIG_FILE and each.end == "left" for each in done):
        put('\nYour configuration was left as it is: write mode = "shadow" into it yourself, above its first table.\n')
    context.exit(NOTHING_ASKED if any(each.end == "refused" for each in done) else 0)
