"""Tokens read from the cache of prompts are cheap and tokens written to it dear: no reader adds them up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.ledgers import record

from review_advisor.github.sections import cost
from review_advisor.ledger.kpis import kpis
from review_advisor.ledger.page_entries import call_json, cost_json
from review_advisor.ledger.queries import Period, run_text
from review_advisor.ledger.run_queries import show_run
from review_advisor.ledger.sums import add_up
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import CallEnded, Event
from review_advisor.review.report import report_text
from review_advisor.review.session_rows import session_rows
from review_advisor.safety.stop import Usage

USED = Usage(input_tokens=11_000, output_tokens=700, cache_read_tokens=52_000, cache_write_tokens=23_000, cost_usd=0.5)


def _cached(event: Event) -> Event:
    if isinstance(event, CallEnded) and event.role is Role.EXECUTOR:
        return replace(event, usage=USED, own=USED)
    return event


@pytest.fixture
def document(world: MockWorld) -> OutcomeDocument:
    """A review whose executor read from the cache and wrote to it."""
    return outcome_document([_cached(event) for event in world.review().events])


def test_every_reader_tells_read_and_written_tokens_apart(document: OutcomeDocument, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    record(ledger, document)
    (call,) = (event for event in document.events if isinstance(event, CallEnded) and event.role is Role.EXECUTOR)
    (used,) = (each for each in document.cost if each.role is Role.EXECUTOR)
    (told,) = (each for each in session_rows(document) if each["role"] == "executor")
    readers = {
        "report": report_text(document),
        "GitHub's summary": cost(document).text,
        "runs show": run_text(show_run(ledger, document.run_id)),
        "the rows of the ledger": json.dumps(show_run(ledger, document.run_id).tables["calls"]),
        "the call on its page": json.dumps(call_json(call)),
        "the table of costs": json.dumps(cost_json(used)),
        "the session": json.dumps(told),
    }
    for reader, text in readers.items():
        plain = text.replace(",", "")
        assert ["52000" in plain, "23000" in plain, "75000" in plain] == [True, True, False], reader


def cached_share(ledger: Path) -> float | None:
    (found,) = (kpi for kpi in kpis(add_up(ledger, Period()).sums) if kpi.name == "cached_share")
    return found.value


def test_a_kpi_tells_the_part_of_the_input_that_the_cache_had(document: OutcomeDocument, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    record(ledger, document)
    assert cached_share(ledger) == 52_000 / 86_000


def test_what_an_earlier_run_read_is_that_runs(document: OutcomeDocument, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    kept = [replace(event, kept=True) if isinstance(event, CallEnded) else event for event in document.events]
    record(ledger, outcome_document(kept))
    assert cached_share(ledger) is None
