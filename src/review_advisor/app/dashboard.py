"""The dashboard: what the ledger holds, as a site of static files, and a server on this machine for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from review_advisor.adapters.dashboard.server import serving
from review_advisor.adapters.dashboard.site import SiteError, writing
from review_advisor.adapters.ledger.browsing import RecordedRun, count_ends, first_and_last, read_castings, read_reviews
from review_advisor.app.rollup import look_for_alarms, roll_up
from review_advisor.app.runs import list_runs, show_run
from review_advisor.core.ledger.periods import Period, periods
from review_advisor.core.ledger.runs import RunFilter, RunLine
from review_advisor.core.outcome.cost import RoleCost
from review_advisor.core.pages.costs import together
from review_advisor.core.pages.overview import Stretch, alerts_json, list_json, overview_json
from review_advisor.core.pages.pages import RunPage

__all__ = ["SiteError", "Written", "serving", "write_dashboard"]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: how many runs have a page, and how many of the dashboard's period have none."""

    folder: Path
    runs: int
    left_out: int


def write_dashboard(
    ledger: Path,
    folder: Path,
    made: datetime,
    *,
    since: datetime | None = None,
    limit: int = 10_000,
    opens: str | None = None,
) -> Written:
    """Write the dashboard of the runs that began at ``since`` or later, and before it was ``made``, into ``folder``.

    The newest ``limit`` of them are listed and have a page; KPIs and plots are of all. ``opens`` names the run, by its
    id or the beginning of it, at which the dashboard opens: where it is none of those it has a page, too, and is listed
    apart. Raises ``LedgerError`` and ``SiteError``.
    """
    period = Period(since, made)
    lines = list_runs(ledger, RunFilter(since=since, until=made, limit=limit))
    opened = None if opens is None else show_run(ledger, opens).line
    is_listed = opened is None or any(line.run_id == opened.run_id for line in lines)
    apart = [] if opened is None or is_listed else [opened]
    apart_counts = any(_holds(period, line) for line in apart)
    rollup = roll_up(ledger, period)
    left_out = max(rollup.sums.runs - len(lines) - apart_counts, 0)
    with writing(folder) as site:
        files, counted, untold = {}, list[RoleCost](), 0
        for page in _pages(ledger, [*lines, *apart]):
            files[page.line.run_id] = site.write("runs", page.as_json())
            if apart_counts or page.line not in apart:
                counted += page.counted
                untold += bool(page.trouble)
        castings = read_castings(ledger, files)
        parts = {run_id: castings.parts[casting] for run_id, casting in castings.of_run.items()}
        about = {
            "runs": len(lines),
            "left_out": left_out,
            "untold": untold,
            "lists": [site.write("lists", chunk) for chunk in list_json(lines, parts, files)],
            "apart": next(list_json(apart, parts, files), None),
            "apart_counts": apart_counts,
            "opens": opened and opened.run_id,
        }
        about |= overview_json(rollup, _stretches(ledger, period), together(counted), since, made)
        site.finish(about | alerts_json(look_for_alarms(ledger, made)))
    return Written(folder, len(lines) + len(apart), left_out)


def _holds(period: Period, line: RunLine) -> bool:
    begun = datetime.fromisoformat(line.started_at)
    return (period.since is None or begun >= period.since) and (period.until is None or begun < period.until)


def _pages(ledger: Path, lines: Sequence[RunLine]) -> Iterator[RunPage]:
    """The page of each run."""
    for line, kept in zip(lines, read_reviews(ledger, (line.run_id for line in lines)), strict=True):
        match kept:
            case RecordedRun():
                yield RunPage(
                    line, kept.events, kept.document, kept.labels, kept.paid_elsewhere, unlabelled=kept.unlabelled
                )
            case trouble:
                yield RunPage(line, trouble=trouble)


def _stretches(ledger: Path, period: Period) -> list[Stretch]:
    """What the plots show, point by point: each is a rollup of its own."""
    found = first_and_last(ledger, period)
    if found is None:
        return []
    points = periods(*found, period)
    counted = count_ends(ledger, points)
    return [Stretch(each, roll_up(ledger, each), ends) for each, ends in zip(points, counted, strict=True)]
