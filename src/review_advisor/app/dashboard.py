"""The dashboard: what the ledger holds, as a site of static files, and a server on this machine for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qsl

from review_advisor.adapters.dashboard.server import Api, serving
from review_advisor.adapters.dashboard.site import SiteError, writing
from review_advisor.adapters.ledger.browsing import RecordedRun, count_ends, first_and_last, read_castings, read_reviews
from review_advisor.adapters.ledger.database import open_to_write
from review_advisor.adapters.ledger.decisions import list_decisions
from review_advisor.adapters.ledger.run_queries import count_tasks, read_tasks
from review_advisor.adapters.ledger.shadows.shadow_sums import shadows_of_runs
from review_advisor.app.evaluation.evaluate import whole_evaluations
from review_advisor.app.organisation.groups import every_grouping
from review_advisor.app.rollup import look_for_alarms, roll_up, roll_up_shadows
from review_advisor.app.runs import list_runs, list_tasks, show_run
from review_advisor.core.evaluation.calibration.observed_pairs import StatedRun, observed_pairs, stated_run
from review_advisor.core.evaluation.trials.results import EvaluationResult
from review_advisor.core.exports.panel_log import PanelLog
from review_advisor.core.exports.weekly_rollup import verdict_of
from review_advisor.core.ledger.advisor_views import SessionLine, session_view, stats_view
from review_advisor.core.ledger.chain import RUN_ID, LedgerError
from review_advisor.core.ledger.periods import Period, periods
from review_advisor.core.ledger.runs import RunFilter, RunLine
from review_advisor.core.ledger.session_query import EVERY_SESSION, MOST_SESSIONS, session_query
from review_advisor.core.ledger.task_lines import TaskFilter, TaskLine
from review_advisor.core.organisation.organisation import NO_ORGANISATION, Organisation
from review_advisor.core.outcome.cost import RoleCost, together
from review_advisor.core.pages.calibration_page import calibration_json
from review_advisor.core.pages.evaluation_pages import evaluations_json
from review_advisor.core.pages.overview import Stretch, alerts_json, groups_json, list_json, overview_json, shadows_json
from review_advisor.core.pages.pages import RunPage
from review_advisor.core.pages.task_pages import TaskPage, task_parts
from review_advisor.lifetime.belongings import temporary_folder

__all__ = ["SiteError", "Written", "advisor_api", "serving", "write_dashboard"]
_DECISIONS = re.compile(rf"/api/advisor/sessions/({RUN_ID})/decisions")


def advisor_api(ledger: Path) -> Api:
    """What the ledger holds, as JSON: sums, and at most a thousand sessions and decisions, the newest first.

    Sessions take the filters of ``session_query``. A ledger that cannot be read gives nothing.
    """

    def answer(path: str) -> bytes | None:
        try:
            told = _api_view(ledger, path)
        except LedgerError:
            return None
        return None if told is None else json.dumps(told, indent=1).encode()

    return answer


def _api_view(ledger: Path, path: str) -> object:
    of_one = _DECISIONS.fullmatch(path)
    place, asks, query = path.partition("?")
    if asks and place == "/api/advisor/sessions":
        asked = session_query(parse_qsl(query, keep_blank_values=True))
        return None if asked is None else [session_view(each) for each in _sessions(ledger, asked)]
    match path:
        case "/api/advisor/stats":
            return stats_view(_sessions(ledger))
        case "/api/advisor/sessions":
            return [session_view(each) for each in _sessions(ledger)]
        case "/api/advisor/decisions":
            return list_decisions(ledger)
        case _:
            return None if of_one is None else list_decisions(ledger, of_one[1])


def _sessions(ledger: Path, asked: TaskFilter = EVERY_SESSION) -> list[SessionLine]:
    found: list[SessionLine] = [*list_tasks(ledger, asked)]
    if asked.backend is None:  # reviews have none
        same = RunFilter(
            status=asked.status, error=asked.error, consults=asked.consults, text=asked.text, limit=asked.limit
        )
        found += list_runs(ledger, same)
    return sorted(found, key=lambda each: each.started_at, reverse=True)[:MOST_SESSIONS]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: how many runs have a page, and how many reviews and tasks of its period have none."""

    folder: Path
    runs: int
    left_out: int
    tasks_left_out: int = 0


def write_dashboard(
    ledger: Path,
    folder: Path,
    made: datetime,
    *,
    since: datetime | None = None,
    limit: int = 1_000,
    opens: str | None = None,
    evaluations: Path | None = None,
    organisation: Organisation = NO_ORGANISATION,
) -> Written:
    """Write the dashboard of the runs that began at ``since`` or later, and before it was ``made``, into ``folder``.

    The newest ``limit`` of them, reviews and tasks, are listed and have a page; KPIs and plots cover all reviews. The
    dashboard opens at the run that ``opens`` names by its id or the beginning of it; that one has a page in any case.
    Whole evaluations below ``evaluations`` have a page as well; with one of them, there need not be a ledger.
    There is a table of several repositories, and of the teams and author groups of an ``organisation``. Raises
    ``LedgerError`` and ``SiteError``.
    """
    choice = _Choice(since, limit, opens, organisation)
    evaluated = [] if evaluations is None else whole_evaluations(evaluations)
    if evaluated and not ledger.exists():
        with temporary_folder("ledger") as empty:
            open_to_write(empty / ledger.name).close()
            return _written(empty / ledger.name, folder, made, choice, evaluated)
    return _written(ledger, folder, made, choice, evaluated)


