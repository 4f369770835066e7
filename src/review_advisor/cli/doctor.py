"""``review-advisor doctor``: what is missing for a review, and how to get it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from review_advisor.cli.terminal.options import AS_JSON, LEDGER, REPO, artifacts_option
from review_advisor.cli.terminal.output import plain, put
from review_advisor.cli.terminal.problems import clear_refusals

if TYPE_CHECKING:
    from review_advisor.app.doctor import Diagnosis


FAILED = 3
"""The exit code where a check of --fit or --security fails."""


@click.command(short_help="Say what is missing for a review, and how to get it.")
@click.option("--claude-bin", default="", metavar="PATH", help="The claude binary (default: from PATH).")
@REPO
@artifacts_option("Where recordings lie.")
@click.option("--github", "repository", metavar="OWNER/NAME", help="Also ask GitHub about this repository's gate.")
@click.option("--fit", is_flag=True, help="Say instead whether the advisor pays here, by the ledger.")
@click.option("--security", is_flag=True, help="Say instead what weakens the bot here, with a remedy for each.")
@LEDGER
@AS_JSON
@click.pass_context
def doctor(
    context: click.Context,
    claude_bin: str,
    repo: Path,
    artifacts: Path,
    repository: str | None,
    fit: bool,
    security: bool,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Say whether git, the claude CLI, its credential and the embedded agent are ready.

    It also names the committed files of your own rules, the advisors that the working tree declares, and the lines in
    which the workflow differs from the one that `init` writes; with --github, what the token in GITHUB_TOKEN may do
    there, whether the check is required, and who could forge it. Exit code 0 if at least one agent can review here,
    else 2.

    With --fit or --security, only those checks run. Exit code 3 if one of them fails, else 0.
    """
    if fit or security:
        context.exit(_examine(claude_bin, repo, artifacts, ledger_file if fit else None, security, as_json=as_json))
    with clear_refusals():
        from review_advisor.app.applicable_rules import examine_mode, examine_roster, examine_rules
        from review_advisor.app.configuration import publication_rules, working_config
        from review_advisor.app.diagnosis.calibration_age import examine_calibration
        from review_advisor.app.diagnosis.recordings import examine_recordings
        from review_advisor.app.doctor import examine, examine_github, examine_workflow, ready

        checks = [*examine(os.environ, claude_bin, repo), *examine_workflow(repo)]
        checks += examine_mode(repo)
        checks += examine_rules(repo)
        checks += examine_roster(repo)
        checks += examine_calibration(repo, datetime.now(UTC).date())
        checks += examine_recordings(repo, Path.cwd() / artifacts)
        if repository is not None:
            config, _ = working_config(repo)
            checks += examine_github(repository, publication_rules(config), os.environ)
    agents = ready(checks)
    if as_json:
        put(json.dumps({"ready": agents, "checks": _json(checks)}, indent=2) + "\n")
    else:
        put("\n".join([*map(_row, checks), "", f"Agents that can review here: {', '.join(agents) or 'none'}"]) + "\n")
    context.exit(0 if agents else 2)


def _examine(
    claude_bin: str, repo: Path, artifacts: Path, ledger: Path | None, security: bool, *, as_json: bool
) -> int:
    checks: list[Diagnosis] = []
    with clear_refusals():
        from review_advisor.app.diagnosis.fit import examine_fit
        from review_advisor.app.diagnosis.security import examine_security

        if ledger is not None:
            checks += examine_fit(ledger, datetime.now(UTC))
        if security:
            checks += examine_security(repo, Path.cwd() / artifacts, os.environ, claude_bin)
    put(json.dumps({"checks": _json(checks)}, indent=2) + "\n" if as_json else "".join(f"{_row(c)}\n" for c in checks))
    return 0 if all(check.ok is not False for check in checks) else FAILED


def _json(checks: Sequence[Diagnosis]) -> list[dict[str, Any]]:
    return [{"for": c.agent, "name": c.name, "ok": c.ok, "says": c.says} for c in checks]


def _row(check: Diagnosis) -> str:
    failed = "MISSING" if check.agent in ("claude", "embedded", "both") else "ADVICE"
    word = "-" if check.ok is None else "ok" if check.ok else failed
    return f"{word:<7}  {check.agent:<9} {check.name:<14} {plain(check.says)}"
