"""A ledger that is tampered with, cut short, full, out of reach or none at all: one sentence, nothing is lost."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.full_disk import no_file_larger_than
from tests.adapters.ledgers import database, exported, meddle, record, refuse, rows, told
from tests.scenarios.five_stories import an_approval_after_consults, three_parts_and_an_escalation

from review_advisor.ledger.chain import Break, LedgerError
from review_advisor.ledger.database import SCHEMA, open_to_read, open_to_write, sentences
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.recorder import Recorder, finding_places
from review_advisor.ledger.run_queries import list_runs
from review_advisor.ledger.transfer import Folded, events_of_run, merge, rebuild, repair
from review_advisor.review.document import OutcomeDocument

ROOT = Path(__file__).parents[3]
RUNS = {"run-1", "run-2", "run-3", "run-4", "run-5"}
NOT_RECORDED = "This review is not recorded there to its end."
OTHER_VERSION = (
    "The ledger {} was written by another version of review-advisor (its schema is 99, this one knows"
    f" {SCHEMA}): move the file away, and a new one is begun."
)


def warnings_of(path: Path, document: OutcomeDocument) -> list[str]:
    """What recording says, while nothing of it reaches the review."""
    said: list[str] = []
    with closing(Recorder(path, said.append)) as recorder:
        for event in document.events:
            recorder(event)
        recorder.finish(document)
    return said


# --- tampered with ----------------------------------------------------------------------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "statement, broken",
    [
        (
            "UPDATE events SET event = replace(event, 'approve', 'reject') WHERE position = 14",
            Break("run-2", 14, "its content is not what was recorded"),
        ),
        (
            "UPDATE events SET event = X'00' WHERE position = 3",
            Break("run-1", 3, "its content is not what was recorded"),
        ),
        ("DELETE FROM events WHERE position = 5", Break("run-1", 5, "it is missing, or stands in another place")),
        (
            "DELETE FROM events WHERE position = 16",
            Break("run-1", 16, "16 events are there, and the run's row counts 17"),
        ),
        ("UPDATE events SET position = -position", Break("run-1", 0, "it is missing, or stands in another place")),
        (
            "UPDATE events SET previous = hash WHERE position = 2",
            Break("run-1", 2, "it does not follow the one before it"),
        ),
        (
            "UPDATE events SET hash = previous WHERE position = 2",
            Break("run-1", 2, "its content is not what was recorded"),
        ),
        ("UPDATE chains SET events = 3", Break("run-1", 3, "17 events are there, and the run's row counts 3")),
        ("UPDATE chains SET last_hash = 'x'", Break("run-1", 16, "the run's row has another last hash")),
        (
            "UPDATE chains SET run_id = 'other' WHERE run_id = 'run-1'",
            Break("other", 0, "its content is not what was recorded"),
        ),
    ],
)
def test_the_first_event_that_is_not_what_was_recorded_is_named(ledger: Path, statement: str, broken: Break) -> None:
    meddle(ledger, statement)
    assert broken in verify(ledger).broken
    runs = {each.run_id for each in verify(ledger).broken}
    assert len(runs) == len(verify(ledger).broken), "one break a run"
    with pytest.raises(LedgerError, match=f"The run {broken.run_id} is not what was recorded"):
        events_of_run(ledger, broken.run_id)
    with pytest.raises(LedgerError, match="is not what was recorded"):
        exported(ledger)


def test_a_broken_run_leaves_the_others_whole_and_takes_new_ones(ledger: Path) -> None:
    meddle(ledger, "UPDATE events SET event = '{}' WHERE position = 4 AND chain = (SELECT min(id) FROM chains)")
    assert [each.run_id for each in verify(ledger).broken] == ["run-1"]
    before = rows(ledger)
    with pytest.raises(LedgerError):
        rebuild(ledger)
    assert rows(ledger) == before
    assert warnings_of(ledger, told(number=9)) == []
    assert list_runs(ledger, RunFilter())[0].run_id == "run-9"


@pytest.mark.every_case
def test_an_event_that_unpacks_to_more_than_it_should_breaks_its_chain(ledger: Path) -> None:
    bomb = zlib.compress(b"0" * 70_000_000, 9)
    meddle(ledger, f"UPDATE events SET event = X'{bomb.hex()}' WHERE position = 1")
    assert {each.index for each in verify(ledger).broken} == {1}


@pytest.mark.every_case
def test_no_flipped_byte_of_the_file_passes_for_what_was_recorded(ledger: Path, tmp_path: Path) -> None:
    """Whatever byte is wrong: either it is noticed, or every event, and every row, is still what it was."""
    whole, lines, before = ledger.read_bytes(), exported(ledger), rows(ledger)
    chance = random.Random(59)
    noticed = 0
    for place in sorted(chance.sample(range(len(whole)), 400)):
        other = tmp_path / "other.sqlite3"
        other.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << chance.randrange(8))]) + whole[place + 1 :])
        try:
            assert exported(other) == lines
            if verify(other).whole:
                assert rows(other) == before
                continue
        except LedgerError:
            pass
        noticed += 1
    assert noticed > 100


def test_no_shortened_file_passes_for_a_whole_one(ledger: Path, tmp_path: Path) -> None:
    """Unless all that is cut off is no event's: the last pages may be of a table that is read from them."""
    whole, lines = ledger.read_bytes(), exported(ledger)
    lengths = range(512, len(whole), 4_096 * 3 + 512)
    noticed = 0
    for length in lengths:
        other = tmp_path / "other.sqlite3"
        other.write_bytes(whole[:length])
        try:
            assert exported(other) == lines
        except LedgerError:
            noticed += 1
        assert other.read_bytes() == whole[:length], "nobody has mended it behind its owner's back"
    assert noticed >= len(lengths) - 1


