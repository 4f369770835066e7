"""Ledgers from a job that read what strangers wrote: whoever hands one in can forge whole runs, and gains nothing."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.ledgers import database, events_as_json, exported, forge, meddle, record, rows, told

from review_advisor.ledger.chain import FIRST, LARGEST_RUN, LedgerError, canonical, link, links
from review_advisor.ledger.chains import add_link, begin_chain, chain_id, read_chain
from review_advisor.ledger.database import open_to_write, transaction
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.recorder import Rebuilt
from review_advisor.ledger.run_queries import list_runs, read_reviews
from review_advisor.ledger.transfer import Folded, events_of_run, import_lines, merge, rebuild

Events = list[dict[str, Any]]


def calls(events: Events) -> Events:
    return [event for event in events if event["kind"] == "call_ended"]


def go_on(path: Path, run: str, event: dict[str, Any]) -> None:
    """Add an event to a run in a ledger of one's own: its chain stays sound."""
    connection = open_to_write(path)
    chain = read_chain(connection, run)
    row = chain_id(connection, run)
    assert row is not None
    with transaction(connection):
        add_link(connection, row, link(run, len(chain.links), chain.links[-1].hash, canonical(event)))
    connection.close()


# --- a run that is over -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", ["another call", "another end"])
def test_nothing_is_added_to_a_run_that_is_over(ledger: Path, tmp_path: Path, more: str) -> None:
    """Else an escalation would be unfinished again, or an approval."""
    theirs = tmp_path / "theirs.sqlite3"
    merge(theirs, ledger)
    events = events_as_json(ledger, "run-4")
    assert events[-1]["kind"] == "review_ended"
    go_on(theirs, "run-4", {**events[-1], "outcome": "approved"} if more == "another end" else events[1])
    before = rows(ledger)
    closed = f"The run run-4 ended with event {len(events) - 1}: nothing comes after that."
    with pytest.raises(LedgerError, match=closed):
        merge(ledger, theirs)
    file = forge(tmp_path / "runs.jsonl", "run-4", events_as_json(theirs, "run-4"))
    with pytest.raises(LedgerError, match=closed):
        import_lines(ledger, file)
    with pytest.raises(LedgerError, match=closed):
        rebuild(theirs)
    (found,) = verify(theirs).broken
    assert (found.run_id, found.says) == ("run-4", closed)
    assert rows(ledger) == before


# --- what no run of ours can hold -------------------------------------------------------------------------------------


def begun(at: str) -> Callable[[Events], None]:
    return lambda events: events[0].update(at=at)


def ended(at: str) -> Callable[[Events], None]:
    return lambda events: events[-1].update(at=at)


def of_pull_request(number: int) -> Callable[[Events], None]:
    return lambda events: events[0].update(pull_request=number)


def titled(title: str) -> Callable[[Events], None]:
    return lambda events: events[0].update(title=title)


def told_last(words: str) -> Callable[[Events], None]:
    return lambda events: events[-1].update(because=[words])


def called(**told: Any) -> Callable[[Events], None]:
    return lambda events: calls(events)[0].update(told)


def used(**told: Any) -> Callable[[Events], None]:
    return lambda events: calls(events)[0]["usage"].update(told)


