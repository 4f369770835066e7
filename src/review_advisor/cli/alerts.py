"""``review-advisor alerts``: exit code 3 where there is something to be alarmed about, for cron and CI."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from review_advisor.cli.ledger import AS_JSON, LEDGER
from review_advisor.cli.terminal.output import put
from review_advisor.cli.terminal.problems import clear_refusals
from review_advisor.cli.terminal.typed_moments import moment

RAISED = 3


@click.command(short_help="Check the latest KPIs: exit 3 if an alert is raised, else 0.")
@click.option("--until", type=moment, metavar="WHEN", help="The end of the period. [default: now]")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@LEDGER
@AS_JSON
@click.pass_context
def alerts(
    context: click.Context, until: datetime | None, repository: str | None, ledger_file: Path, as_json: bool
) -> None:
    """Check the KPIs of the last day or week. Exit code 3 if an alert is raised.

    An alert needs a minimum number of cases. Exit code 2 if the ledger has no run of the repository, because a
    misspelt name would never raise an alert.
    """
    with clear_refusals():
        from review_advisor.app.rollup import look_for_alarms
        from review_advisor.core.metrics.kpis import alarms_text

        found = look_for_alarms(ledger_file, until or datetime.now(UTC), repository)
    put(json.dumps([alarm.as_json() for alarm in found], indent=2) + "\n" if as_json else alarms_text(found))
    context.exit(RAISED if any(alarm.state == "raised" for alarm in found) else 0)