@dataclass(frozen=True, slots=True)
class _Choice:
    since: datetime | None
    limit: int
    opens: str | None
    organisation: Organisation


def _written(
    ledger: Path, folder: Path, made: datetime, choice: _Choice, evaluated: Sequence[EvaluationResult]
) -> Written:
    since, limit, opens = choice.since, choice.limit, choice.opens
    period = Period(since, made)
    wanted = TaskFilter(since=since, until=made, limit=limit)
    listed = _newest(
        [*list_runs(ledger, RunFilter(since=since, until=made, limit=limit)), *list_tasks(ledger, wanted)], limit
    )
    lines = [line for line in listed if isinstance(line, RunLine)]
    tasks = [line for line in listed if isinstance(line, TaskLine)]
    opened = None if opens is None else _named(opens, listed) or show_run(ledger, opens).line
    apart = [opened] if isinstance(opened, RunLine) and opened.run_id not in {line.run_id for line in lines} else []
    apart_counts = any(_holds(period, line) for line in apart)
    rollup = roll_up(ledger, period)
    tasks_there = count_tasks(ledger, wanted)
    left_out = max(rollup.sums.runs - len(lines) - apart_counts, 0)
    with writing(folder) as site:
        files, counted, councils, untold = {}, list[RoleCost](), PanelLog(), 0
        stated: list[StatedRun] = []
        for page in _pages(ledger, [*lines, *apart]):
            files[page.line.run_id] = site.write("runs", page.as_json())
            if apart_counts or page.line not in apart:
                counted += page.counted
                untold += bool(page.trouble)
                if page.document is not None:
                    stated += filter(None, [stated_run(page.document, page.labels)])
                if page.events and verdict_of(page.events) is not None:
                    councils.add(page.events)
        castings = read_castings(ledger, files)
        parts = {run_id: castings.parts[casting] for run_id, casting in castings.of_run.items()}
        parts |= {task.run_id: task_parts(task) for task in tasks}
        for task, events in zip(tasks, read_tasks(ledger, (task.run_id for task in tasks)), strict=True):
            page_of = TaskPage(task, trouble=events) if isinstance(events, str) else TaskPage(task, events)
            files[task.run_id] = site.write("runs", page_of.as_json())
        about = {
            "runs": len(listed),
            "left_out": left_out,
            "tasks": tasks_there,
            "tasks_left_out": tasks_there - len(tasks),
            "untold": untold,
            "lists": [site.write("lists", chunk) for chunk in list_json(listed, parts, files)],
            "apart": next(list_json(apart, parts, files), None),
            "apart_counts": apart_counts,
            "opens": opened and opened.run_id,
        }
        stretches, alike = _stretches(ledger, period), councils.correlation.pairs
        about |= overview_json(rollup, stretches, together(counted), since, made, pairs=alike)
        about |= evaluations_json(evaluated)
        about |= calibration_json(observed_pairs(stated))
        about |= shadows_json(roll_up_shadows(ledger, period))
        about |= groups_json(every_grouping(ledger, period, choice.organisation), choice.organisation)
        site.finish(about | alerts_json(look_for_alarms(ledger, made)))
    return Written(folder, len(listed) + len(apart), left_out, tasks_there - len(tasks))


def _newest(lines: Sequence[RunLine | TaskLine], limit: int) -> list[RunLine | TaskLine]:
    return sorted(lines, key=lambda line: datetime.fromisoformat(line.started_at), reverse=True)[:limit]


def _named(opens: str, listed: Sequence[RunLine | TaskLine]) -> TaskLine | None:
    """The listed task whose id begins so, if no other listed run does."""
    found = [line for line in listed if opens and line.run_id.startswith(opens)]
    return found[0] if len(found) == 1 and isinstance(found[0], TaskLine) else None


def _holds(period: Period, line: RunLine) -> bool:
    begun = datetime.fromisoformat(line.started_at)
    return (period.since is None or begun >= period.since) and (period.until is None or begun < period.until)


def _pages(ledger: Path, lines: Sequence[RunLine]) -> Iterator[RunPage]:
    """The page of each run."""
    shadows = shadows_of_runs(ledger, (line.run_id for line in lines))
    for line, kept in zip(lines, read_reviews(ledger, (line.run_id for line in lines)), strict=True):
        match kept:
            case RecordedRun():
                yield RunPage(
                    line,
                    kept.events,
                    kept.document,
                    kept.labels,
                    kept.paid_elsewhere,
                    unlabelled=kept.unlabelled,
                    in_shadow=shadows.get(line.run_id, ()),
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
