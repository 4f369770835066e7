"""The dashboard: what the ledger holds, as a site of static files, and a server on this machine for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from review_advisor.adapters.dashboard.server import serving
from review_advisor.adapters.dashboard.site import Site, SiteError
from review_advisor.adapters.ledger.browsing import Kept, count_ends, first_and_last, read_castings, read_reviews
from review_advisor.core.record.costs import Cost, together
from review_advisor.core.record.kpis import Period
from review_advisor.core.record.overview import Stretch, list_json, overview_json, run_file
from review_advisor.core.record.pages import RunPage
from review_advisor.core.record.periods import periods
from review_advisor.core.record.runs import RunFilter, RunLine
from review_advisor.records import list_runs, show_run
from review_advisor.rollups import roll_up

__all__ = ["SiteError", "Written", "serving", "write_dashboard"]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: how many runs have a page, and how many of the same time have none."""

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
    """Write the dashboard of the runs that began at ``since`` or later into ``folder``.

    The newest ``limit`` of them are listed and have a page; KPIs and plots are of all. ``opens`` names the run, by its
    id or the beginning of it, at which the dashboard opens. Raises ``LedgerError`` and ``SiteError``.
    """
    opened = None if opens is None else show_run(ledger, opens).line
    lines = _with(list_runs(ledger, RunFilter(since=since, limit=limit)), opened)
    rollup = roll_up(ledger, Period(since))
    site = Site(folder)
    site.begin()
    costs = together(_write_runs(site, ledger, lines))
    castings = read_castings(ledger, (line.run_id for line in lines))
    parts = {run_id: castings.parts[casting] for run_id, casting in castings.of_run.items()}
    chunks = 0
    for chunks, chunk in enumerate(list_json(lines, parts), start=1):
        site.write(f"list-{chunks}", chunk)
    left_out = max(rollup.sums.runs - len(lines), 0)
    about = {"runs": len(lines), "left_out": left_out, "chunks": chunks, "opens": opened and opened.run_id}
    site.write("overview", about | overview_json(rollup, _stretches(ledger, since), costs, since, made))
    site.finish()
    return Written(folder, len(lines), left_out)


def _with(lines: list[RunLine], opened: RunLine | None) -> list[RunLine]:
    """The runs with the one that was asked for, which may be older; the newest first."""
    if opened is None or any(line.run_id == opened.run_id for line in lines):
        return lines
    return sorted([*lines, opened], key=lambda line: line.started_at, reverse=True)


def _write_runs(site: Site, ledger: Path, lines: list[RunLine]) -> Iterator[Cost]:
    """Write each run's page, and tell what it paid."""
    for line, kept in zip(lines, read_reviews(ledger, (line.run_id for line in lines)), strict=True):
        match kept:
            case Kept():
                page = RunPage(line, kept.events, kept.document, kept.labels)
            case trouble:
                page = RunPage(line, trouble=trouble)
        site.write(f"runs/{run_file(line.run_id)}", page.as_json())
        yield from page.paid


def _stretches(ledger: Path, since: datetime | None) -> list[Stretch]:
    """What the plots show, point by point: each is a rollup of its own."""
    found = first_and_last(ledger, since)
    if found is None:
        return []
    points: Iterable[Period] = periods(*found, since)
    counted = count_ends(ledger, tuple(points))
    return [Stretch(each, roll_up(ledger, each), ends) for each, ends in zip(points, counted, strict=True)]
