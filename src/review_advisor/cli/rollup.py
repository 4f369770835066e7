"""``review-advisor rollup``: the KPIs of a period, each with its target beside it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from review_advisor.cli.ledger import AS_JSON, LEDGER, PATH
from review_advisor.cli.runs import in_order, moment, note_unknown
from review_advisor.cli.terminal.output import put
from review_advisor.cli.terminal.problems import ledger_refusals


@click.command(short_help="Show the KPIs of a period with their targets.")
@click.option(
    "--since",
    type=moment,
    metavar="WHEN",
    default="30d",
    show_default=True,
    help="From when: a date, or 24h, 7d, 2w ago.",
)
@click.option("--until", type=moment, metavar="WHEN", help="Until before when; else until now.")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@click.option("--prices", type=PATH, metavar="FILE", help="Another list of prices than the shipped one.")
@LEDGER
@AS_JSON
def rollup(
    since: datetime,
    until: datetime | None,
    repository: str | None,
    prices: Path | None,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Show the KPIs of the reviews that began in a period, each with its target beside it, and what they cost.

    What the ledger cannot tell is "not measured". A cost that the CLI did not report is taken from a dated list of
    prices; that of a model which is not in it is unknown.
    """
    end = until or datetime.now(UTC)
    in_order(since, end)
    with ledger_refusals():
        from review_advisor.app.rollup import roll_up
        from review_advisor.core.ledger.periods import Period
        from review_advisor.core.metrics.kpis import rollup_text

        found = roll_up(ledger_file, Period(since, end, repository), prices)
        note_unknown(ledger_file, repository)
    put(json.dumps(found.as_json(), indent=2) + "\n" if as_json else rollup_text(found))