@pytest.mark.every_case
def test_whatever_is_damaged_repair_saves_the_runs_that_are_whole_and_names_the_others(
    ledger: Path, tmp_path: Path
) -> None:
    """Of one page nothing is left: no run is lost without a word, and none comes back as another."""
    whole, lines = ledger.read_bytes(), set(exported(ledger))
    page = int.from_bytes(whole[16:18], "big")
    saved: Counter[int] = Counter()
    for start in range(page, len(whole), 3 * page):
        damaged, new = tmp_path / "damaged.sqlite3", tmp_path / f"new-{start}.sqlite3"
        damaged.write_bytes(whole[:start] + b"\xff" * page + whole[start + page :])
        before = damaged.read_bytes()
        try:
            folded = repair(damaged, new)
        except LedgerError:  # a page of the schema, without which SQLite reads nothing
            assert not new.exists()
            continue
        assert verify(new).whole
        assert set(exported(new)) <= lines
        there = {run.run_id for run in list_runs(new, RunFilter())}
        named = {run for run in RUNS if any(run in sentence for sentence in folded.left_out)}
        assert len(there) == folded.added
        assert there | named == RUNS or "there may have been runs" in folded.left_out[-1]
        assert damaged.read_bytes() == before
        saved[folded.added] += 1
    assert saved[5] > saved[4] + saved[3] > saved[0] > 0


def test_a_ledger_that_is_cut_short_is_repaired_as_far_as_its_events_go(ledger: Path, tmp_path: Path) -> None:
    whole = ledger.read_bytes()
    ledger.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(LedgerError, match="is damaged"):
        exported(ledger)
    folded = repair(ledger, tmp_path / "new.sqlite3")
    assert verify(tmp_path / "new.sqlite3").whole
    assert folded.added + len(folded.left_out) == len(RUNS)
    assert folded.added


def test_repair_takes_what_another_tool_recovered(ledger: Path, tmp_path: Path) -> None:
    """`.recover` of SQLite's own command line leaves a table of its own, and no ledger."""
    with database(ledger) as connection:
        connection.execute("CREATE TABLE lost_and_found (rootpgno, pgno, nfield, id, c0)")
        connection.execute("DROP TRIGGER events_follow_one_another")
    with pytest.raises(LedgerError, match="its tables are not those"):
        exported(ledger)
    assert repair(ledger, tmp_path / "new.sqlite3") == Folded(5, 0, 0)


