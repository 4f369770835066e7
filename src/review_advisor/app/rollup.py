"""`rollup` and `alerts`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from review_advisor.app.options import AS_JSON, LEDGER, PATH, in_order, moment
from review_advisor.app.runs import note_unknown
from review_advisor.app.terminal import clear_refusals, put
from review_advisor.ledger.artifacts import WeeklyRollup
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.kpis import Alarm, RepositoryRollup, Rollup, alarms, kpis, windows
from review_advisor.ledger.queries import Period, RunFilter
from review_advisor.ledger.run_queries import RecordedRun, knows_repository, list_runs, read_reviews
from review_advisor.ledger.sums import Added, add_up, add_up_by_repository, shadow_mode_sums
from review_advisor.policy.prices import Price, listed_prices, money

RAISED = 3
"""The exit code of ``alerts`` where there is something to be alarmed about, for cron and CI."""


NOTHING_IN_SHADOW = "No review of this period was in shadow mode.\n"


@click.command()
@click.option(
    "--since",
    type=moment,
    metavar="WHEN",
    default="30d",
    show_default=True,
    help="From when: a date, or 24h, 7d, 2w ago.",
)
@click.option("--until", type=moment, metavar="WHEN", help="Until when. [default: now]")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@click.option("--prices", type=PATH, metavar="FILE", help="Another list of prices than the shipped one.")
@click.option("--advice", is_flag=True, help="Also tell confidence, consults, and each override with its reason.")
@click.option("--shadow", is_flag=True, help="Instead, the reviews in shadow mode: see docs/shadow.md.")
@click.option("--by-repository", is_flag=True, help="A line for each repository instead.")
@LEDGER
@AS_JSON
def rollup(
    since: datetime,
    until: datetime | None,
    repository: str | None,
    prices: Path | None,
    advice: bool,
    shadow: bool,
    by_repository: bool,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Show the KPIs of the reviews that began in a period, each with its target, and what the reviews cost.

    A KPI without data is "not measured". If the CLI reported no cost, a dated list of prices applies; the cost of an
    unlisted model is unknown. --shadow shows the reviews in shadow mode instead.

    --by-repository shows a line for each repository; JSON has all KPIs of each.
    """
    if shadow and prices is not None:
        raise click.UsageError("--prices and --shadow exclude one another: shadow mode counts what calls reported.")
    if shadow and advice:
        raise click.UsageError("--advice and --shadow exclude one another: nobody acts on advice in shadow mode.")
    if by_repository and (shadow or advice):
        raise click.UsageError("--by-repository tells KPIs only: leave out --advice and --shadow.")
    end = until or datetime.now(UTC)
    in_order(since, end)
    with clear_refusals():
        from review_advisor.ledger.artifacts import weekly_text
        from review_advisor.ledger.kpis import repositories_text, rollup_text, shadow_mode_text
        from review_advisor.ledger.queries import Period

        period = Period(since, end, repository)
        told: dict[str, Any]
        if by_repository:
            repositories = roll_up_repositories(ledger_file, period, prices)
            told, text = {"repositories": [each.as_json() for each in repositories]}, repositories_text(repositories)
        elif shadow:
            sums = shadow_mode_sums(ledger_file, period)
            told, text = sums.as_json(), shadow_mode_text(sums) or NOTHING_IN_SHADOW
        else:
            found = roll_up(ledger_file, period, prices)
            told, text = found.as_json(), rollup_text(found)
            if advice:
                advised = roll_up_advice(ledger_file, period)
                told["advice"], text = advised.as_json(), text + "\n" + weekly_text(advised)
        note_unknown(ledger_file, repository)
    put(json.dumps(told, indent=2) + "\n" if as_json else text)


@click.command()
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
        from review_advisor.ledger.kpis import alarms_text

        found = look_for_alarms(ledger_file, until or datetime.now(UTC), repository)
    put(json.dumps([alarm.as_json() for alarm in found], indent=2) + "\n" if as_json else alarms_text(found))
    context.exit(RAISED if any(alarm.state == "raised" for alarm in found) else 0)


def roll_up(ledger: Path, period: Period, prices: Path | None = None) -> Rollup:
    """The KPIs and the money of a period, by the list of prices at ``prices`` or the shipped one.

    Raises ``LedgerError``, and ``PriceError`` for a list of prices that cannot be read.
    """
    listed = listed_prices(prices)
    return _rollup(add_up(ledger, period), listed)


def roll_up_repositories(
    ledger: Path, period: Period, prices: Path | None = None, *, timed: bool = True
) -> tuple[RepositoryRollup, ...]:
    """The rollup of each repository, that with the most runs first; without ``timed`` no ``wall_clock`` is measured.

    Raises ``LedgerError`` and ``PriceError``.
    """
    listed = listed_prices(prices)
    added = add_up_by_repository(ledger, period, timed=timed)
    in_order = sorted(added, key=lambda name: (-added[name].sums.runs, name))
    return tuple(RepositoryRollup(name, _rollup(added[name], listed)) for name in in_order)


def _rollup(added: Added, listed: Sequence[Price]) -> Rollup:
    return Rollup(added.sums, money(added.reported_usd, added.unpriced, listed), kpis(added.sums))


MOST_READ = 10_000


def roll_up_advice(ledger: Path, period: Period) -> WeeklyRollup:
    """What was advised in the reviews of a period, read from the events of its newest reviews.

    Raises ``LedgerError``.
    """
    wanted = RunFilter(since=period.since, until=period.until, repository=period.repository, limit=MOST_READ)
    told = WeeklyRollup(left_out=max(add_up(ledger, period).sums.runs - MOST_READ, 0))
    run_ids = [line.run_id for line in list_runs(ledger, wanted)]
    for run_id, kept in zip(run_ids, read_reviews(ledger, run_ids), strict=True):
        match kept:
            case RecordedRun():
                told.add(run_id, kept.events)
            case _:
                told.unreadable += 1
    return told


def look_for_alarms(ledger: Path, now: datetime, repository: str | None = None) -> tuple[Alarm, ...]:
    """What every alert says of the time before ``now``.

    Raises ``LedgerError``, also for a repository that the ledger has no run of.
    """
    if repository is not None and not knows_repository(ledger, repository):
        raise LedgerError(f"The ledger {ledger} has no run of {repository}. Check its name.")
    return alarms({window: add_up(ledger, Period(now - window, now, repository)).sums for window in windows()})
