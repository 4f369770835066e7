"""Tasks of ``run`` stand in the dashboard's list beside reviews, and have a page as they do."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledgers import five, meddle, record
from tests.scenarios.task_runs import BEGAN, consult, done, guidance, play

from review_advisor.ledger.recorder import TaskRecorder
from review_advisor.ledger.task_events import TaskBegun, TaskEvent

REVIEWS = {"run-1", "run-2", "run-3", "run-4", "run-5"}


def task_id(number: int) -> str:
    return f"run_20260105T090000Z_{number:08x}"


def renamed(events: list[TaskEvent], number: int) -> list[TaskEvent]:
    """The same task under another id, so many seconds later."""
    later = [replace(event, at=event.at + timedelta(seconds=number)) for event in events]
    return [replace(each, run_id=task_id(number)) if isinstance(each, TaskBegun) else each for each in later]


@pytest.fixture
def kept(terminal: Terminal) -> Path:
    """The five stories, and two tasks: one completed, one that never said that it was done."""
    path = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(path, *five())
    stories = play([consult("Which?"), done(applied=[1])], [guidance()], task="Mend the parser"), play(["No block."])
    for number, played in enumerate(stories, start=1):
        recorder = TaskRecorder(path, pytest.fail)
        for event in renamed(played.events, number):
            recorder(event)
    return path


def written(terminal: Terminal, *words: str) -> tuple[dict[str, object], WrittenDashboard, str]:
    done = terminal.run("ui", "--out", "site", "--json", *words)
    assert done.code == 0, done.err
    return json.loads(done.out), WrittenDashboard(terminal.folder / "site"), done.err


@pytest.mark.usefixtures("kept")
def test_tasks_are_listed_by_their_moment_beside_reviews_and_have_a_page(terminal: Terminal) -> None:
    told, site, _ = written(terminal)
    columns = site.columns
    assert told == {"index": "site/index.html", "runs": 7, "left_out": 0}
    assert set(columns["run_id"]) == REVIEWS | {task_id(1), task_id(2)}
    assert columns["started_at"] == sorted(columns["started_at"], reverse=True)
    assert dict(zip(columns["run_id"], columns["kind"], strict=True))[task_id(1)] == "task"
    page = site.page(task_id(1))
    assert (page["run"]["title"], page["run"]["status"]) == ("Mend the parser", "completed")
    assert [entry["kind"] for entry in page["entries"]][-1] == "task_ended"


@pytest.mark.usefixtures("kept")
def test_kpis_and_plots_count_reviews_only(terminal: Terminal) -> None:
    _, site, _ = written(terminal)
    about = site.overview
    assert (about["sums"]["runs"], about["tasks"], sum(about["ends"].values())) == (5, 2, 5)


@pytest.mark.usefixtures("kept")
def test_the_newest_runs_of_both_kinds_have_a_page_and_the_others_are_counted(terminal: Terminal) -> None:
    told, site, says = written(terminal, "--limit", "1")
    assert (len(site.columns["run_id"]), told["left_out"]) == (1, 6)
    about = site.overview
    assert about["left_out"] + about["tasks_left_out"] == 6
    assert "task" in says


@pytest.mark.usefixtures("kept")
def test_a_dashboard_opens_at_a_task(terminal: Terminal) -> None:
    _, site, _ = written(terminal, "--run", task_id(2))
    assert site.overview["opens"] == task_id(2)


@pytest.mark.usefixtures("kept")
def test_an_id_that_begins_several_runs_is_refused(terminal: Terminal) -> None:
    refused = terminal.run("ui", "--out", "site", "--run", "run")
    assert refused.code == 2


def test_a_task_whose_events_were_changed_says_so_and_shows_its_row(terminal: Terminal, kept: Path) -> None:
    meddle(kept, "UPDATE events SET event = replace(event, 'Which?', 'What?') WHERE event LIKE '%Which?%'")
    _, site, _ = written(terminal)
    page = site.page(task_id(1))
    assert page["trouble"]
    assert (page["entries"], page["run"]["title"]) == ([], "Mend the parser")


def test_the_tasks_of_the_period_alone_are_counted(terminal: Terminal, kept: Path) -> None:
    _, site, _ = written(terminal, "--since", f"{BEGAN + timedelta(days=1):%Y-%m-%d}")
    assert (site.overview["tasks"], site.overview["lists"]) == (0, [])