def test_repair_replaces_no_file_and_takes_what_is_no_ledger_for_none(ledger: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="exists already: name a new file"):
        repair(ledger, ledger)
    text, new = tmp_path / "text", tmp_path / "folder" / "new.sqlite3"
    text.write_text("mine " * 400)
    with pytest.raises(LedgerError, match="it is no SQLite file"):
        repair(text, new)
    with pytest.raises(LedgerError, match="There is no ledger"):
        repair(tmp_path / "nowhere", new)
    assert not new.parent.exists()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER theirs AFTER INSERT ON events BEGIN DELETE FROM titles; END",
        "CREATE VIEW theirs AS SELECT * FROM events",
        "CREATE TABLE theirs (a)",
        "CREATE UNIQUE INDEX theirs ON runs (status)",
        "CREATE INDEX theirs ON titles (hex(zeroblob(1000000000)))",
        "CREATE INDEX theirs ON titles (title) WHERE hex(zeroblob(1000000000)) <> ''",
    ],
)
def test_what_somebody_put_into_the_schema_never_runs_and_refuses_no_row(ledger: Path, statement: str) -> None:
    """A checkout may hold a ledger: its statements must not run with ours."""
    with database(ledger) as connection:
        for table in ("titles", "runs"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute(statement)
    (said,) = warnings_of(ledger, told(number=9))
    assert said == f"{ledger} is not a ledger: its tables are not those of schema {SCHEMA}. {NOT_RECORDED}"
    with pytest.raises(LedgerError, match=f"its tables are not those of schema {SCHEMA}"):
        list_runs(ledger, RunFilter())


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "statements",
    [
        ["ANALYZE"],
        ["PRAGMA analysis_limit = 100", "PRAGMA optimize = 0x10002"],
        ["CREATE INDEX mine ON calls (role, ended)"],
        ["CREATE INDEX mine ON findings (title COLLATE NOCASE DESC)", "CREATE INDEX other ON events (hash)", "ANALYZE"],
    ],
    ids=["analysed", "optimised", "an index", "indexes, analysed"],
)
def test_what_a_person_does_for_speed_leaves_a_ledger_that_is_used_as_before(
    ledger: Path, tmp_path: Path, statements: list[str]
) -> None:
    before = rows(ledger)
    with database(ledger) as connection:
        for statement in statements:
            connection.execute(statement)
    assert verify(ledger).whole
    assert rows(ledger) == before
    record(ledger, told(number=9))
    assert verify(ledger).whole
    rebuild(ledger)
    merge(tmp_path / "merged.sqlite3", ledger)
    assert rows(tmp_path / "merged.sqlite3") == rows(ledger)


# --- no ledger, or none of ours ---------------------------------------------------------------------------------------


def sqlite_file(path: Path) -> None:
    with database(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")


def of_another_version(path: Path) -> None:
    record(path, told())
    with database(path) as connection:
        connection.execute("PRAGMA user_version = 99")


def linked_folder(path: Path) -> None:
    real = path.parent.with_name("real")
    record(real / path.name, told())
    path.parent.rmdir()
    path.parent.symlink_to(real)


def link(path: Path) -> None:
    record(path.with_name("real.sqlite3"), told())
    path.symlink_to("real.sqlite3")


PLACES: dict[str, tuple[Callable[[Path], object], str]] = {
    "another program's": (sqlite_file, "{} is not a ledger: it is another program's SQLite file."),
    "a text": (lambda path: path.write_text("mine " * 400), "{} is not a ledger: it is no SQLite file."),
    "of another version": (of_another_version, OTHER_VERSION),
    "a link": (link, "{} is a symbolic link; a ledger is only kept in a real file."),
    "in a linked folder": (linked_folder, "{0.parent} is a symbolic link; a ledger is only kept in a real folder."),
}


@pytest.mark.parametrize("make, says", PLACES.values(), ids=list(PLACES))
def test_what_is_no_ledger_of_ours_is_left_as_it_is(tmp_path: Path, make: Callable[[Path], object], says: str) -> None:
    path = tmp_path / "folder" / "other.sqlite3"
    path.parent.mkdir()
    make(path)
    before = path.read_bytes()
    for use in (open_to_read, open_to_write, verify, rebuild):
        with pytest.raises(LedgerError) as caught:
            use(path)
        assert str(caught.value) == says.format(path)
    (said,) = warnings_of(path, told(number=9))
    assert said == f"{says.format(path)} {NOT_RECORDED}"
    assert path.read_bytes() == before


def test_a_ledger_that_is_not_there_is_not_made_by_asking(tmp_path: Path) -> None:
    for path in (tmp_path / "none.sqlite3", tmp_path):
        with pytest.raises(LedgerError, match=f"There is no ledger {path}."):
            list_runs(path, RunFilter())
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty.sqlite3").touch()
    with pytest.raises(LedgerError, match="is not a ledger: it is empty"):
        list_runs(tmp_path / "empty.sqlite3", RunFilter())


@pytest.mark.parametrize("name", ["missing/ledger.sqlite3", "ledger.sqlite3", "/proc/ledger.sqlite3"])
def test_a_place_that_takes_no_ledger_is_said_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "missing").write_text("a file in the way")
    (tmp_path / "ledger.sqlite3").mkdir()
    (said,) = warnings_of(tmp_path / name, told())
    assert said.startswith(f"The ledger {tmp_path / name} cannot be opened")
    assert said.endswith(NOT_RECORDED)


