"""Ledgers are folded into one another and written out: once or twice, in any order, the same comes of it."""

from __future__ import annotations

import json
import os
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.ledgers import events_as_json, exported, five, forge, meddle, record, retold, rows, told
from tests.scenarios.five_stories import a_veto_then_a_recovery, answers_that_do_not_come

from review_advisor.app.ledger import export_ledger
from review_advisor.lab.collected import collected_before
from review_advisor.ledger.chain import Chain, LedgerError, canonical, links
from review_advisor.ledger.proving import Proof, verify
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.run_queries import list_runs
from review_advisor.ledger.transfer import Folded, events_of_run, fold, import_lines, ledger_chains, merge
from review_advisor.mockworld.agents import approve, guidance
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import role_costs
from review_advisor.review.events import CallEnded


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.sqlite3"
    record(path, *five()[:3])
    return path


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    path = tmp_path / "theirs.sqlite3"
    record(path, *five()[2:])
    return path


# --- folding ----------------------------------------------------------------------------------------------------------


def test_folding_a_ledger_in_twice_does_it_once(ours: Path, theirs: Path) -> None:
    assert merge(ours, theirs) == Folded(added=2, grown=0, present=1)
    lines, read = exported(ours), rows(ours)
    assert merge(ours, theirs) == Folded(added=0, grown=0, present=3)
    assert (exported(ours), rows(ours)) == (lines, read)
    assert [run.run_id for run in list_runs(ours, RunFilter())] == [f"run-{n}" for n in (5, 4, 3, 2, 1)]


def test_both_orders_come_to_the_same(ours: Path, theirs: Path, tmp_path: Path) -> None:
    one, other, alone = (tmp_path / f"{name}.sqlite3" for name in ("one", "other", "alone"))
    for source in (ours, theirs):
        merge(one, source)
    for source in (theirs, ours):
        merge(other, source)
    record(alone, *five())
    assert exported(one) == exported(other) == exported(alone)
    assert rows(one) == rows(other) == rows(alone)


def test_a_ledger_folded_into_itself_stays_as_it_is(ours: Path) -> None:
    lines = exported(ours)
    assert merge(ours, ours) == Folded(added=0, grown=0, present=3)
    assert exported(ours) == lines


@pytest.mark.one_in(2)
@pytest.mark.parametrize("comes_first", [True, False], ids=["another process is first", "files have one name only"])
def test_what_is_noted_beside_new_runs_is_kept_however_the_ledger_came_to_be(
    theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comes_first: bool
) -> None:
    new = tmp_path / "new" / "ledger.sqlite3"

    def refuse(*_: object) -> None:
        raise PermissionError

    def chains() -> Iterator[Chain]:
        yield from ledger_chains(theirs)
        if comes_first:
            record(new, *five()[:3])

    def remember(connection: sqlite3.Connection, folded: Folded) -> None:
        connection.execute("INSERT INTO collected VALUES ('server', 1, ?)", (folded.added,))

    if not comes_first:
        monkeypatch.setattr(os, "link", refuse)
    added = 2 if comes_first else 3
    assert fold(new, chains(), whole_runs=True, noting=remember) == Folded(added, 0, present=3 - added)
    assert collected_before(new, "server") == {1: added}


def test_a_run_that_was_still_going_on_grows_and_never_shrinks(tmp_path: Path) -> None:
    early, late = tmp_path / "early.sqlite3", tmp_path / "late.sqlite3"
    document = told(a_veto_then_a_recovery)
    record(early, document, until=6)
    record(late, document)
    assert merge(late, early) == Folded(added=0, grown=0, present=1)
    assert merge(early, late) == Folded(added=0, grown=1, present=0)
    assert exported(early) == exported(late)
    assert rows(early) == rows(late)


