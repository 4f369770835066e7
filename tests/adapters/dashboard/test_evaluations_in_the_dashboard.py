"""The dashboard has a page of evaluations, with a ledger and without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledgers import five, record


def evaluated(terminal: Terminal) -> None:
    assert terminal.run("eval", "run", "--groups", "10", "--arms", "executor-only,paired").code == 0


def written(terminal: Terminal) -> WrittenDashboard:
    done = terminal.run("ui", "--out", "site")
    assert done.code == 0, done.err
    return WrittenDashboard(terminal.folder / "site")


@pytest.mark.every_case
def test_an_evaluation_has_a_page_where_nothing_was_reviewed_yet(terminal: Terminal) -> None:
    evaluated(terminal)
    site = written(terminal)

    (told,) = site.overview["evaluations"]
    assert told["answers"] == "simulated, known truth. No model answered: this is a test of the scoring."
    assert (told["cases"], told["groups"], told["rows"][0]) == (30, 10, ["", "executor-only", "paired"])
    assert {gate["answer"] for gate in told["gates"]} <= {"not applicable", "undecided", "pass", "fail"}
    assert site.overview["runs"] == 0
    assert not (terminal.folder / "review_logs" / "ledger").exists()


@pytest.mark.every_case
def test_reviews_stand_beside_evaluations(terminal: Terminal) -> None:
    record(terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3", *five())
    assert written(terminal).overview["evaluations"] == []

    evaluated(terminal)

    site = written(terminal)
    assert (site.overview["runs"], len(site.overview["evaluations"])) == (5, 1)


def test_a_folder_that_is_no_evaluation_is_left_out(terminal: Terminal) -> None:
    evaluated(terminal)
    broken = terminal.folder / "review_logs" / "evaluations" / "eval_broken"
    broken.mkdir()
    Path(broken, "results.jsonl").write_text("{}\n", encoding="utf-8")

    assert len(written(terminal).overview["evaluations"]) == 1