@pytest.mark.parametrize("name", ["l" * 300, f"{'f' * 300}/ledger.sqlite3"])
def test_a_name_that_no_file_can_have_is_said_once(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    (said,) = warnings_of(path, told())
    assert said == f"The ledger {path} cannot be reached: File name too long. {NOT_RECORDED}"
    for ask in (
        verify,
        rebuild,
        lambda path: list_runs(path, RunFilter()),
        lambda path: finding_places(path, "a/b", 7),
    ):
        with pytest.raises(LedgerError, match="cannot be reached: File name too long"):
            ask(path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_trouble_of_the_ledger_stays_a_bug(tmp_path: Path) -> None:
    """A warning would hide it."""
    first = replace(told().events[0], at=None)  # type: ignore[arg-type]
    with closing(Recorder(tmp_path / "ledger.sqlite3", refuse)) as recorder, pytest.raises(TypeError):
        recorder(first)


def test_whoever_waits_is_told_no_time_that_is_not_measured(tmp_path: Path) -> None:
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
    with pytest.raises(LedgerError) as caught, sentences(tmp_path):
        raise busy
    assert str(caught.value) == f"The ledger {tmp_path} is in use: another process does not let go of it."


def test_a_ledger_that_somebody_keeps_to_himself_is_waited_for(ledger: Path) -> None:
    with database(ledger) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("COMMIT")
        with sqlite3.connect(ledger, timeout=0) as ours, pytest.raises(sqlite3.OperationalError, match="locked"):
            ours.execute("SELECT * FROM runs")
        ours.close()
    assert len(list_runs(ledger, RunFilter())) == 5


# --- full and read-only -----------------------------------------------------------------------------------------------


@pytest.mark.one_in(5)
@pytest.mark.parametrize("room", [0, 8_000, 40_000, 120_000, 200_000])
def test_a_full_disk_stops_the_recording_and_leaves_what_was_recorded(tmp_path: Path, room: int) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    document = told(three_parts_and_an_escalation, 2)
    with no_file_larger_than(room):
        said = warnings_of(ledger, document)
    trouble = "cannot be read or written: the disk is full or does not answer."
    assert said == [f"The ledger {ledger} {trouble} {NOT_RECORDED}"]
    if room:
        record(ledger, told(number=3))
        assert verify(ledger).broken == ()
        events = list(document.events)
        known = {run.run_id for run in list_runs(ledger, RunFilter())}
        assert "run-3" in known
        if "run-2" in known:
            kept, _ = events_of_run(ledger, "run-2")
            assert kept == events[: len(kept)]


def in_a_small_world(folder: Path, mounted: str, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python with something mounted on ``folder``; skips where this machine lets nobody mount."""
    namespace = ["unshare", "--user", "--map-root-user", "--mount"]
    tried = subprocess.run([*namespace, "true"], capture_output=True, check=False) if shutil.which("unshare") else None
    if tried is None or tried.returncode:
        pytest.skip("this machine lets nobody mount")
    script = f'{mounted} && exec "$@"'
    return subprocess.run(
        [*namespace, "sh", "-c", script, str(folder), sys.executable, *map(str, command)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


RECORD = """
import sys
from pathlib import Path
from tests.adapters.ledgers import told
from tests.adapters.ledger.test_troubles import warnings_of
print(warnings_of(Path(sys.argv[1]), told(number=9)))
"""


@pytest.mark.every_case
def test_a_file_system_without_room_is_a_full_disk(tmp_path: Path) -> None:
    done = in_a_small_world(tmp_path, 'mount -t tmpfs -o size=64k none "$0"', "-c", RECORD, tmp_path / "ledger.sqlite3")
    assert done.returncode == 0, done.stderr
    assert "cannot take more: the disk is full" in done.stdout


@pytest.mark.every_case
def test_a_read_only_folder_is_said_and_can_still_be_read(ledger: Path, tmp_path: Path) -> None:
    read_only = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'
    before = exported(ledger)
    done = in_a_small_world(tmp_path, read_only, "-c", RECORD, ledger)
    assert done.returncode == 0, done.stderr
    assert "cannot be written: it is read-only" in done.stdout or "cannot be opened" in done.stdout
    bot = Path(sys.executable).with_name("review-advisor")
    done = in_a_small_world(tmp_path, read_only, bot, "runs", "list", "--ledger", ledger)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 6), done.stderr
    assert exported(ledger) == before


def test_what_goes_wrong_in_mid_review_is_said_once(ledger: Path) -> None:
    """Here the table of titles is gone after the third event."""
    said: list[str] = []
    document = told(an_approval_after_consults, 9)
    with closing(Recorder(ledger, said.append)) as recorder:
        for number, event in enumerate(document.events):
            recorder(event)
            if number == 2:
                with database(ledger) as connection:
                    connection.execute("DROP TABLE events")
        recorder.finish(document)
    assert len(said) == 1
    assert said[0].endswith(NOT_RECORDED)


def test_a_ledger_in_order_has_nothing_to_say(tmp_path: Path) -> None:
    with closing(Recorder(tmp_path / "ledger.sqlite3", refuse)):
        pass
    assert list(tmp_path.iterdir()) == []
