"""`ui`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl

import click
from click.core import ParameterSource

from review_advisor.app.evaluations import whole_evaluations
from review_advisor.app.options import AS_JSON, LEDGER, PATH, at_the_top, moment
from review_advisor.app.rollup import look_for_alarms, roll_up, roll_up_repositories
from review_advisor.app.terminal import NOTHING_ASKED, ExitWithCode, clear_refusals, note, put
from review_advisor.lab.pages import calibration_json, evaluations_json
from review_advisor.lab.results import EvaluationResult
from review_advisor.ledger.artifacts import PanelLog, verdict_of
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.dashboard import Api, writing
from review_advisor.ledger.database import open_to_write
from review_advisor.ledger.kind_records import StatedRun, observed_pairs, stated_run
from review_advisor.ledger.pages import (
    RunPage,
    Stretch,
    TaskPage,
    alerts_json,
    list_json,
    overview_json,
    repositories_json,
    shadow_mode_json,
    task_parts,
)
from review_advisor.ledger.queries import (
    EVERY_SESSION,
    MOST_SESSIONS,
    Period,
    RunFilter,
    RunLine,
    SessionLine,
    TaskFilter,
    TaskLine,
    periods,
    session_query,
    session_view,
    stats_view,
)
from review_advisor.ledger.run_queries import (
    RecordedRun,
    count_ends,
    count_tasks,
    first_and_last,
    list_decisions,
    list_runs,
    list_tasks,
    read_castings,
    read_reviews,
    read_tasks,
    show_run,
)
from review_advisor.ledger.sums import has_several_repositories, shadow_mode_sums
from review_advisor.review.document import RoleCost, together
from review_advisor.review.observed import RUN_ID
from review_advisor.safety.children import temporary_folder


@click.command()
@click.option(
    "--out",
    "folder",
    type=PATH,
    metavar="FOLDER",
    default=Path("review_logs", "dashboard"),
    callback=at_the_top,
    show_default=True,
    help="Where it is written: a new folder, or that of an earlier dashboard.",
)
@click.option("--since", type=moment, metavar="WHEN", help="Only runs since then: a date, or 24h, 7d, 2w ago.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=1_000,
    show_default=True,
    help="How many runs have a page, the newest first; KPIs and plots cover all.",
)
@click.option(
    "--evaluations",
    type=PATH,
    metavar="DIR",
    default=Path("review_logs", "evaluations"),
    callback=at_the_top,
    show_default=True,
    help="Evaluations that have a page.",
)
@click.option("--run", "opens", metavar="RUN", help="Open at this run, named by its id or the beginning of it.")
@click.option("--serve", is_flag=True, help="Serve it to this machine until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8_765, show_default=True, help="With --serve; 0: any.")
@LEDGER
@AS_JSON
@click.pass_context
def ui(
    context: click.Context,
    folder: Path,
    since: datetime | None,
    limit: int,
    evaluations: Path,
    opens: str | None,
    serve: bool,
    port: int,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Write the dashboard: KPIs with plots, the list of runs, and a page for each run with all that happened in it.

    It is a folder of static files. Open its index.html, upload it as an artifact of CI, or see it with --serve, which
    listens on 127.0.0.1 only and answers /api/advisor/stats, sessions and decisions with JSON.
    """
    with clear_refusals():
        if not serve and context.get_parameter_source("port") is not ParameterSource.DEFAULT:
            raise ExitWithCode("--port is of no use without --serve: add it, or leave out --port.", NOTHING_ASKED)
        from review_advisor.ledger.dashboard import SiteError, serving

        try:
            written = write_dashboard(
                ledger_file,
                folder,
                datetime.now(UTC),
                since=since,
                limit=limit,
                opens=opens,
                evaluations=evaluations,
            )
            left_out = written.left_out + written.tasks_left_out
            told = {"index": str(folder / "index.html"), "runs": written.runs, "left_out": left_out}
            if not serve:
                put(json.dumps(told) + "\n" if as_json else f"{told['index']}\n")
            note(_sentence(written.runs, written.left_out, written.tasks_left_out))
            if serve:
                with serving(folder, port, advisor_api(ledger_file)) as server:
                    url = f"http://127.0.0.1:{server.server_address[1]}/"
                    put(json.dumps(told | {"url": url}) + "\n" if as_json else f"{url}\n")
                    note("Ctrl-C ends it.")
                    server.serve_forever()
        except SiteError as refusal:
            raise ExitWithCode(str(refusal), NOTHING_ASKED) from None


def _sentence(runs: int, left_out: int, tasks_left_out: int) -> str:
    from review_advisor.safety.wording import counted

    told = f"{counted(runs, 'run')} written."
    if tasks_left_out:
        told += f" {counted(tasks_left_out, 'task')} without a page."
    if not left_out:
        return told
    more = "1 more has no page: it counts" if left_out == 1 else f"{left_out} more have no page: they count"
    return f"{told} {more} in the KPIs and plots. --since or --limit chooses."


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
) -> Written:
    """Write the dashboard of the runs that began at ``since`` or later, and before it was ``made``, into ``folder``.

    The newest ``limit`` of them, reviews and tasks, are listed and have a page; KPIs and plots cover all reviews. The
    dashboard opens at the run that ``opens`` names by its id or the beginning of it; that one has a page in any case.
    Whole evaluations below ``evaluations`` have a page as well; with one of them, there need not be a ledger.
    There is a table of several repositories. Raises ``LedgerError`` and ``SiteError``.
    """
    choice = _Choice(since, limit, opens)
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
        about |= shadow_mode_json(shadow_mode_sums(ledger, period))
        several = has_several_repositories(ledger)
        about |= repositories_json(roll_up_repositories(ledger, period, timed=False) if several else ())
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
