"""Clocks that are wrong: ahead, set back, or dead. A run that we recorded is never called broken for its moments."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.adapters.ledgers import exported, five, record, rows

from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.run_queries import list_runs
from review_advisor.ledger.transfer import import_lines, merge, rebuild
from review_advisor.review.document import OutcomeDocument, outcome_document

DOCUMENTS = five()
NOW = datetime.now(UTC)
EVERY_MOMENT = st.timedeltas(datetime.min.replace(tzinfo=UTC) - NOW, datetime.max.replace(tzinfo=UTC) - NOW).map(
    NOW.__add__
)
"""Any moment that a clock can show."""


def by_the_clock(document: OutcomeDocument, *moments: datetime) -> OutcomeDocument:
    """The same review, its events at these moments; the last one goes on for the rest."""
    at = [*moments, *[moments[-1]] * len(document.events)]
    return outcome_document([replace(event, at=moment) for event, moment in zip(document.events, at, strict=False)])


def assert_whole_everywhere(path: Path, *documents: OutcomeDocument) -> None:
    """The ledger proves its runs, lists them, and another ledger takes them by every way there is."""
    assert verify(path).broken == ()
    assert {run.run_id for run in list_runs(path, RunFilter())} == {each.run_id for each in documents}
    lines = path.with_suffix(".jsonl")
    lines.write_text("".join(exported(path)))
    for name, taken in (("merged", merge), ("imported", import_lines)):
        other = path.with_name(f"{name}.sqlite3")
        assert taken(other, path if taken is merge else lines).added == len(documents)
        assert rows(other) == rows(path)
    before = rows(path)
    assert rebuild(path).left_out == ()
    assert rows(path) == before


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "moments",
    [
        [NOW + timedelta(days=3)],
        [datetime(1969, 12, 31, tzinfo=UTC)],
        [datetime(1, 1, 1, tzinfo=UTC)],
        [datetime(9999, 12, 31, 23, 59, tzinfo=UTC)],
        [NOW, NOW - timedelta(days=3)],
        [NOW, NOW + timedelta(days=3), NOW],
        [datetime(1969, 12, 31, tzinfo=UTC), NOW],
        [NOW, datetime(1969, 12, 31, tzinfo=UTC)],
    ],
    ids=[
        "three days ahead",
        "1969",
        "the first day",
        "the last day",
        "back",
        "ahead and back",
        "dead, then set",
        "dies",
    ],
)
def test_a_clock_that_is_wrong_leaves_a_run_that_every_ledger_takes(tmp_path: Path, moments: list[datetime]) -> None:
    told = by_the_clock(DOCUMENTS[0], *moments)
    path = tmp_path / "ledger.sqlite3"
    record(path, told)
    assert_whole_everywhere(path, told)


@pytest.mark.every_case
@given(st.lists(st.lists(EVERY_MOMENT, min_size=1, max_size=40), min_size=1, max_size=3), st.booleans())
@settings(max_examples=25, deadline=None)
def test_whatever_a_clock_shows_at_each_event_the_ledger_is_whole(clocks: list[list[datetime]], killed: bool) -> None:
    documents = [by_the_clock(each, *moments) for each, moments in zip(DOCUMENTS, clocks, strict=False)]
    with TemporaryDirectory() as folder:
        path = Path(folder, "ledger.sqlite3")
        record(path, *documents, until=3 if killed else None)
        assert_whole_everywhere(path, *documents)