IMPOSSIBLE: dict[str, tuple[Callable[[Events], None], str]] = {
    "the last day of all": (begun("9999-12-31T23:59:59-14:00"), "cannot have begun at 9999-12-31"),
    "the first day of all": (begun("0001-01-01T00:00:00+14:00"), "cannot have begun at 0001-01-01"),
    "before 1970": (begun("1969-12-31T23:59:59Z"), "cannot have begun at 1969-12-31"),
    "beyond the record": (begun("9000-01-01T00:00:00.000001Z"), "cannot have begun at 9000-01-01"),
    "no zone at first": (begun("2026-01-05T09:00:00"), "cannot have begun at 2026-01-05T09:00:00"),
    "no zone at last": (ended("2026-01-05T09:00:00"), r"Event \d+ of run-1 has no time zone"),
    "over before it began": (ended("2026-01-05T09:59:59Z"), r"Event \d+ of run-1 happened before the run began\."),
    "a pull request below all": (of_pull_request(0), r"The run run-1 names a pull request that cannot be\."),
    "a pull request beyond all": (of_pull_request(2**31 + 1), r"The run run-1 names a pull request that cannot be\."),
    "half a character at first": (
        titled("half \ud800"),
        r"Event 0 of run-1 holds half a character: no file takes that\.",
    ),
    "half a character at last": (told_last("\udfff"), r"Event \d+ of run-1 holds half a character"),
    "a call for ever": (called(duration_seconds=1e308), "has a negative figure, or one beyond measure"),
    "a call that ended first": (called(duration_seconds=-1.0), "has a negative figure"),
    "money back": (used(cost_usd=-5.0), "has a negative figure"),
    "own tokens back": (called(own={"input_tokens": -1}), "has a negative figure"),
    "tokens back": (used(input_tokens=-1), "has a negative figure"),
    "tokens without end": (used(output_tokens=10**30), "has a negative figure, or one beyond measure"),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("forged, says", IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
@pytest.mark.parametrize("until", [None, -1], ids=["over", "unfinished"])
def test_a_run_that_cannot_be_is_refused(
    ledger: Path, tmp_path: Path, forged: Callable[[Events], None], says: str, until: int | None
) -> None:
    events = copy.deepcopy(events_as_json(ledger, "run-1"))[:until]
    forged(events)
    file, new = forge(tmp_path / "runs.jsonl", "run-1", events), tmp_path / "new" / "ledger.sqlite3"
    with pytest.raises(LedgerError, match=says):
        import_lines(new, file)
    assert [path.name for path in new.parent.iterdir()] == [".gitignore"], "no empty ledger is left behind"


@pytest.mark.parametrize("number", [1, 2**31])
def test_the_first_and_the_last_pull_request_there_can_be_are_taken(ledger: Path, tmp_path: Path, number: int) -> None:
    events = events_as_json(ledger, "run-1")
    of_pull_request(number)(events)
    new = tmp_path / "new.sqlite3"
    assert import_lines(new, forge(tmp_path / "runs.jsonl", "run-1", events)) == Folded(1, 0, 0)
    assert [run.pull_request for run in list_runs(new, RunFilter())] == [number]


def test_no_reader_tells_of_a_run_that_cannot_be(ledger: Path, tmp_path: Path) -> None:
    """Every reader of its events says why, and none of them stumbles."""
    theirs = events_as_json(ledger, "run-1")
    told_last("\ud800")(theirs)
    meddle(ledger, "DELETE FROM events WHERE chain = (SELECT min(id) FROM chains)")
    meddle(ledger, f"UPDATE chains SET events = 0, last_hash = '{FIRST}' WHERE id = (SELECT min(id) FROM chains)")
    connection = open_to_write(ledger)
    row = chain_id(connection, "run-1")
    assert row is not None
    with transaction(connection):
        for each in links("run-1", map(canonical, theirs)):
            add_link(connection, row, each)
    connection.close()
    why = f"Event {len(theirs) - 1} of run-1 holds half a character: no file takes that."
    assert [(each.run_id, each.says) for each in verify(ledger).broken] == [("run-1", why)]
    assert next(read_reviews(ledger, ["run-1"])) == why
    with pytest.raises(LedgerError, match=why):
        events_of_run(ledger, "run-1")
    with pytest.raises(LedgerError, match=why):
        merge(tmp_path / "new.sqlite3", ledger)
    assert rebuild(ledger, whole_runs=True) == Rebuilt(4, (why,))


def test_a_clock_that_goes_ahead_is_believed(ledger: Path, tmp_path: Path) -> None:
    events = events_as_json(ledger, "run-1")
    for event in events:
        event["at"] = (datetime.now(UTC) + timedelta(hours=23)).isoformat()
    assert import_lines(tmp_path / "new.sqlite3", forge(tmp_path / "runs.jsonl", "run-1", events[:4])) == Folded(
        1, 0, 0
    )


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_json_does_not_know_is_refused(ledger: Path, tmp_path: Path, word: str) -> None:
    line = exported(ledger)[0].replace('"kind":', f'"x":{word},"kind":')
    (tmp_path / "runs.jsonl").write_text(line)
    with pytest.raises(LedgerError, match="line 1 cannot be read"):
        import_lines(tmp_path / "new.sqlite3", tmp_path / "runs.jsonl")


def test_a_line_without_an_end_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    with file.open("wb") as lines:
        lines.truncate(LARGEST_RUN * 4)
    with pytest.raises(LedgerError, match=r"runs\.jsonl is no export of a ledger: line 1 is too long\."):
        import_lines(tmp_path / "new.sqlite3", file)


def test_a_crowd_of_runs_that_begin_at_one_moment_is_refused(tmp_path: Path) -> None:
    """Each would look for its place among those before it, and every review waits until the merge is done."""
    connection = open_to_write(tmp_path / "ledger.sqlite3")
    with transaction(connection):
        assert [begin_chain(connection, f"run-{number}", 7) for number in range(1_000)] == list(range(7, 1_007))
        with pytest.raises(LedgerError, match="The run one-more is refused: 1,000 runs began at the same moment"):
            begin_chain(connection, "one-more", 7)
        assert begin_chain(connection, "later", 1_007) == 1_007
    connection.close()


# --- a refusal leaves all as it was -----------------------------------------------------------------------------------


def test_a_refused_merge_leaves_no_new_ledger_behind(ledger: Path, tmp_path: Path) -> None:
    meddle(ledger, "UPDATE events SET event = '{}' WHERE position = 3")
    new = tmp_path / "new.sqlite3"
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(LedgerError, match="is not what was recorded"):
        merge(new, ledger)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["none.sqlite3", "app.py"])
def test_what_cannot_be_read_leaves_no_folder_behind(tmp_path: Path, name: str) -> None:
    (tmp_path / "app.py").write_text("value = 1\n")
    for fold in (merge, import_lines):
        with pytest.raises(LedgerError):
            fold(tmp_path / "deep" / "er" / "new.sqlite3", tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["app.py"]


def test_a_ledger_that_another_process_makes_meanwhile_is_not_lost(ledger: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.sqlite3"
    reading, writing = os.pipe()  # as a shell gives one
    with ThreadPoolExecutor() as pool:
        importing = pool.submit(import_lines, new, Path(f"/dev/fd/{reading}"))
        with os.fdopen(writing, "w") as lines:
            lines.write("".join(exported(ledger)))
            record(new, told(number=9))
    assert importing.result() == Folded(5, 0, 0)
    os.close(reading)
    assert len(list_runs(new, RunFilter())) == 6
    assert verify(new).whole


def test_a_new_ledger_of_a_merge_is_one_like_any_other(ledger: Path, tmp_path: Path) -> None:
    new = tmp_path / "deep" / "er" / "new.sqlite3"
    assert merge(new, ledger) == Folded(5, 0, 0)
    record(new, told(number=9))
    assert verify(new).whole
    assert sorted(path.name for path in new.parent.iterdir()) == [".gitignore", "new.sqlite3"]


# --- what everybody reads ---------------------------------------------------------------------------------------------

RUN_4 = "(SELECT id FROM chains WHERE run_id = 'run-4')"
TAIL = f"""
    UPDATE chains SET events = 6, last_hash = (SELECT hash FROM events WHERE chain = chains.id AND position = 5)
    WHERE id = {RUN_4}
"""
LIES: dict[str, tuple[tuple[str, ...], str]] = {
    "another verdict": ((f"UPDATE runs SET status = 'approved' WHERE chain = {RUN_4}",), "what runs says of it"),
    "another flag": ((f"UPDATE runs SET exhausted = 0 WHERE chain = {RUN_4}",), "what runs says of it"),
    "another cost": ((f"UPDATE calls SET cost_usd = 99 WHERE chain = {RUN_4}",), "what calls says of it"),
    "a vote more": (
        (f"INSERT INTO votes VALUES ({RUN_4}, 99, 'pr_review', 0, 0, 'post_verify', 'veto', 'AGREE', 0)",),
        "what votes says of it",
    ),
    "a title less": ((f"DELETE FROM titles WHERE chain = {RUN_4}",), "what titles says of it"),
    "a row less": ((f"DELETE FROM runs WHERE chain = {RUN_4}",), "what runs says of it"),
    "a proof of its own": ((f"INSERT INTO proofs SELECT {RUN_4}, 'f', 1",), "what proofs says of it"),
    "another model": (
        (f"DELETE FROM casting_parts WHERE casting = (SELECT casting FROM runs WHERE chain = {RUN_4})",),
        "what casting_parts says of it",
    ),
    "a model more": (
        (f"INSERT INTO casting_parts SELECT casting, 'x', 'y', 'z', '' FROM runs WHERE chain = {RUN_4}",),
        "what casting_parts says of it",
    ),
    "its tail cut off, with its count and hash": (
        (f"DELETE FROM events WHERE chain = {RUN_4} AND position > 5", TAIL),
        "what ",
    ),
    "another day": (
        (
            "PRAGMA foreign_keys = OFF",
            *(f"UPDATE {table} SET chain = chain + 1000000 WHERE chain = {RUN_4}" for table in ("runs", "titles")),
            f"UPDATE events SET chain = chain + 1000000 WHERE chain = {RUN_4}",
            "UPDATE chains SET id = id + 1000000 WHERE run_id = 'run-4'",
        ),
        "it began at another moment than the ledger says",
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("statements, why", LIES.values(), ids=list(LIES))
def test_a_row_that_is_not_what_the_events_say_is_found(ledger: Path, statements: tuple[str, ...], why: str) -> None:
    meddle(ledger, *statements)
    named = {each.run_id: each for each in verify(ledger).broken}
    assert named["run-4"].index is None
    assert named["run-4"].says.startswith(why)
    if why.startswith("what "):
        assert rebuild(ledger) == Rebuilt(5)
        assert verify(ledger).broken == ()


def test_a_run_that_was_taken_out_leaves_its_rows(ledger: Path) -> None:
    meddle(
        ledger,
        "PRAGMA foreign_keys = OFF",
        f"DELETE FROM events WHERE chain = {RUN_4}",
        "DELETE FROM chains WHERE run_id = 'run-4'",
    )
    proof = verify(ledger)
    assert (proof.runs, proof.broken, proof.whole) == (4, (), False)
    assert "1 row of runs naming chains that are not there" in proof.stray
    rebuild(ledger)
    assert verify(ledger).whole
    assert "run-4" not in {run.run_id for run in list_runs(ledger, RunFilter())}


def test_runs_that_begin_at_one_moment_are_whole(tmp_path: Path) -> None:
    ledger, file = tmp_path / "ledger.sqlite3", tmp_path / "runs.jsonl"
    record(tmp_path / "one.sqlite3", told())
    events = events_as_json(tmp_path / "one.sqlite3", "run-1")
    for name in ("a", "b", "c"):
        import_lines(ledger, forge(file, name, [{**events[0], "run_id": name}, *events[1:]]))
    assert verify(ledger).whole
    with database(ledger) as connection:
        first, *more = [row[0] for row in connection.execute("SELECT id FROM chains ORDER BY id")]
    assert more == [first + 1, first + 2]


# --- the whole ones go on ---------------------------------------------------------------------------------------------


@pytest.fixture
def broken(ledger: Path) -> Path:
    """A ledger in which one run of five is not what was recorded."""
    meddle(ledger, "UPDATE events SET event = '{}' WHERE position = 3 AND chain = (SELECT min(id) + 0 FROM chains)")
    return ledger


LEFT_OUT = ("The run run-1 is not what was recorded: event 3: its content is not what was recorded.",)


def test_a_broken_run_does_not_keep_the_others_out_of_a_merge(broken: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.sqlite3"
    with pytest.raises(LedgerError, match="The run run-1 is not what was recorded"):
        merge(whole, broken)
    assert merge(whole, broken, whole_runs=True) == Folded(4, 0, 0, LEFT_OUT)
    assert verify(whole).whole
    assert [run.run_id for run in list_runs(whole, RunFilter())] == ["run-5", "run-4", "run-3", "run-2"]


def test_of_a_run_that_is_left_out_nothing_is_taken(ledger: Path, tmp_path: Path) -> None:
    """Also if it is refused after its events were written."""
    events = events_as_json(ledger, "run-2")
    file = forge(tmp_path / "runs.jsonl", "run-2", [events[0], {"kind": "review_ended"}, *events[1:]])
    with file.open("a") as lines:
        lines.write("".join(line for line in exported(ledger) if json.loads(line)["run"] == "run-3"))
    came = import_lines(tmp_path / "new.sqlite3", file, whole_runs=True)
    assert came == Folded(1, 0, 0, ("Event 1 of run-2 is none that this version knows.",))
    assert {json.loads(line)["run"] for line in exported(tmp_path / "new.sqlite3")} == {"run-3"}


def test_a_broken_run_does_not_keep_the_others_from_being_read_anew(broken: Path) -> None:
    with database(broken) as connection:
        connection.execute("UPDATE runs SET status = 'stopped'")
    before = rows(broken)
    with pytest.raises(LedgerError, match="The run run-1 is not what was recorded"):
        rebuild(broken)
    assert rows(broken) == before
    assert rebuild(broken, whole_runs=True) == Rebuilt(4, LEFT_OUT)
    listed = {run.run_id: run.status for run in list_runs(broken, RunFilter())}
    assert set(listed) == {"run-2", "run-3", "run-4", "run-5"}, "what cannot be proven is not told"
    assert "stopped" not in listed.values()
    assert all(row[0] != "run-1" for its in rows(broken).values() for row in its)
