"""A run that an earlier version recorded: its events name no call, and its policy had one field for each role.

``earlier/run.jsonl`` is such a run, as commit fa025c7 exported it: a lost plan, an unusable report that was asked for
again, a consult, a veto, a report that answers it, and an approval.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.adapters.ledgers import database, exported

from review_advisor.ledger.proving import verify
from review_advisor.ledger.telemetry import made_calls
from review_advisor.ledger.transfer import Folded, events_of_run, import_lines
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import outcome_document
from review_advisor.review.soundness import unsound

EARLIER = Path(__file__).with_name("earlier") / "run.jsonl"


def test_it_verifies_and_leaves_the_ledger_as_it_came(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    assert import_lines(ledger, EARLIER) == Folded(added=1, grown=0, present=0)
    assert verify(ledger).broken == ()
    assert [json.loads(line) for line in exported(ledger)] == list(map(json.loads, EARLIER.read_text().splitlines()))


def test_its_calls_are_known_by_what_they_were_about(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    import_lines(ledger, EARLIER)
    events, _ = events_of_run(ledger, "run-1")
    document = outcome_document(events)
    assert document.flags.lost == ("pr_review/pre_flight",), "the unusable report was asked for again, and came"
    made = [(call.ended.role, call.ended.ended, len(call.consults), bool(call.answer)) for call in made_calls(events)]
    assert made == [
        (Role.PRE_FLIGHT, "lost", 0, False),
        (Role.EXECUTOR, "lost", 0, False),
        (Role.EXECUTOR, "answered", 1, True),
        (Role.POST_VERIFY, "answered", 0, True),
        (Role.EXECUTOR, "answered", 0, True),
        (Role.POST_VERIFY, "answered", 0, True),
    ]
    with database(ledger) as connection:
        kept = connection.execute("SELECT DISTINCT call, asks_again, advisor FROM calls").fetchall()
    assert kept == [(0, 0, "")]


def test_nobody_knows_its_turns(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    import_lines(ledger, EARLIER)
    with database(ledger) as connection:
        assert connection.execute("SELECT DISTINCT turns FROM calls").fetchall() == [(0,)]
        assert connection.execute("SELECT executor_turns, executor_calls FROM runs").fetchall() == [(0, 0)]


def test_its_calls_tell_what_they_read_from_the_cache(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    import_lines(ledger, EARLIER)
    told = "SELECT sum(input_tokens + cache_read_tokens + cache_write_tokens), sum(cache_read_tokens) FROM calls"
    with database(ledger) as connection:
        every = connection.execute(told).fetchall()
        assert connection.execute("SELECT prompt_tokens, cached_tokens FROM runs").fetchall() == every


def test_it_is_not_published(tmp_path: Path) -> None:
    """There a judge who was lost could hide behind one who answered."""
    ledger = tmp_path / "ledger.sqlite3"
    import_lines(ledger, EARLIER)
    events, _ = events_of_run(ledger, "run-1")
    assert unsound(events) == "a call has no number"
