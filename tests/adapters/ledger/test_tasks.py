"""Tasks in the ledger beside reviews: recorded as they happen, listed, proven, merged, and none of ours when forged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.scenarios.task_runs import BEGAN, consult, done, guidance, play

from review_advisor.app.ledger import export_ledger
from review_advisor.ledger.chain import FIRST, LedgerError, link
from review_advisor.ledger.chains import add_link, begin_chain
from review_advisor.ledger.database import open_to_write, transaction
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import Between, RunFilter, TaskFilter, TaskLine
from review_advisor.ledger.recorder import TaskRecorder, event_text
from review_advisor.ledger.rows import microseconds
from review_advisor.ledger.run_queries import list_runs, list_tasks, show_run
from review_advisor.ledger.task_events import TaskBegun, TaskCalled, TaskEvent
from review_advisor.ledger.transfer import import_lines, merge, rebuild

BROKEN = '<ADVISOR_CONSULT nonce="0123456789abcdef">no</ADVISOR_CONSULT>'


def renamed(events: Sequence[TaskEvent], run_id: str, later: int) -> list[TaskEvent]:
    first = events[0]
    assert isinstance(first, TaskBegun)
    moved = [
        replace(event, at=event.at + timedelta(minutes=later)) for event in (replace(first, run_id=run_id), *events[1:])
    ]
    return [*moved]


def record(path: Path, events: Sequence[TaskEvent]) -> None:
    trouble: list[str] = []
    recorder = TaskRecorder(path, trouble.append)
    for event in events:
        recorder(event)
    assert trouble == []


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Four tasks: completed with a question, completed alone, malformed, and one that was killed."""
    path = tmp_path / "ledger" / "ledger.sqlite3"
    asked = play([consult(), done(applied=[1])], [guidance()], task="Ask about the Parser.").events
    alone = play([done()], executor_backend="kimi", advisor_backend="codex").events
    malformed = play([BROKEN, "No."]).events
    for number, events in enumerate((asked, alone, malformed, asked[:4])):
        record(path, renamed(events, f"run_{number}", number))
    return path


def ids(lines: list[TaskLine]) -> list[str]:
    return [line.run_id for line in lines]


def test_a_task_is_listed_with_its_counts_tokens_and_cost(ledger: Path) -> None:
    *_, first = list_tasks(ledger, TaskFilter())
    assert (first.status, first.error_mode, first.consults, first.guidances) == ("completed", "none", 1, 1)
    assert (first.executor_calls, first.executor_tokens, first.advisor_tokens) == (2, 240, 120)
    assert first.cost_usd == pytest.approx(0.15)
    assert first.started_at == BEGAN.isoformat()


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "wanted, found",
    [
        (TaskFilter(), [3, 2, 1, 0]),
        (TaskFilter(limit=1), [3]),
        (TaskFilter(status="running"), [3]),
        (TaskFilter(backend="kimi"), [1]),
        (TaskFilter(backend="codex"), [1]),
        (TaskFilter(backend="scripted"), [3, 2, 0]),
        (TaskFilter(error="none"), [1, 0]),
        (TaskFilter(error="any"), [3, 2]),
        (TaskFilter(error="malformed:ADVISOR_CONSULT"), [2]),
        (TaskFilter(consults=Between(1, 1)), [3, 0]),
        (TaskFilter(text="parser"), [3, 0]),
        (TaskFilter(text="%"), []),
        (TaskFilter(since=BEGAN + timedelta(minutes=2)), [3, 2]),
        (TaskFilter(until=BEGAN + timedelta(minutes=2)), [1, 0]),
        (TaskFilter(status="completed", backend="kimi", consults=Between(0, 0)), [1]),
    ],
)
def test_tasks_are_found_by_status_backend_questions_words_and_error(
    ledger: Path, wanted: TaskFilter, found: list[int]
) -> None:
    assert ids(list_tasks(ledger, wanted)) == [f"run_{number}" for number in found]


def test_a_task_is_no_review(ledger: Path) -> None:
    assert list_runs(ledger, RunFilter()) == []
    with pytest.raises(LedgerError, match="run_0 is a task"):
        show_run(ledger, "run_0")


def test_tasks_are_proven_and_their_rows_are_read_anew_from_their_events(ledger: Path) -> None:
    assert verify(ledger).whole
    before = list_tasks(ledger, TaskFilter())
    with closing(open_to_write(ledger)) as connection, transaction(connection):
        connection.execute("UPDATE tasks SET status = 'completed'")
    assert [broken.why[:10] for broken in verify(ledger).broken] == ["what tasks"] * 2
    assert rebuild(ledger).runs == 4
    assert list_tasks(ledger, TaskFilter()) == before
    assert verify(ledger).whole


def test_tasks_travel_with_the_ledger(ledger: Path, tmp_path: Path) -> None:
    exported, other, merged = (tmp_path / name for name in ("runs.jsonl", "other.sqlite3", "merged.sqlite3"))
    export_ledger(ledger, exported)
    assert import_lines(other, exported).added == 4
    assert merge(merged, other).added == 4
    assert list_tasks(merged, TaskFilter()) == list_tasks(ledger, TaskFilter())
    assert verify(merged).whole
    assert merge(merged, ledger).present == 4


def test_a_task_under_way_is_covered_by_no_checkpoint(ledger: Path) -> None:
    proof = verify(ledger, at=BEGAN + timedelta(minutes=10))
    assert proof.reached is not None
    assert proof.reached.runs == 3


def forged(path: Path, events: Sequence[TaskEvent]) -> None:
    with closing(open_to_write(path)) as connection, transaction(connection):
        chain, last = begin_chain(connection, "run_0", microseconds(events[0].at)), FIRST
        for index, event in enumerate(events):
            made = link("run_0", index, last, event_text(event))
            add_link(connection, chain, made)
            last = made.hash


@pytest.mark.every_case
def test_a_task_that_cannot_be_is_refused(tmp_path: Path) -> None:
    good = renamed(play([done()]).events, "run_0", 0)
    first, call, end = good
    assert isinstance(call, TaskCalled)
    bad: dict[str, list[TaskEvent]] = {
        "of another run": renamed(good, "run_1", 0),
        "that goes on after its end": [first, end, call],
        "that begins twice": [first, first, end],
        "that goes back in time": [first, replace(call, at=call.at - timedelta(hours=1)), end],
        "without a zone": [first, replace(call, at=call.at.replace(tzinfo=None)), end],
        "that costs less than nothing": [first, replace(call, usage=replace(call.usage, cost_usd=-1.0)), end],
        "that took forever": [first, replace(call, duration_seconds=1e300), end],
    }
    for name, events in bad.items():
        path = tmp_path / f"{name}.sqlite3"
        forged(path, events)
        assert len(verify(path).broken) == 1, name
        with pytest.raises(LedgerError):
            merge(tmp_path / f"{name} merged.sqlite3", path)


def test_a_ledger_that_cannot_be_written_is_one_warning(tmp_path: Path) -> None:
    path = tmp_path / "no" / "ledger.sqlite3"
    path.parent.write_text("a file")
    said: list[str] = []
    recorder = TaskRecorder(path, said.append)
    for event in play([done()]).events:
        recorder(event)
    assert len(said) == 1
    assert "not recorded there to its end" in said[0]
