"""What the commands read off the clock: how long ago, the last thirty days, until now, the moment of a run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from freezegun import freeze_time
from tests.adapters.ledgers import events_as_json, five, forge, record

from review_advisor.app.main import group
from review_advisor.app.options import moment
from review_advisor.app.review import new_run_id
from review_advisor.ledger.transfer import import_lines


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """The five stories: one an hour from 10:00 on, on 5 January 2026."""
    for module in ("runs", "rollup"):  # while the clock is frozen no model that holds a date can be made
        import_module(f"review_advisor.app.{module}")
    path = tmp_path / "ledger.sqlite3"
    record(path, *five())
    return path


def said(now: str, *words: str | Path) -> str:
    """What a command prints at a moment."""
    with freeze_time(now):
        done = CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False)
    return done.stdout


def runs(now: str, ledger: Path, *words: str) -> int:
    """How many runs ``rollup`` counts at a moment."""
    told: dict[str, Any] = json.loads(said(now, "rollup", "--json", "--ledger", ledger, *words))
    count: int = told["sums"]["runs"]
    return count


@pytest.mark.parametrize(
    "text, then",
    [
        ("0h", datetime(2028, 3, 1, 0, 30, tzinfo=UTC)),
        ("1h", datetime(2028, 2, 29, 23, 30, tzinfo=UTC)),
        ("24h", datetime(2028, 2, 29, 0, 30, tzinfo=UTC)),
        ("7d", datetime(2028, 2, 23, 0, 30, tzinfo=UTC)),
        ("2w", datetime(2028, 2, 16, 0, 30, tzinfo=UTC)),
        ("366d", datetime(2027, 3, 1, 0, 30, tzinfo=UTC)),
    ],
)
def test_how_long_ago_is_counted_from_now(text: str, then: datetime) -> None:
    with freeze_time("2028-03-01T00:30"):
        assert moment(text) == then


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "now, count",
    [
        ("2026-01-05T09:59", 0),
        ("2026-01-05T12:30", 3),
        ("2026-01-05T14:30", 5),
        ("2026-02-04T10:00", 5),
        ("2026-02-04T10:00:01", 4),
        ("2026-02-04T14:00:01", 0),
    ],
)
def test_a_rollup_is_of_the_last_thirty_days_until_now(ledger: Path, now: str, count: int) -> None:
    assert runs(now, ledger) == count


@pytest.mark.every_case
def test_a_run_of_tomorrow_is_counted_tomorrow(ledger: Path) -> None:
    """A clock may go ahead, and a date may be forged."""
    first, *events = events_as_json(ledger, "run-1")
    ahead = [{**event, "at": "2026-01-06T20:00:00+00:00"} for event in ({**first, "run_id": "ahead"}, *events)]
    import_lines(ledger, forge(ledger.with_name("ahead.jsonl"), "ahead", ahead))
    assert runs("2026-01-06T00:00", ledger) == 5
    assert runs("2026-01-06T00:00", ledger, "--until", "2026-01-07") == 6
    assert runs("2026-01-07T00:00", ledger) == 6


@pytest.mark.one_in(4)
@pytest.mark.parametrize("now, listed", [("2026-01-06T11:00", 4), ("2026-01-06T11:00:01", 3), ("2026-01-06T15:00", 0)])
def test_the_runs_of_the_last_day_are_listed(ledger: Path, now: str, listed: int) -> None:
    told = json.loads(said(now, "runs", "list", "--since", "24h", "--ledger", ledger, "--json"))
    assert len(told) == listed


def test_an_alert_looks_at_the_time_before_now(ledger: Path) -> None:
    """The five stories end worse than the alerts allow. A month later there is nothing of the last week to judge."""
    then, later = (
        json.loads(said(now, "alerts", "--json", "--ledger", ledger)) for now in ("2026-01-05T15:00", "2026-02-05")
    )
    assert {alarm["cases"] for alarm in later} == {0}
    assert any(alarm["cases"] for alarm in then)


def test_a_run_is_named_by_the_moment_it_began() -> None:
    with freeze_time("2026-01-05T09:08:07"):
        assert new_run_id().startswith("run_20260105T090807Z_")
