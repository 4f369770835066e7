"""``review-advisor doctor``: what is missing for a review, and how to get it."""

from __future__ import annotations

import json
import os

import click

from review_advisor.cli.output import put


@click.command(short_help="Say what is missing for a review, and how to get it.")
@click.option("--claude-bin", default="", metavar="PATH", help="The claude binary (default: from PATH).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(context: click.Context, claude_bin: str, as_json: bool) -> None:
    """Say whether git, the claude CLI, its credential and the embedded agent are ready.

    Exit code 0 if at least one agent can review here, else 2.
    """
    from review_advisor.examination import examine, ready

    checks = examine(os.environ, claude_bin)
    if as_json:
        rows = [{"for": c.agent, "name": c.name, "ok": c.ok, "says": c.says} for c in checks]
        put(json.dumps({"ready": ready(checks), "checks": rows}, indent=2) + "\n")
    else:
        lines = [
            f"{'ok     ' if each.ok else 'MISSING'}  {each.agent:<9} {each.name:<12} {each.says}" for each in checks
        ]
        put("\n".join([*lines, "", f"Agents that can review here: {', '.join(ready(checks)) or 'none'}"]) + "\n")
    context.exit(0 if ready(checks) else 2)
