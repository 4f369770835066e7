"""The JSON that ``ui --serve`` answers: sums, sessions and decisions of the ledger, read-only."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.adapters.ledgers import five, record
from tests.scenarios.task_runs import RUN, consult, done, guidance, play

from review_advisor.app.ui import advisor_api
from review_advisor.ledger.dashboard import serving
from review_advisor.ledger.queries import RunFilter, stats_view
from review_advisor.ledger.recorder import TaskRecorder
from review_advisor.ledger.run_queries import list_runs
from review_advisor.ledger.task_events import TaskLimits


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five stories of reviews, and a task with two questions, of which the second is refused."""
    path = tmp_path_factory.mktemp("kept") / "ledger" / "ledger.sqlite3"
    record(path, *five())
    recorder = TaskRecorder(path, pytest.fail)
    says = [consult("Which?"), consult("And now?"), done(applied=[1])]
    for event in play(says, [guidance("This.")], limits=TaskLimits(max_advisor_calls=1)).events:
        recorder(event)
    return path


@pytest.fixture(scope="module")
def port(ledger: Path) -> Iterator[int]:
    with serving(ledger.parent, 0, advisor_api(ledger)) as server:
        running = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        running.start()
        yield server.server_address[1]
        server.shutdown()
        running.join()


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, str, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read()


def told(port: int, path: str) -> Any:
    status, kind, body = ask(port, path)
    assert (status, kind) == (200, "application/json; charset=utf-8")
    return json.loads(body)


def test_sessions_are_reviews_and_tasks_the_newest_first(port: int, ledger: Path) -> None:
    sessions = told(port, "/api/advisor/sessions")
    assert [each["started_at"] for each in sessions] == sorted((s["started_at"] for s in sessions), reverse=True)
    reviews = {line.run_id: line for line in list_runs(ledger, RunFilter())}
    assert {each["run_id"] for each in sessions if each["kind"] == "review"} == set(reviews)
    (task,) = [each for each in sessions if each["kind"] == "task"]
    assert (task["run_id"], task["completed"], task["decisions"], task["error_mode"]) == (RUN, True, 1, "none")
    assert (task["executor_backend"], task["advisor_backend"]) == ("scripted", "scripted")
    assert task["advisor_fraction"] == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    "query, reviews, tasks",
    [
        ("backend=scripted", 0, 1),
        ("backend=other", 0, 0),
        ("status=completed", 0, 1),
        ("status=approved", 4, 0),
        ("backend=scripted&status=approved", 0, 0),
        ("consults=2&text=fix", 0, 0),
        ("consults=1", 1, 1),
    ],
)
def test_sessions_are_found_by_the_filters_of_the_list(port: int, query: str, reviews: int, tasks: int) -> None:
    kinds = [each["kind"] for each in told(port, f"/api/advisor/sessions?{query}")]
    assert (kinds.count("review"), kinds.count("task")) == (reviews, tasks)


@pytest.mark.parametrize(
    "query",
    ["", "backend", "backend=", "kind=task", "consults=1..2", "consults=-1", "backend=a&backend=b", "x" * 3_000],
)
def test_an_address_that_asks_for_nothing_known_finds_nothing(port: int, query: str) -> None:
    assert ask(port, f"/api/advisor/sessions?{query}")[0] == 404


def test_the_sums_are_those_of_the_sessions(port: int) -> None:
    sessions, stats = told(port, "/api/advisor/sessions"), told(port, "/api/advisor/stats")
    assert (stats["sessions"], stats["tasks"]) == (len(sessions), 1)
    for name in ("executor_tokens", "advisor_tokens", "decisions"):
        assert stats[name] == sum(each[name] for each in sessions)
    assert stats["escalation_rate"] == sum(each["decisions"] > 0 for each in sessions) / len(sessions)
    assert stats["cost_usd"] == pytest.approx(sum(each["cost_usd"] or 0 for each in sessions))


def test_nothing_is_told_of_nothing() -> None:
    stats = stats_view([])
    assert (stats["sessions"], stats["escalation_rate"], stats["advisor_fraction"], stats["cost_usd"]) == (
        0,
        None,
        None,
        None,
    )


def test_decisions_are_the_questions_with_what_was_answered(port: int) -> None:
    decisions = told(port, f"/api/advisor/sessions/{RUN}/decisions")
    assert [(each["question"], each["status"], each["action"], each["disposition"]) for each in decisions] == [
        ("Which?", "answered", "This.", "applied"),
        ("And now?", "denied", "", None),
    ]
    everything = told(port, "/api/advisor/decisions")
    assert [each for each in everything if each["run_id"] == RUN] == decisions
    reviews = [each for each in everything if each["run_id"] != RUN]
    assert sum(each["decisions"] for each in told(port, "/api/advisor/sessions")) == 1 + sum(
        each["status"] != "denied" for each in reviews
    )


@pytest.mark.parametrize(
    "path",
    [
        "/api/",
        "/api/advisor",
        "/api/advisor/stats/",
        "/api/advisor/stats?x=1",
        "/api/advisor/sessions/none/decisions",
        "/api/advisor/sessions/../decisions",
        "/api/advisor/sessions/%2e%2e/decisions",
        "/api/advisor/nothing",
    ],
)
def test_no_other_address_answers(port: int, path: str) -> None:
    assert ask(port, path)[0] == 404


def test_a_foreign_page_and_a_foreign_name_get_nothing(port: int) -> None:
    assert ask(port, "/api/advisor/sessions", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert ask(port, "/api/advisor/sessions", Host="evil.example")[0] == 403


def test_nothing_can_be_written_through_it(port: int) -> None:
    assert ask(port, "/api/advisor/sessions", "POST")[0] == 501


def test_a_ledger_that_is_gone_has_nothing_to_say(tmp_path: Path) -> None:
    assert advisor_api(tmp_path / "none.sqlite3")("/api/advisor/stats") is None
