"""A run that is under way, or was killed, shows what it did: as far as its events tell, and not less."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.adapters.ledgers import Story, exported, record, refuse, rows, told
from tests.scenarios.five_stories import STORIES, an_approval_after_consults

from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import Between, Period, RunFilter
from review_advisor.ledger.recorder import Recorder
from review_advisor.ledger.run_queries import list_runs, show_run
from review_advisor.ledger.sums import add_up
from review_advisor.ledger.transfer import events_of_run, import_lines, merge, rebuild
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import CallEnded, Consulted


def without_its_end(document: OutcomeDocument) -> int:
    return len(document.events) - 1


def test_a_killed_run_is_found_by_what_it_did(tmp_path: Path) -> None:
    ledger, document = tmp_path / "ledger.sqlite3", told(an_approval_after_consults)
    record(ledger, document, until=without_its_end(document))
    for wanted in (
        *(RunFilter(role="executor"), RunFilter(role="mid_flight"), RunFilter(model="sonnet"), RunFilter(error="any")),
        *(RunFilter(consults=Between(3, 3)), RunFilter(cost_usd=Between(0.22, 0.23))),
    ):
        assert [run.status for run in list_runs(ledger, wanted)] == ["unfinished"], wanted
    for wanted in (RunFilter(consults=Between(0, 0)), RunFilter(error="none")):
        assert list_runs(ledger, wanted) == []
    shown = show_run(ledger, "run-1")
    added = add_up(ledger, Period())
    assert shown.line.cost_usd == pytest.approx(added.reported_usd) == pytest.approx(0.22)
    assert (added.sums.runs, added.sums.unfinished, added.sums.judged) == (1, 1, 0)
    calls = [event for event in document.events if isinstance(event, CallEnded)]
    assert [row["role"] for row in shown.tables["calls"]] == [call.role.value for call in calls]
    assert len(shown.tables["consults"]) == sum(isinstance(event, Consulted) for event in document.events)
    assert (shown.line.wall_ms, shown.tables["findings"]) == (None, ())


@pytest.mark.one_in(6)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_while_it_runs_its_rows_are_what_its_events_say(story: Story, tmp_path: Path) -> None:
    """After every event: the same as if they were read anew from all of them."""
    ledger, document = tmp_path / "ledger.sqlite3", told(story)
    with closing(Recorder(ledger, refuse)) as recorder:
        for event in document.events[:-1]:
            recorder(event)
            assert verify(ledger).whole, event.kind
        before = rows(ledger)
        rebuild(ledger)
        assert rows(ledger) == before
        recorder.finish(document)
    other = tmp_path / "other.sqlite3"
    record(other, document)
    assert rows(ledger) == rows(other)


def test_a_clock_that_is_set_back_leaves_a_run_that_every_ledger_takes(tmp_path: Path) -> None:
    """After the first call an hour is taken back, and with it every later moment is before the beginning."""
    ledger, merged, document = (
        tmp_path / "ledger.sqlite3",
        tmp_path / "merged.sqlite3",
        told(an_approval_after_consults),
    )
    first, *later = document.events
    back = outcome_document([first, *(replace(event, at=event.at - timedelta(hours=1)) for event in later)])
    record(ledger, back, until=without_its_end(document))
    assert verify(ledger).whole, "as if it was killed"
    record(tmp_path / "whole.sqlite3", back)
    for path in (ledger, tmp_path / "whole.sqlite3"):
        assert verify(path).whole
        merge(merged, path)
    (run,) = list_runs(merged, RunFilter())
    assert (run.status, run.wall_ms) == ("approved", 0)
    events, _ = events_of_run(merged, "run-1")
    assert [replace(event, at=first.at) for event in later] == events[1:], "nothing else is told otherwise"


def test_it_shows_the_same_in_a_ledger_that_took_it_in(tmp_path: Path) -> None:
    ledger, document = tmp_path / "ledger.sqlite3", told(an_approval_after_consults)
    record(ledger, document, until=without_its_end(document))
    merged, imported, lines = (tmp_path / name for name in ("merged.sqlite3", "imported.sqlite3", "runs.jsonl"))
    merge(merged, ledger)
    lines.write_text("".join(exported(ledger)))
    import_lines(imported, lines)
    assert rows(merged) == rows(imported) == rows(ledger)


def test_a_run_that_grew_elsewhere_shows_what_it_did_since(tmp_path: Path) -> None:
    early, late, document = tmp_path / "early.sqlite3", tmp_path / "late.sqlite3", told(an_approval_after_consults)
    record(early, document, until=4)
    record(late, document, until=without_its_end(document))
    merge(early, late)
    assert rows(early) == rows(late)