def test_another_run_of_the_same_name_is_refused_and_nothing_is_taken(ours: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite3"
    record(other, told(answers_that_do_not_come, 2), told(number=8))
    before = exported(ours)
    with pytest.raises(LedgerError, match=r"The run run-2 is another one here: they differ from event \d+ on\."):
        merge(ours, other)
    assert exported(ours) == before


def test_a_broken_run_is_refused_by_name_and_nothing_is_taken(ours: Path, theirs: Path) -> None:
    meddle(theirs, "UPDATE events SET hash = previous WHERE chain = (SELECT max(id) FROM chains) AND position = 3")
    before = exported(ours)
    with pytest.raises(LedgerError, match="The run run-5 is not what was recorded: event 3: its content is not"):
        merge(ours, theirs)
    assert exported(ours) == before


def test_a_forged_chain_of_events_that_are_none_is_refused(ours: Path, tmp_path: Path) -> None:
    """Whoever writes a whole chain anew has a sound chain; its events must still be events, in an order that can be."""
    first, *rest = (json.loads(line)["event"] for line in exported(ours) if json.loads(line)["run"] == "run-1")
    ended = rest[-1]
    foreign = {"kind": "verified", "at": ended["at"], "surface": "adr_review", "judged": rest[-4].get("judged")}
    repaired = {**rest[-3], "repaired": True}
    assert (rest[-4]["kind"], repaired["kind"], rest[-2]["kind"]) == ("ruled", "part_ended", "surface_ended")
    judged = next(event["judged"] for event in rest if event["kind"] == "verified")
    forged: dict[str, tuple[str, list[Any]]] = {
        "Event 1 of run-1 is none that this version knows": ("run-1", [first, {"kind": "approved_by_me"}]),
        "The events of run-1 do not begin with its policy": ("run-1", rest),
        "The events of run-2 do not begin with its policy": ("run-2", [first, ended]),
        "The events of run-3 are those of no review": ("run-3", [first, {**foreign, "judged": judged}, ended]),
        "The events of run-4 are those of no review": ("run-4", [first, repaired, ended]),
    }
    for says, (run, events) in forged.items():
        told = events if run in says and run in ("run-1", "run-2") else [{**events[0], "run_id": run}, *events[1:]]
        file, into = tmp_path / "forged.jsonl", tmp_path / "into.sqlite3"
        file.write_text("".join(_line(run, link) for link in links(run, map(canonical, told))))
        with pytest.raises(LedgerError, match=says):
            import_lines(into, file)
        assert not into.exists()


def test_a_run_that_is_called_like_a_path_is_refused(tmp_path: Path) -> None:
    """Files are named after runs."""
    other, into = tmp_path / "other.sqlite3", tmp_path / "into.sqlite3"
    record(other, retold(told(), run_id="../../evil"))
    with pytest.raises(LedgerError, match="do not begin with its policy"):
        merge(into, other)
    with pytest.raises(LedgerError, match="do not begin with its policy"):
        events_of_run(other, "../../evil")
    assert not into.exists()


def _line(run: str, link: Any) -> str:
    told = {"run": run, "index": link.index, "previous": link.previous, "hash": link.hash}
    return json.dumps({**told, "event": json.loads(link.event)}) + "\n"


# --- written out and read back ----------------------------------------------------------------------------------------


def test_what_is_written_out_can_be_read_back(ours: Path, tmp_path: Path) -> None:
    file, again = tmp_path / "runs.jsonl", tmp_path / "again.sqlite3"
    file.write_text("".join(exported(ours)))
    assert import_lines(again, file) == Folded(added=3, grown=0, present=0)
    assert import_lines(again, file) == Folded(added=0, grown=0, present=3)
    assert exported(again) == exported(ours)
    assert rows(again) == rows(ours)
    assert verify(again) == verify(ours)


def test_an_export_replaces_an_empty_file_or_an_export_and_nothing_else(
    ours: Path, theirs: Path, tmp_path: Path
) -> None:
    file, notes = tmp_path / "runs.jsonl", tmp_path / "notes.txt"
    file.touch()
    for ledger, runs in ((ours, 3), (theirs, 3)):
        assert export_ledger(ledger, file).runs == runs
        assert file.read_text() == "".join(exported(ledger))
    notes.write_text("mine\n")
    for ledger, place in ((ours, ours), (ours, theirs), (ours, notes)):
        before = place.read_bytes()
        with pytest.raises(LedgerError, match=r"is the ledger itself: name|is there already and no export: name"):
            export_ledger(ledger, place)
        assert place.read_bytes() == before


@pytest.mark.every_case
def test_an_export_holds_one_run_at_a_time(ours: Path, tmp_path: Path) -> None:
    """A ledger of a million runs is larger than any memory."""
    source, file, events = tmp_path / "source.jsonl", tmp_path / "runs.jsonl", events_as_json(ours, "run-1")[:1]
    for number in range(30):
        large = {**events[0], "run_id": f"large-{number}", "title": "x" * 500_000}
        import_lines(ours, forge(source, f"large-{number}", [large]))
    tracemalloc.start()
    export_ledger(ours, file)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < file.stat().st_size / 2


def test_several_exports_in_one_file_may_hold_a_run_again_wherever_it_stands(ours: Path, tmp_path: Path) -> None:
    early, file = tmp_path / "early.sqlite3", tmp_path / "runs.jsonl"
    record(early, five()[2], until=4)
    lines = exported(ours)
    last = [line for line in lines if json.loads(line)["run"] == "run-3"]
    file.write_text("".join([*exported(early), *last, *last, *lines]))
    again = tmp_path / "again.sqlite3"
    assert import_lines(again, file) == Folded(added=3, grown=1, present=2)
    assert exported(again) == lines


def test_a_run_whose_title_is_hostile_is_written_out_and_read_back(tmp_path: Path) -> None:
    hostile = "\x00\x1b[2J\u202e'; DROP TABLE runs; --\U0001f600\n"
    one, other, file = tmp_path / "one.sqlite3", tmp_path / "other.sqlite3", tmp_path / "runs.jsonl"
    record(one, retold(told(), title=hostile))
    file.write_text("".join(exported(one)), encoding="ascii")
    import_lines(other, file)
    assert rows(other) == rows(one)
    assert json.loads(exported(other)[0])["event"]["title"] == hostile


LINES: dict[str, Callable[[list[str]], list[str]]] = {
    "line 1 cannot be read": lambda lines: ["no json\n"],
    "line 2 cannot be read": lambda lines: [lines[0], "[]\n"],
    "line 3 cannot be read": lambda lines: [*lines[:2], lines[2].replace('"index":2', '"index":"2"')],
    "line 4 cannot be read": lambda lines: [*lines[:3], "[" * 100_000 + "\n"],
    "line 5 cannot be read": lambda lines: [*lines[:4], lines[4].replace('"index"', '"more":1,"index"')],
    "line 6 cannot be read": lambda lines: [*lines[:5], lines[5].replace("run-1", "../run")],
    "event 3: it is missing": lambda lines: [*lines[:3], *lines[4:]],
    "event 1: it is missing": lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
    "event 0: it is missing": lambda lines: lines[1:],
    "event 2: its content": lambda lines: [*lines[:2], lines[2].replace("pre_flight", "executor"), *lines[3:]],
    "differ from event|is missing": lambda lines: [*lines, *lines[:5], *lines[7:9]],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("says", LINES)
def test_a_file_that_is_no_export_is_refused_with_its_place(ours: Path, tmp_path: Path, says: str) -> None:
    file, into = tmp_path / "runs.jsonl", tmp_path / "into.sqlite3"
    record(into, told(number=9))
    before = exported(into)
    file.write_text("".join(LINES[says](exported(ours))))
    with pytest.raises(LedgerError, match=says):
        import_lines(into, file)
    assert exported(into) == before


def test_a_file_that_cannot_be_read_is_said(ours: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"none\.jsonl cannot be read: No such file or directory\."):
        import_lines(ours, tmp_path / "none.jsonl")
    with pytest.raises(LedgerError, match=r"cannot be read: Is a directory\."):
        import_lines(ours, tmp_path)
    (tmp_path / "empty.jsonl").touch()
    assert import_lines(ours, tmp_path / "empty.jsonl") == Folded(0, 0, 0)


def test_calls_that_an_earlier_version_recorded_still_verify_and_count_as_they_did(tmp_path: Path) -> None:
    """Their events tell neither the executor's own tokens nor who was consulted."""
    ours, earlier = tmp_path / "ours.sqlite3", tmp_path / "earlier.sqlite3"

    def consulting(world: MockWorld) -> None:
        world.switch("HYDRAFLOW_REVIEW_EXECUTOR_MODEL", "opus")
        world.agents.script(Role.EXECUTOR, replace(approve(), output_tokens=700).costing(0.5).after_asking("?"))
        world.agents.script(Role.MID_FLIGHT, guidance())

    record(ours, told(consulting))
    events = events_as_json(ours, "run-1")
    told_now = [event.pop("consulted") for event in events if event["kind"] == "call_ended"]
    assert ["opus"] in told_now
    for event in events:
        event.pop("own", None)
    import_lines(earlier, forge(tmp_path / "runs.jsonl", "run-1", events))
    assert verify(earlier) == Proof(1, len(events), ())
    assert rows(earlier)["runs"] == rows(ours)["runs"]
    now, before = (
        role_costs(event for event in events_of_run(path, "run-1")[0] if isinstance(event, CallEnded))
        for path in (ours, earlier)
    )
    executors = [cost for cost in before if cost.role is Role.EXECUTOR]
    assert [(cost.calls, cost.shared, cost.usage.cost_usd) for cost in executors] == [(1, False, 0.5)]
    assert {cost.role for cost in now} - {cost.role for cost in before} == {Role.MID_FLIGHT}
