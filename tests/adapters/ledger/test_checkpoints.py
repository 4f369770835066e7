"""Verifying a ledger from a checkpoint on: little is read, and nothing passes for verified that was not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import exported, five, meddle, record, retold, told

from review_advisor.ledger.chain import Checkpoint
from review_advisor.ledger.proving import Checkpoints, checkpoints_of, verify
from review_advisor.ledger.recorder import keep
from review_advisor.ledger.transfer import import_lines, merge
from review_advisor.review.observed import Observed, ObservedLabel

_FACTS: tuple[Literal["judged", "reverted"], ...] = ("judged", "reverted")
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
OTHER_TEXT = (
    "UPDATE events SET event = '{}' WHERE position = 3 AND chain IN (SELECT id FROM chains WHERE run_id = '%s')"
)


def marked(ledger: Path, at: datetime = NOW) -> Checkpoint:
    reached = verify(ledger, at=at).reached
    assert reached is not None
    return reached


@pytest.mark.every_case
def test_only_what_came_after_the_checkpoint_is_read(ledger: Path) -> None:
    reached = marked(ledger)
    record(ledger, told(number=6))
    proof = verify(ledger, reached, spot_checks=0)
    everything = verify(ledger)
    assert (proof.whole, proof.runs, proof.events) == (True, 6, everything.events)
    assert (proof.earlier, proof.spot_checks, proof.differs) == (reached, 0, None)
    meddle(ledger, OTHER_TEXT % "run-2")
    assert verify(ledger, reached, spot_checks=0).whole, "it is not read, and it is not said to have been"
    assert [each.run_id for each in verify(ledger).broken] == ["run-2"]


@pytest.mark.parametrize("statement", [OTHER_TEXT % "run-6", "UPDATE runs SET status = 'approved', cost_usd = 9.0"])
def test_a_later_run_that_is_not_what_was_recorded_is_found(ledger: Path, statement: str) -> None:
    reached = marked(ledger)
    record(ledger, told(number=6))
    meddle(ledger, statement)
    assert [each.run_id for each in verify(ledger, reached, spot_checks=0).broken] == ["run-6"]


def test_runs_chosen_at_random_are_read_again_and_in_a_small_ledger_all(ledger: Path) -> None:
    reached = marked(ledger)
    meddle(ledger, *(OTHER_TEXT % f"run-{number}" for number in range(1, 6)))
    assert [verify(ledger, reached, spot_checks=count).spot_checks for count in (0, 2, 4)] == [0, 2, 4]
    assert [len(verify(ledger, reached, spot_checks=count).broken) for count in (0, 2, 4)] == [0, 2, 4]
    small = verify(ledger, reached)
    assert (len(small.broken), small.earlier) == (5, None)


TAMPERED = {
    "an earlier run that has grown": "UPDATE chains SET events = events + 1 WHERE run_id = 'run-3'",
    "another last hash": f"UPDATE chains SET last_hash = '{'0' * 64}' WHERE run_id = 'run-3'",
    "another name": "UPDATE chains SET run_id = 'run-9' WHERE run_id = 'run-3'",
    "another moment": "UPDATE chains SET id = id + 1 WHERE run_id = 'run-3'",
    "a length that is no number": "UPDATE chains SET events = 'many' WHERE run_id = 'run-3'",
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("statement", TAMPERED.values(), ids=list(TAMPERED))
def test_everything_is_read_where_the_checkpoint_does_not_fit(ledger: Path, statement: str) -> None:
    reached = marked(ledger)
    meddle(ledger, "PRAGMA foreign_keys = OFF", statement)
    proof = verify(ledger, reached, spot_checks=0)
    assert (proof.earlier, proof.differs, proof.whole) == (None, reached, False)
    assert proof.broken == verify(ledger).broken


FORGED: dict[str, Callable[[Checkpoint], Checkpoint]] = {
    "more runs": lambda reached: replace(reached, runs=reached.runs + 1),
    "more events": lambda reached: replace(reached, events=reached.events + 1),
    "further": lambda reached: replace(reached, through=reached.through + 10**11),
    "another digest": lambda reached: replace(reached, digest="0" * 64),
    "by another version": lambda reached: replace(reached, reader="0.0.9 8"),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("forged", FORGED.values(), ids=list(FORGED))
def test_a_checkpoint_that_says_anything_else_counts_for_nothing(
    ledger: Path, forged: Callable[[Checkpoint], Checkpoint]
) -> None:
    reached = forged(marked(ledger))
    record(ledger, told(number=6))
    meddle(ledger, OTHER_TEXT % "run-2", OTHER_TEXT % "run-6")
    proof = verify(ledger, reached, spot_checks=0)
    assert ([each.run_id for each in proof.broken], proof.differs) == (["run-2", "run-6"], reached)


@pytest.mark.parametrize("named", ["more events", "another digest", "by another version"])
def test_an_upgrade_is_told_apart_from_a_ledger_that_has_changed(ledger: Path, named: str) -> None:
    reached = FORGED[named](marked(ledger))
    proof = verify(ledger, reached, spot_checks=0)
    assert (proof.whole, proof.differs, proof.other_version) == (True, reached, named == "by another version")
    meddle(ledger, TAMPERED["another last hash"])
    assert not verify(ledger, reached, spot_checks=0).other_version, "the ledger differs as well"


def test_what_a_later_observation_says_of_earlier_runs_is_looked_at(ledger: Path) -> None:
    reached = marked(ledger)
    labels = tuple(ObservedLabel("", name, name, "git") for name in _FACTS)
    about: dict[str, Any] = {"repository": "acme/shop", "pull_request": 7, "head_sha": told().head_sha}
    keep(ledger, Observed(at=NOW, run_id="observed-1", labels=labels, **about))
    assert verify(ledger, reached, spot_checks=0).stray == ()
    meddle(ledger, "UPDATE fates SET reverted = 1 - reverted")
    (stray,) = verify(ledger, reached, spot_checks=0).stray
    assert stray.startswith("what fates says is not what observations and reviews come to: ")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("begun_before", [0, 1, 2], ids=["both after it", "on either side", "both before it"])
def test_runs_that_began_at_one_moment_are_whole_on_either_side_of_a_checkpoint(
    tmp_path: Path, begun_before: int
) -> None:
    ledger, twins = tmp_path / "ledger.sqlite3", [told(number=2), retold(told(number=2), run_id="run-2-too")]
    record(ledger, told(number=1), *twins[:begun_before])
    reached = marked(ledger)
    record(ledger, *twins[begun_before:], told(number=3))
    for spot_checks in (0, 1, 2, 1_000):
        proof = verify(ledger, reached, spot_checks=spot_checks)
        assert (proof.whole, proof.runs) == (True, 4), proof.broken


def test_earlier_runs_that_are_merged_in_or_imported_are_read_with_all_others(ledger: Path, tmp_path: Path) -> None:
    whole, lines = tmp_path / "whole.sqlite3", tmp_path / "runs.jsonl"
    record(whole, *five()[2:])
    reached = marked(whole)
    merge(whole, ledger)
    proof = verify(whole, reached, spot_checks=0)
    assert (proof.whole, proof.differs, proof.runs) == (True, reached, 5)
    lines.write_text("".join(exported(ledger)))
    again = tmp_path / "again.sqlite3"
    record(again, *five()[2:])
    reached = marked(again)
    import_lines(again, lines)
    assert verify(again, reached, spot_checks=0).differs == reached


def test_a_run_that_was_taken_out_with_all_its_rows_is_missed_once_it_was_verified(ledger: Path, whole: Path) -> None:
    reached = marked(ledger)
    ledger.unlink()
    record(ledger, *five()[:4])
    assert verify(ledger).whole, "without a checkpoint nobody can tell"
    proof = verify(ledger, reached)
    assert (proof.whole, proof.differs) == (False, reached)
    assert proof.stray == ("at least 1 run of those verified on 2026-11-22 not there any more",)


def test_a_checkpoint_covers_no_run_that_may_still_grow(ledger: Path) -> None:
    record(ledger, told(number=6), until=3)
    record(ledger, told(number=7))
    began = told(number=6).events[0].at
    assert marked(ledger, began + timedelta(hours=23)).runs == 5
    assert marked(ledger, began + timedelta(hours=25)).runs == 7, "a run that was killed holds nothing up"


def test_a_checkpoint_after_another_forgets_nothing(ledger: Path) -> None:
    reached = marked(ledger)
    record(ledger, told(number=6))
    assert verify(ledger, reached, NOW, spot_checks=0).reached == marked(ledger)
    record(ledger, told(number=7), until=3)
    later = marked(ledger)
    set_back = datetime(2026, 1, 5, 20, 0, tzinfo=UTC)
    assert verify(ledger, later, set_back, spot_checks=0).reached == marked(ledger, set_back)


def test_a_ledger_that_is_not_whole_gets_no_checkpoint(ledger: Path) -> None:
    meddle(ledger, OTHER_TEXT % "run-5")
    assert verify(ledger, at=NOW).reached is None


def test_a_row_of_no_run_is_found_behind_the_checkpoint(ledger: Path) -> None:
    reached = marked(ledger)
    meddle(ledger, "PRAGMA foreign_keys = OFF", f"INSERT INTO titles VALUES ({reached.through + 1}, 'of no run')")
    assert verify(ledger, reached, spot_checks=0).stray == ("1 row of titles naming chains that are not there",)


# --- where it is kept -------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_of_one_ledger_and_one_user(tmp_path: Path, ledger: Path) -> None:
    kept = checkpoints_of({"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": "/nowhere"})
    reached = marked(ledger)
    kept.keep(ledger, reached)
    assert kept.of(ledger) == reached
    assert kept.of(tmp_path / "other.sqlite3") is None
    assert checkpoints_of({"HOME": str(tmp_path)}).of(ledger) is None
    assert not [path for path in tmp_path.iterdir() if path.name not in ("state", "ledger.sqlite3")]


@pytest.mark.parametrize("opened", ["folder", "file", "link", "nonsense", "number"])
def test_a_checkpoint_that_others_may_have_written_counts_for_nothing(
    tmp_path: Path, ledger: Path, opened: str
) -> None:
    folder = tmp_path / "state" / "review-advisor"
    kept, reached = Checkpoints(folder), marked(ledger)
    kept.keep(ledger, reached)
    (file,) = folder.iterdir()
    match opened:
        case "folder":
            folder.chmod(0o770)
        case "file":
            file.chmod(0o660)
        case "link":
            file.rename(tmp_path / "elsewhere")
            file.symlink_to(tmp_path / "elsewhere")
        case "nonsense":
            file.write_bytes(b"verified")
        case _:
            file.write_text(file.read_text().replace(str(reached.through), "9" * 30))
    assert kept.of(ledger) is None


def test_a_folder_of_somebody_elses_takes_no_checkpoint(tmp_path: Path, ledger: Path) -> None:
    folder = tmp_path / "review-advisor"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    with pytest.raises(PermissionError):
        Checkpoints(folder).keep(ledger, marked(ledger))


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_begins_where_the_last_one_ended(terminal: Terminal) -> None:
    ledger = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(ledger, *five())
    count = len(exported(ledger))
    assert terminal.run("ledger", "verify").out.startswith(f"5 runs, {count} events: all is as it was recorded\n")
    ledger.unlink()
    record(ledger, *five()[:3])
    gone = terminal.run("ledger", "verify")
    assert gone.code == 3
    assert gone.out.startswith("BROKEN at least 2 runs of those verified on ")
    assert "has changed, as by a merge: all runs were read.\n" in gone.out
    assert terminal.run("ledger", "verify").code == 3
    assert terminal.run("ledger", "verify", "--full").code == 0
    assert terminal.run("ledger", "verify").code == 0


def test_the_command_says_that_another_version_verified_the_ledger(terminal: Terminal) -> None:
    ledger = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(ledger, *five())
    checkpoints_of(terminal.environment()).keep(ledger, replace(marked(ledger), reader="0.0.9 8"))
    said = terminal.run("ledger", "verify")
    assert said.code == 0
    assert "What you verified on 2026-11-22 was verified by another version: all runs were read.\n" in said.out


def test_a_checkpoint_that_cannot_be_kept_is_told_and_changes_no_verdict(terminal: Terminal) -> None:
    ledger = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(ledger, told())
    file = terminal.folder / "file"
    file.write_text("no folder")
    done = terminal.run("ledger", "verify", env={"XDG_STATE_HOME": str(file)})
    assert done.code == 0
    assert "The next verification reads the whole ledger again: " in done.err
