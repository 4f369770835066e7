"""The ledger records what happens while it happens, whoever else writes, and whoever is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from contextlib import closing
from dataclasses import asdict, replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from tests.adapters.ledgers import Heard, database, exported, five, meddle, record, refuse, retold, rows, told
from tests.scenarios.five_stories import (
    STORIES,
    a_veto_then_a_recovery,
    an_approval_after_consults,
    answers_that_do_not_come,
    three_parts_and_an_escalation,
)

from review_advisor.app.review import FanOut
from review_advisor.ledger.database import open_to_write
from review_advisor.ledger.proving import Proof, verify
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.recorder import Rebuilt, Recorder
from review_advisor.ledger.run_queries import list_runs, show_run
from review_advisor.ledger.transfer import events_of_run, rebuild
from review_advisor.mockworld.agents import Killed, credit_gone
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import Consulted, Event, ReviewEnded, Verified

WRITERS = 8
EACH = 6


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


# --- what is there ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_the_events_of_a_review_come_back_as_they_were(ledger: Path, story: type) -> None:
    document = told(story)
    record(ledger, document)
    events, _ = events_of_run(ledger, document.run_id)
    assert tuple(events) == document.events
    assert outcome_document(events) == document
    assert verify(ledger) == Proof(1, len(document.events), ())


def test_a_run_says_what_its_document_says(ledger: Path) -> None:
    document = told(three_parts_and_an_escalation)
    record(ledger, document)
    (run,) = list_runs(ledger, RunFilter())
    assert asdict(run) == {
        "run_id": "run-1",
        "started_at": document.started_at.isoformat(),
        "status": "escalated",
        "repository": "acme/shop",
        "pull_request": 7,
        "label": "pr-7",
        "title": "Add a value",
        "head_sha": "a" * 40,
        "cost_usd": 0.0,
        "unpriced": 0,
        "consults": 0,
        "findings": len(document.findings),
        "vetoes": 2,
        "degraded": False,
        "disabled": False,
        "recovered": False,
        "exhausted": True,
        "wall_ms": 15_000,
        "executor_ms": 6_000,
        "executor_tokens": 0,
        "advisor_tokens": 0,
    }


def test_every_table_holds_what_the_events_say(ledger: Path) -> None:
    document = told(an_approval_after_consults)
    record(ledger, document)
    tables = show_run(ledger, "run-1").tables
    calls = [(row["role"], row["ended"], row["cost_usd"]) for row in tables["calls"]]
    assert calls == [("pre_flight", "answered", 0.02), ("executor", "answered", 0.2), ("post_verify", "answered", 0.0)]
    assert [row["path"] for row in tables["findings"]] == ["src/app.py"]
    asked = [event.note for event in document.events if isinstance(event, Consulted)]
    assert [(row["question"], row["status"], row["action"]) for row in tables["consults"]] == [
        (note.consult.question, note.status, note.guidance.action if note.guidance else "") for note in asked
    ]
    assert [row["status"] for row in tables["consults"]] == ["answered", "failed", "answered"]
    assert [(row["verdict"], row["authority"]) for row in tables["votes"]] == [("APPROVE", "veto")]
    assert (tables["dispositions"], tables["questions"]) == ((), ())


def test_answers_to_a_veto_and_questions_to_a_person_have_their_rows(ledger: Path) -> None:
    record(ledger, told(a_veto_then_a_recovery, 1), told(three_parts_and_an_escalation, 2))
    (answer,) = show_run(ledger, "run-1").tables["dispositions"]
    assert (answer["disagreement"], answer["disposition"], answer["settled"]) == ("d0.1", "contested", 1)
    (question,) = show_run(ledger, "run-2").tables["questions"]
    unfounded = "the executor rejects the change without a finding that stands, and approves when it is asked for one"
    assert question["question"] == f"part 2 of 3: vetoed after 1 of 1 retries; part 3 of 3: {unfounded}"
    votes = [row["verdict"] for row in show_run(ledger, "run-2").tables["votes"]]
    assert votes[:3] == ["APPROVE", "VETO", "VETO"]


def test_a_review_that_could_not_go_on_is_stopped_with_its_reason(ledger: Path) -> None:
    record(ledger, told(lambda world: world.agents.script(Role.EXECUTOR, credit_gone())))
    (run,) = list_runs(ledger, RunFilter(status="stopped", error="CreditExhaustedError"))
    assert [row["ended"] for row in show_run(ledger, run.run_id).tables["calls"]] == ["answered", "stopped"]


def test_all_rows_can_be_read_anew_from_the_events(ledger: Path) -> None:
    record(ledger, *five())
    before = rows(ledger)
    meddle(ledger, "UPDATE runs SET cost_usd = 99, findings = 12", "DELETE FROM calls", "UPDATE titles SET title = 'x'")
    assert rows(ledger) != before
    assert rebuild(ledger) == Rebuilt(5)
    assert rows(ledger) == before


# --- killed -----------------------------------------------------------------------------------------------------------


@pytest.mark.one_in(5)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_killed_review_leaves_its_events_and_is_unfinished(ledger: Path, story: type) -> None:
    document = told(story)
    for killed_after in range(1, len(document.events)):
        part = ledger.with_name(f"{killed_after}.sqlite3")
        record(part, document, until=killed_after)
        events, _ = events_of_run(part, "run-1")
        assert tuple(events) == document.events[:killed_after]
        (run,) = list_runs(part, RunFilter(status="unfinished"))
        assert (run.run_id, run.wall_ms, run.findings, run.title) == ("run-1", None, 0, "Add a value")
        assert verify(part).broken == ()
        assert rebuild(part) == Rebuilt(1)


def test_the_end_is_recorded_as_it_was_stored_not_as_it_first_seemed(ledger: Path) -> None:
    seemed = told()
    stopped = outcome_document([*seemed.events[:-1], replace(_end(seemed), because=("interrupted meanwhile",))])
    with closing(Recorder(ledger, refuse)) as recorder:
        for event in seemed.events:
            recorder(event)
        recorder.finish(stopped)
    events, _ = events_of_run(ledger, "run-1")
    assert tuple(events) == stopped.events


def _end(document: OutcomeDocument) -> ReviewEnded:
    last = document.events[-1]
    assert isinstance(last, ReviewEnded)
    return last


def kill_at(path: Path, number: int) -> None:
    """Be killed right after recording so many events."""
    events = told(a_veto_then_a_recovery).events

    def killed(event: Event) -> None:
        if event is events[number - 1]:
            os.kill(os.getpid(), signal.SIGKILL)

    journal = FanOut([Recorder(path, refuse), killed])
    for event in events:
        journal.record(event)


@pytest.mark.every_case
@pytest.mark.parametrize("number", [1, 9, 21])
def test_a_process_that_is_killed_loses_none_of_what_it_recorded(ledger: Path, number: int) -> None:
    process = multiprocessing.get_context("spawn").Process(target=kill_at, args=(ledger, number))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert len(events_of_run(ledger, "run-1")[0]) == number
    record(ledger, told(number=2))
    assert [run.status for run in list_runs(ledger, RunFilter())] == ["approved", "unfinished"]
    assert verify(ledger).broken == ()


# --- several at once --------------------------------------------------------------------------------------------------


def write_some(path: Path, first: int, together: Barrier) -> None:
    """One of the writers: all begin at the same moment, with a ledger that is not there yet."""
    documents = [told(answers_that_do_not_come, first + number) for number in range(EACH)]
    together.wait()
    record(path, *documents)


@pytest.mark.every_case
def test_eight_processes_that_write_at_once_lose_nothing(ledger: Path) -> None:
    spawned = multiprocessing.get_context("spawn")
    together = spawned.Barrier(WRITERS)
    writers = [
        spawned.Process(target=write_some, args=(ledger, 1 + EACH * number, together)) for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    length = len(told(answers_that_do_not_come).events)
    assert verify(ledger) == Proof(WRITERS * EACH, WRITERS * EACH * length, ())
    runs = list_runs(ledger, RunFilter(limit=1_000))
    assert sorted(run.run_id for run in runs) == sorted(f"run-{n}" for n in range(1, WRITERS * EACH + 1))
    alone = ledger.with_name("alone.sqlite3")
    record(alone, *(told(answers_that_do_not_come, number) for number in range(1, WRITERS * EACH + 1)))
    assert exported(ledger) == exported(alone)
    assert rows(ledger) == rows(alone)


def test_the_events_of_parts_that_run_in_parallel_are_recorded_in_one_order(ledger: Path) -> None:
    world = MockWorld()
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(f"src/{name}.py") for name in "abcdefgh"))
    recorder = Recorder(ledger, refuse)
    with closing(recorder):
        world.jobs = 4
        world.journal = Heard(listeners=[recorder])
        document = world.review()
        recorder.finish(document)
    events, _ = events_of_run(ledger, "run-1")
    assert tuple(events) == document.events
    assert sum(isinstance(event, Verified) for event in events) == 8


def test_two_runs_that_began_in_the_same_moment_are_two(ledger: Path) -> None:
    record(ledger, told(), retold(told(), run_id="run-other"))
    assert {run.run_id for run in list_runs(ledger, RunFilter())} == {"run-1", "run-other"}


def test_the_same_run_twice_is_refused_and_said(ledger: Path) -> None:
    said: list[str] = []
    record(ledger, told())
    with closing(Recorder(ledger, said.append)) as recorder:
        for event in told().events:
            recorder(event)
        recorder.finish(told())
    assert len(said) == 1
    assert said[0].endswith("This review is not recorded there to its end.")
    assert verify(ledger) == Proof(1, len(told().events), ())


# --- the schema -------------------------------------------------------------------------------------------------------


def test_what_was_recorded_cannot_be_changed_or_deleted(ledger: Path) -> None:
    record(ledger, told())
    for statement in (
        "UPDATE events SET event = '{}'",
        "DELETE FROM events",
        "DELETE FROM chains",
        "UPDATE chains SET events = 1",
        "INSERT INTO events SELECT chain, 99, previous, hash, event FROM events LIMIT 1",
    ):
        with database(ledger) as connection, pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)


def test_a_killed_recording_goes_with_the_review_whose_process_it_was(ledger: Path) -> None:
    """What a crash of the pipeline raises reaches nobody's ``finish``: the run stays unfinished."""
    world = MockWorld()
    recorder = Recorder(ledger, refuse)

    def crash(event: Event) -> None:
        if isinstance(event, Verified):
            raise Killed

    world.journal = Heard(listeners=[recorder, crash])
    with pytest.raises(Killed), closing(recorder):
        world.review()
    assert [run.status for run in list_runs(ledger, RunFilter())] == ["unfinished"]


def test_opening_for_writing_makes_a_folder_that_ignores_itself(tmp_path: Path) -> None:
    open_to_write(tmp_path / "new" / "ledger.sqlite3").close()
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"
    (tmp_path / "mine").mkdir()
    open_to_write(tmp_path / "mine" / "ledger.sqlite3").close()
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["ledger.sqlite3"]
