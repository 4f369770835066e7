"""``review-advisor runs`` and ``review-advisor ledger``: what their users type, and what they get."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import database, exported, five, meddle, record, rows, told

from review_advisor.app.options import moment
from review_advisor.app.runs import STATUSES, between, list_
from review_advisor.ledger.artifacts import AdvisorLog, advisor_log, review_files
from review_advisor.ledger.queries import Between, RunFilter
from review_advisor.ledger.rows import UNFINISHED
from review_advisor.review.document import outcome_document, outcome_json, read_outcome
from review_advisor.review.rulings import Outcome


@pytest.fixture
def kept(terminal: Terminal) -> Path:
    """The ledger that the commands look at without being told: the five stories."""
    path = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(path, *five())
    return path


def listed(terminal: Terminal, *words: str) -> list[str]:
    """The runs that a list names, in its order."""
    done = terminal.run("runs", "list", "--json", *words)
    assert done.code == 0, done.err
    return [run["run_id"] for run in json.loads(done.out)]


def refused(terminal: Terminal, *words: str | Path) -> str:
    done = terminal.run(*words)
    assert done.code == 2, done.err
    return done.sentence


# --- runs list --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_a_list_is_a_line_a_run_the_newest_first(terminal: Terminal) -> None:
    done = terminal.run("runs", "list")
    assert (done.code, done.err) == (0, "")
    head, *lines = done.out.splitlines()
    assert head.split()[0] == "run"
    assert [line.split()[0] for line in lines] == ["run-5", "run-4", "run-3", "run-2", "run-1"]
    assert "escalated" in lines[1]
    assert "exhausted" in lines[1]
    assert "degraded" in lines[2]


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    "words, found",
    [
        ("--status approved --surface pr_review --role executor --model sonnet --error none --limit 2", "52"),
        ("--cost 0.1.. --consults 1..3 --repository ACME/shop --pr 7 --text VALUE", "1"),
        ("--since 2026-01-05T11:00 --until 2026-01-05T14:00:00+00:00 --cost ..0.1", "432"),
        ("--since 1h", ""),
    ],
)
def test_every_filter_can_be_typed(terminal: Terminal, words: str, found: str) -> None:
    assert listed(terminal, *words.split()) == [f"run-{number}" for number in found]


def test_every_filter_has_its_option_and_every_word_its_meaning() -> None:
    options = {parameter.name for parameter in list_.params}
    assert {each.name for each in fields(RunFilter)} <= options
    assert set(STATUSES) == {UNFINISHED, *(each.value for each in Outcome)}


@pytest.mark.parametrize(
    "text, low, high",
    [("3", 3, 3), ("0.5..", 0.5, None), ("..12", None, 12), ("1..2.5", 1, 2.5)],
)
def test_what_a_range_says(text: str, low: float | None, high: float | None) -> None:
    assert between(text) == Between(low, high)


@pytest.mark.parametrize("text", ["", "..", "much", "-1", "1...2", "1e3", "٣", "1..2 "])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a range: give N"):
        between(text)


def test_what_a_moment_says() -> None:
    assert moment("2026-01-31") == datetime(2026, 1, 31, tzinfo=UTC)
    assert moment("2026-01-31T10:00+02:00") == datetime(2026, 1, 31, 8, tzinfo=UTC)
    for text in ("1969-12-31", "0001-01-02", "9999-01-01"):
        with pytest.raises(click.BadParameter, match="is out of reach: give a date from 1970 to 9998"):
            moment(text)
    for text in ("yesterday", "2026-13-01", "99999w", "٣d", "7 d", ""):
        with pytest.raises(click.BadParameter, match="is not a date: give one like 2026-01-31"):
            moment(text)


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    "words, says",
    [
        (("--cost", "much"), "Invalid value for '--cost': 'much' is not a range: give N, A..B, A.. or ..B."),
        (("--cost", "5..1"), "Invalid value for '--cost': '5..1' is upside down: give the lower number first."),
        (
            ("--since", "2026-11-21", "--until", "2026-11-21"),
            "--since (2026-11-21T00:00:00+00:00) is not before --until (2026-11-21T00:00:00+00:00).",
        ),
        (("--status", "won"), "Invalid value for '--status': 'won' is not one of 'unfinished', 'approved'"),
        (("--ledger", "none.sqlite3"), "There is no ledger none.sqlite3."),
        (("--ledger", "app.py"), "The ledger app.py does not count: git tracks app.py"),
        (("--ledger", "notes.txt"), "notes.txt is not a ledger: it is no SQLite file."),
    ],
)
def test_a_question_that_means_nothing_is_one_sentence(terminal: Terminal, words: tuple[str, ...], says: str) -> None:
    (terminal.folder / "notes.txt").write_text("Not a ledger, and long enough to be read as one.\n" * 20)
    assert refused(terminal, "runs", "list", *words).startswith(says)


def test_a_project_without_reviews_says_so(terminal: Terminal) -> None:
    assert refused(terminal, "runs", "list") == "There is no ledger review_logs/ledger/ledger.sqlite3."
    assert not (terminal.folder / "review_logs").exists()


@pytest.mark.usefixtures("kept")
def test_no_run_is_an_answer_too(terminal: Terminal) -> None:
    assert terminal.run("runs", "list", "--status", "stopped").out == "No run matches.\n"
    assert listed(terminal, "--status", "stopped") == []


# --- runs show and export ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_one_run_is_shown_with_its_tables(terminal: Terminal) -> None:
    done = terminal.run("runs", "show", "run-1")
    assert done.code == 0
    assert "run         run-1\n" in done.out
    assert "cost        $0.2200\n" in done.out
    for table in ("calls", "findings", "consults", "votes"):
        assert f"\n{table}\n" in done.out
    document = five()[0]
    told = json.loads(terminal.run("runs", "show", "run-1", "--json").out)
    assert told["events"] == json.loads(outcome_json(document))["events"]
    assert refused(terminal, "runs", "show", "run-9").endswith("has no run 'run-9'.")
    assert refused(terminal, "runs", "show", "run").startswith("Several runs begin with 'run': ")


@pytest.mark.usefixtures("kept")
def test_the_files_of_a_review_can_be_written_again(terminal: Terminal) -> None:
    done = terminal.run("runs", "export", "run-4", "again")
    assert done.code == 0
    document = five()[3]
    folder = terminal.folder / "again"
    names = [Path(line).relative_to("again").as_posix() for line in done.out.splitlines()]
    assert names == ["events.jsonl", *review_files(document)]
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == set(names)
    log = AdvisorLog.model_validate_json((folder / ".advisor" / "run-4.json").read_bytes())
    assert log == advisor_log(document.events)
    assert read_outcome((folder / "outcome.json").read_bytes()) == document
    assert len((folder / "events.jsonl").read_text().splitlines()) == len(document.events)


def test_of_a_review_that_was_killed_the_events_are_written(terminal: Terminal, kept: Path) -> None:
    record(kept, told(number=6), until=5)
    done = terminal.run("runs", "export", "run-6", "half", "--json")
    assert json.loads(done.out) == ["events.jsonl", ".advisor/run-6.json"]
    assert json.loads((terminal.folder / "half" / ".advisor" / "run-6.json").read_bytes())["final_answer"] is None
    assert len((terminal.folder / "half" / "events.jsonl").read_text().splitlines()) == 5
    assert refused(terminal, "runs", "export", "run-6", "app.py").startswith("The folder app.py cannot be made: ")


# --- ledger -----------------------------------------------------------------------------------------------------------


def test_a_whole_ledger_is_exit_code_0_and_a_broken_one_3(terminal: Terminal, kept: Path) -> None:
    count = len(exported(kept))
    done = terminal.run("ledger", "verify")
    assert (done.code, done.out.splitlines()[0]) == (0, f"5 runs, {count} events: all is as it was recorded")
    meddle(kept, "UPDATE events SET event = '{}' WHERE position = 3")
    done = terminal.run("ledger", "verify")
    assert done.code == 3
    assert done.out.splitlines()[0] == "BROKEN run-1: event 3: its content is not what was recorded"
    assert done.out.splitlines()[-1] == f"5 runs, {count} events: 5 broken"
    told = json.loads(terminal.run("ledger", "verify", "--json").out)
    assert (told["runs"], told["whole"], len(told["broken"])) == (5, False, 5)


@pytest.mark.every_case
def test_ledgers_of_two_jobs_become_one(terminal: Terminal, kept: Path) -> None:
    other, whole = terminal.folder / "other.sqlite3", terminal.folder / "whole.sqlite3"
    record(other, told(number=9))
    for source, says in (
        (kept, "5 runs added, 0 grown, 0 there already\n"),
        (other, "1 run added, 0 grown, 0 there already\n"),
        (other, "0 runs added, 0 grown, 1 there already\n"),
    ):
        done = terminal.run("ledger", "merge", whole, source)
        assert (done.code, done.out) == (0, says)
    assert listed(terminal, "--ledger", str(whole)) == [f"run-{number}" for number in (9, 5, 4, 3, 2, 1)]
    done = terminal.run("ledger", "merge", whole, other, "--json")
    assert json.loads(done.out) == {"added": 0, "grown": 0, "present": 1, "left_out": []}
    assert refused(terminal, "ledger", "merge", whole, "none.sqlite3") == "There is no ledger none.sqlite3."


@pytest.mark.every_case
def test_a_ledger_is_written_out_and_read_back(terminal: Terminal, kept: Path) -> None:
    done = terminal.run("ledger", "export", "runs.jsonl")
    assert (done.code, done.out, done.err) == (0, "", f"5 runs, {len(exported(kept))} events written\n")
    assert (terminal.folder / "runs.jsonl").read_text() == "".join(exported(kept))
    assert terminal.process("ledger", "export", "/dev/stdout").out == "".join(exported(kept))
    done = terminal.run("ledger", "import", "runs.jsonl", "--ledger", "new.sqlite3")
    assert (done.code, done.out) == (0, "5 runs added, 0 grown, 0 there already\n")
    assert rows(terminal.folder / "new.sqlite3") == rows(kept)
    assert "line 1 cannot be read" in refused(terminal, "ledger", "import", "app.py", "--ledger", "new.sqlite3")
    assert refused(terminal, "ledger", "export", "no/such/place").startswith("no/such/place cannot be written: ")


def test_a_damaged_ledger_is_repaired_into_a_new_file(terminal: Terminal, kept: Path) -> None:
    done = terminal.run("ledger", "repair", "all.sqlite3")
    assert (done.code, done.out, done.err) == (0, "5 runs saved in all.sqlite3\n", "")
    meddle(kept, "UPDATE events SET event = '{}' WHERE position = 3 AND chain = (SELECT min(id) FROM chains)")
    done = terminal.run("ledger", "repair", "rest.sqlite3")
    assert (done.code, done.out) == (3, "4 runs saved in rest.sqlite3\n")
    assert done.err.startswith("Left out: The run run-1 is not what was recorded: event 3: ")
    assert listed(terminal, "--ledger", "rest.sqlite3") == [f"run-{number}" for number in (5, 4, 3, 2)]
    assert "rest.sqlite3 exists already" in refused(terminal, "ledger", "repair", "rest.sqlite3")


def test_a_ledger_of_one_run_is_told_in_the_singular(terminal: Terminal) -> None:
    record(terminal.folder / "one.sqlite3", told(), until=1)
    one = ("--ledger", "one.sqlite3")
    assert terminal.run("ledger", "verify", *one).out.startswith("1 run, 1 event: all is as it was recorded\n")
    assert terminal.run("ledger", "rebuild", *one).out == "1 run read anew\n"
    assert terminal.run("ledger", "export", "runs.jsonl", *one).err == "1 run, 1 event written\n"
    assert terminal.run("rollup", "--since", "2026-01-01", *one).out.startswith("1 run: 0 with a verdict, ")


LEDGERS = ("review_logs/ledger/ledger.sqlite3", "review_logs/../review_logs/ledger/ledger.sqlite3", "linked.sqlite3")


def test_an_export_never_replaces_a_ledger_nor_what_somebody_wrote(terminal: Terminal, kept: Path) -> None:
    (terminal.folder / "linked.sqlite3").symlink_to(kept)
    (terminal.folder / "second_name.sqlite3").hardlink_to(kept)
    record(terminal.folder / "other.sqlite3", told(number=9))
    (terminal.folder / "notes.txt").write_text("mine\n")
    there = {path: path.read_bytes() for path in terminal.folder.rglob("*") if path.is_file()}
    for name in (*LEDGERS, f"{LEDGERS[0]}-wal", f"{LEDGERS[0]}-shm"):
        says = f"{name} is the ledger itself: name another file for the export."
        assert refused(terminal, "ledger", "export", name) == says
    for name in ("second_name.sqlite3", "other.sqlite3", "notes.txt"):
        says = f"{name} is there already and no export: name another file, or remove it."
        assert refused(terminal, "ledger", "export", name) == says
    assert {path: path.read_bytes() for path in terminal.folder.rglob("*") if path.is_file()} == there


def test_an_earlier_export_is_replaced_whole_or_not_at_all_and_so_is_an_empty_file(
    terminal: Terminal, kept: Path
) -> None:
    file = terminal.folder / "runs.jsonl"
    file.touch()
    for number in (8, 9):
        record(kept, told(number=number))
        assert terminal.run("ledger", "export", file).code == 0
        assert file.read_text() == "".join(exported(kept))
    before = file.read_bytes()
    meddle(kept, "UPDATE events SET event = '{}' WHERE position = 3 AND chain = (SELECT max(id) FROM chains)")
    for place in (file, "/dev/stdout"):
        assert refused(terminal, "ledger", "export", place).startswith("The run run-9 is not what was recorded: ")
    assert file.read_bytes() == before
    assert [path.name for path in terminal.folder.glob(".review-advisor-*")] == []


@pytest.mark.every_case
def test_the_whole_runs_of_a_broken_ledger_are_not_lost(terminal: Terminal, kept: Path) -> None:
    meddle(kept, "UPDATE events SET event = '{}' WHERE position = 3 AND chain = (SELECT max(id) FROM chains)")
    why = "The run run-5 is not what was recorded: event 3: its content is not what was recorded."
    for words in (("export", "runs.jsonl"), ("merge", "whole.sqlite3", kept), ("rebuild",)):
        assert refused(terminal, "ledger", *words) == why
    assert not (terminal.folder / "runs.jsonl").exists()
    assert not (terminal.folder / "whole.sqlite3").exists()
    done = terminal.run("runs", "show", "run-5")
    assert (done.code, "BROKEN      event 3: its content is not what was recorded\n" in done.out) == (0, True)
    told = json.loads(terminal.run("runs", "show", "run-5", "--json").out)
    assert (told["broken"], len(told["events"])) == ("event 3: its content is not what was recorded", 3)
    added = "4 runs added, 0 grown, 0 there already\n"
    told_anew = {"export runs.jsonl": "", f"merge whole.sqlite3 {kept}": added, "rebuild": "4 runs read anew\n"}
    for typed, says in told_anew.items():
        done = terminal.run("ledger", *typed.split(), "--whole-runs")
        *noted, last = done.err.splitlines()
        assert (done.code, done.out, last) == (3, says, f"Left out: {why}")
        assert [line.partition(",")[0] for line in noted] == (["4 runs"] if typed.startswith("export") else [])
    done = terminal.run("ledger", "import", "runs.jsonl", "--ledger", "again.sqlite3", "--whole-runs")
    assert (done.code, done.out) == (0, added), "nothing is left out"
    assert listed(terminal, "--ledger", "again.sqlite3") == ["run-4", "run-3", "run-2", "run-1"] == listed(terminal)
    assert refused(terminal, "runs", "show", "run-5").startswith("The run run-5 has no rows: event 3: its content")


def test_a_program_can_read_what_came_of_an_export_and_of_a_rebuild(terminal: Terminal, kept: Path) -> None:
    count = len(exported(kept))
    done = terminal.run("ledger", "export", "runs.jsonl", "--json")
    assert json.loads(done.out) == {"runs": 5, "events": count, "left_out": []}
    assert json.loads(terminal.run("ledger", "rebuild", "--json").out) == {"runs": 5, "left_out": []}
    meddle(kept, "UPDATE events SET event = '{}' WHERE position = 3")
    done = terminal.run("ledger", "export", "runs.jsonl", "--whole-runs", "--json")
    assert (done.code, json.loads(done.out)["runs"], len(json.loads(done.out)["left_out"])) == (3, 0, 5)
    assert (terminal.folder / "runs.jsonl").read_text() == ""


def test_rows_that_the_events_do_not_tell_are_exit_code_3(terminal: Terminal, kept: Path) -> None:
    with database(kept) as connection:
        connection.execute("UPDATE runs SET status = 'approved', exhausted = 0")
        connection.execute("INSERT INTO titles VALUES (5, 'of no run')")
    done = terminal.run("ledger", "verify")
    assert done.code == 3
    why = "what runs says of it is not what its events say: `ledger rebuild` reads it anew"
    assert f"BROKEN run-4: {why}\n" in done.out
    assert "BROKEN 1 row of titles naming chains that are not there\n" in done.out
    broken = [line for line in done.out.splitlines() if line.startswith("BROKEN ")]
    assert done.out.splitlines()[-1].endswith(f" events: {len(broken)} broken")
    told = json.loads(terminal.run("ledger", "verify", "--json").out)
    assert len(broken) == len(told["broken"]) + len(told["stray"])
    assert {"run_id": "run-4", "index": None, "why": why} in told["broken"]
    assert (told["whole"], told["stray"]) == (False, ["1 row of titles naming chains that are not there"])


@pytest.mark.every_case
def test_a_place_that_no_file_can_have_is_a_sentence_and_a_review_goes_on(terminal: Terminal) -> None:
    long = f"{'f' * 300}/ledger.sqlite3"
    for words in (("runs", "list"), ("rollup",), ("ledger", "verify")):
        assert (
            refused(terminal, *words, "--ledger", long) == f"The ledger {long} cannot be reached: File name too long."
        )
    assert terminal.review().code == terminal.review("--ledger", long).code == 0


def test_an_alert_of_the_first_days_is_refused(terminal: Terminal) -> None:
    assert "is out of reach" in refused(terminal, "alerts", "--until", "0001-01-02")


def test_tables_are_read_anew(terminal: Terminal, kept: Path) -> None:
    before = rows(kept)
    with database(kept) as connection:
        connection.execute("UPDATE runs SET status = 'approved', findings = 0")
    done = terminal.run("ledger", "rebuild")
    assert (done.code, done.out) == (0, "5 runs read anew\n")
    assert rows(kept) == before
    assert refused(terminal, "ledger", "rebuild", "--ledger", "none.sqlite3") == "There is no ledger none.sqlite3."
    assert not (terminal.folder / "none.sqlite3").exists()


def test_a_document_in_the_ledger_is_the_document_on_disk(terminal: Terminal) -> None:
    """From a whole review: what it stored and what it recorded agree."""
    assert terminal.review("--output", "outcome.json").code == 0
    stored = read_outcome((terminal.folder / "outcome.json").read_bytes())
    (run,) = json.loads(terminal.run("runs", "list", "--json").out)
    assert (run["run_id"], run["status"], run["label"]) == (stored.run_id, "approved", stored.label)
    assert terminal.run("runs", "export", stored.run_id, "again").code == 0
    again = read_outcome((terminal.folder / "again" / "outcome.json").read_bytes())
    assert again == stored == outcome_document(stored.events)
