"""The decisions of advisors: the questions that were asked, newest session first, with what was answered."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from review_advisor.adapters.ledger.chain_events import review_in, task_in
from review_advisor.adapters.ledger.chains import read_chain
from review_advisor.adapters.ledger.conditions import bindable
from review_advisor.adapters.ledger.database import open_to_read, sentences
from review_advisor.adapters.ledger.transactions import rows
from review_advisor.core.ledger.advisor_views import review_decisions
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.task.task_events import ConsultHeard, GuidanceHeard, GuidanceUsed

Decision = dict[str, Any]
_SESSIONS = """
    SELECT run_id, EXISTS (SELECT 1 FROM tasks WHERE chain = id) AS is_task,
           EXISTS (SELECT 1 FROM consults WHERE chain = id)
           OR EXISTS (SELECT 1 FROM runs WHERE chain = id AND status = 'escalated') AS may_hold
    FROM chains
    WHERE (? IS NULL OR run_id = ?)
          AND id NOT IN (SELECT chain FROM observations UNION ALL SELECT chain FROM shadows)
    ORDER BY id DESC
"""
"""``may_hold``: a review in which a consult was held, or may have been refused, which calls a person."""


def list_decisions(path: Path, run_id: str | None = None, limit: int = 1_000) -> list[Decision]:
    """The newest decisions, at most ``limit``; with ``run_id`` those of that session. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        named = bindable(run_id)
        found = list(rows(connection, _SESSIONS, (named, named)))
        if run_id is not None and not found:
            raise LedgerError(f"The ledger {path} has no run {run_id!r}.")
        return list(islice(_decisions(connection, found), limit))


def _decisions(connection: sqlite3.Connection, sessions: list[dict[str, Any]]) -> Iterator[Decision]:
    for session in sessions:
        if not (session["is_task"] or session["may_hold"]):
            continue
        run_id = str(session["run_id"])
        told = _of_task(connection, run_id) if session["is_task"] else _of_review(connection, run_id)
        for decision in told:
            yield {"run_id": run_id, **decision}


def _of_review(connection: sqlite3.Connection, run_id: str) -> Iterator[Decision]:
    """A review's consults. One that cannot be read tells nothing."""
    try:
        _, events = review_in(read_chain(connection, run_id))
    except LedgerError:
        return
    yield from review_decisions(events)


def _of_task(connection: sqlite3.Connection, run_id: str) -> Iterator[Decision]:
    """A task's questions. One that cannot be read tells nothing."""
    try:
        events = task_in(read_chain(connection, run_id)) or ()
    except LedgerError:
        return
    given = {each.consult_id: each for each in events if isinstance(each, GuidanceHeard)}
    used = {each.id: each.disposition for each in events if isinstance(each, GuidanceUsed)}
    asked = [each for each in events if isinstance(each, ConsultHeard)]
    for number, each in enumerate(asked):
        heard = given.get(each.id)
        status = "denied" if each.refused else "failed" if heard is None else "answered"
        yield {
            "number": number,
            "status": status,
            "question": each.consult.question,
            "action": heard.guidance.guidance if heard else "",
            "stop_signal": heard is not None and heard.guidance.stop_signal,
            "reason": each.refused,
            "disposition": used.get(heard.id) if heard else None,
        }
