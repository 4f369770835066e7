"""Reads runs, tasks and decisions from the ledger."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, get_type_hints

from review_advisor.ledger.chain import Chain, LedgerError
from review_advisor.ledger.chains import document_in, observation_in, read_chain, review_in, task_in
from review_advisor.ledger.database import (
    PAID_ELSEWHERE,
    all_of,
    bindable,
    line_of,
    of_repository,
    open_to_read,
    rows,
    sentences,
    where_within,
    within,
)
from review_advisor.ledger.queries import (
    ANY_ERROR,
    NO_ERROR,
    Between,
    Period,
    RunFilter,
    RunLine,
    RunRecord,
    TaskFilter,
    TaskLine,
    letters,
    review_decisions,
)
from review_advisor.ledger.recorder import known
from review_advisor.ledger.rows import LATEST, Participant, microseconds, moment_of
from review_advisor.ledger.task_events import ConsultHeard, GuidanceHeard, GuidanceUsed, TaskEvent
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import Event
from review_advisor.review.observed import Observed, ObservedLabel
from review_advisor.review.report import advice_lines

_CASTING = "(SELECT casting FROM casting_parts WHERE {})"


_AN_ERROR = "error <> ''"


_LINES = """
    SELECT chains.run_id, runs.chain AS started_at, status, repositories.name AS repository, pull_request, label, title,
           head_sha, cost_usd,
           (SELECT count(DISTINCT number) FROM unreported WHERE unreported.chain = found.chain) AS unpriced,
           consults, findings, vetoes, degraded, disabled, recovered, exhausted, wall_ms, executor_ms, executor_tokens,
           advisor_tokens
    FROM ({}) AS found
    JOIN runs ON runs.chain = found.chain
    JOIN chains ON chains.id = found.chain
    JOIN titles ON titles.chain = found.chain
    JOIN changes ON changes.chain = found.chain
    LEFT JOIN repositories ON repositories.id = runs.repository
    ORDER BY found.chain DESC
"""


_RUN_HINTS = get_type_hints(RunLine)


_TASK_HINTS = get_type_hints(TaskLine)


_TABLES = {
    "calls": "number",
    "findings": "finding",
    "consults": "number",
    "votes": "number",
    "dispositions": "number",
    "questions": "number",
}
"""The tables of a run, and what each is in the order of."""


_TELL_OF_ADVICE = ('"kind":"recommended"', '"kind":"disposed"')


def list_runs(path: Path, wanted: RunFilter) -> list[RunLine]:
    """The newest runs that are all of this, at most ``wanted.limit``. Raises ``LedgerError``."""
    statement, values = chosen(wanted)
    with sentences(path), closing(open_to_read(path)) as connection:
        return [line_of(RunLine, _RUN_HINTS, path, row) for row in rows(connection, _LINES.format(statement), values)]


def chosen(wanted: RunFilter) -> tuple[str, tuple[Any, ...]]:
    """The statement that names the runs of a list, the newest first, and the values for its marks."""
    where, values = _of_runs(wanted)
    # CROSS JOIN keeps SQLite from reading every title first.
    place = "runs" if wanted.text is None else "runs CROSS JOIN titles USING (chain)"
    statement = f"SELECT chain FROM {place} WHERE {where} ORDER BY chain DESC LIMIT ?"  # noqa: S608 (our own names)
    return statement, (*values, wanted.limit)


def show_run(path: Path, named: str) -> RunRecord:
    """Everything about the run whose id is, or begins with, ``named``. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        run_id = find_run(connection, path, named)
        one = _LINES.format("SELECT id AS chain FROM chains WHERE run_id = ?")
        kept = read_chain(connection, run_id)
        broken = "" if kept.broken is None else kept.broken.says
        row = next(rows(connection, one, (run_id,)), None)
        if row is None:
            raise LedgerError(f"The run {run_id} has no rows: {broken or 'this version could not read it'}.")
        chain = row["started_at"]
        tables = {
            table: tuple(
                {name: value for name, value in each.items() if name != "chain"}
                for each in rows(
                    connection,
                    f"SELECT * FROM {table} WHERE chain = ? ORDER BY {order}",  # noqa: S608 (our own names)
                    (chain,),
                )
            )
            for table, order in _TABLES.items()
        }
        events = tuple(_event(link.event) for link in kept.links)
        return RunRecord(line_of(RunLine, _RUN_HINTS, path, row), tables, events, broken, _advice(kept))


def _advice(kept: Chain) -> tuple[str, ...]:
    """What became of the advice of a review, as its report has it and as far as this version can tell."""
    if not any(mark in link.event for link in kept.links for mark in _TELL_OF_ADVICE):
        return ()
    try:
        return advice_lines(review_in(replace(kept, broken=None))[1])
    except LedgerError as problem:
        return (f"What became of the advice cannot be told: {problem}",)


def list_tasks(path: Path, wanted: TaskFilter) -> list[TaskLine]:
    """The newest tasks that are all of this, at most ``wanted.limit``. Raises ``LedgerError``."""
    where, values = _of_tasks(wanted)
    question = (
        "SELECT run_id, chain AS started_at, tasks.* FROM tasks JOIN chains ON chains.id = chain"  # noqa: S608 (own)
        f" WHERE {where} ORDER BY chain DESC LIMIT ?"
    )
    with sentences(path), closing(open_to_read(path)) as connection:
        found = rows(connection, question, (*values, wanted.limit))
        return [line_of(TaskLine, _TASK_HINTS, path, row) for row in found]


def count_tasks(path: Path, wanted: TaskFilter) -> int:
    """How many tasks are all of this, whatever its limit. Raises ``LedgerError``."""
    where, values = _of_tasks(wanted)
    question = f"SELECT count(*) FROM tasks WHERE {where}"  # noqa: S608 (our own names)
    with sentences(path), closing(open_to_read(path)) as connection:
        return int(connection.execute(question, values).fetchone()[0])


def read_tasks(path: Path, run_ids: Iterable[str]) -> Iterator[tuple[TaskEvent, ...] | str]:
    """The events of each of these tasks, or one sentence on why they cannot be told. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        for run_id in run_ids:
            try:
                yield task_in(read_chain(connection, run_id)) or f"The events of {run_id} are those of no task."
            except LedgerError as trouble:
                yield str(trouble)


def knows_repository(path: Path, name: str) -> bool:
    """Whether the ledger has a run of this repository. Raises ``LedgerError``."""
    statement = f"SELECT EXISTS (SELECT 1 FROM runs WHERE {of_repository()})"  # noqa: S608 (our own names)
    with sentences(path), closing(open_to_read(path)) as connection:
        return bool(connection.execute(statement, (bindable(name),)).fetchone()[0])


def _task_named(connection: sqlite3.Connection, named: str) -> str | None:
    """The id of a task that begins so; None without one, or without a name."""
    found = connection.execute(
        "SELECT run_id FROM chains JOIN tasks ON tasks.chain = chains.id"
        " WHERE ?1 <> '' AND substr(run_id, 1, length(?1)) = ?1 LIMIT 1",
        (bindable(named),),
    ).fetchone()
    return None if found is None else str(found[0])


def find_run(connection: sqlite3.Connection, path: Path, named: str) -> str:
    """The id of the one run whose id begins so. Raises ``LedgerError`` if there is none, or several."""
    found = connection.execute(
        "SELECT run_id FROM chains WHERE substr(run_id, 1, length(?1)) = ?1"
        " AND id NOT IN (SELECT chain FROM observations UNION ALL SELECT chain FROM tasks)"
        " ORDER BY run_id <> ?1, run_id LIMIT 2",
        (bindable(named),),
    ).fetchall()
    if not found or not named:
        task = _task_named(connection, named)
        if task is not None:
            raise LedgerError(f"{task} is a task: see `review-advisor ui --run {task}`, or the run's own folder.")
        raise LedgerError(f"The ledger {path} has no run {named!r}.")
    if len(found) > 1 and found[0][0] != named:
        raise LedgerError(f"Several runs begin with {named!r}: {found[0][0]}, {found[1][0]} and maybe more.")
    return str(found[0][0])


def _event(text: str) -> dict[str, Any]:
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        event = None
    return event if isinstance(event, dict) else {"unreadable": True}


def _of_runs(wanted: RunFilter) -> tuple[str, list[Any]]:
    """What is asked of runs, as SQL, and the values for its marks."""
    words = _as_kept(wanted.text)
    where, values = all_of(
        {
            "status = ?": wanted.status,
            "pull_request = ?": wanted.pull_request,
            **within(Period(wanted.since, wanted.until, wanted.repository)),
            **_between("cost_usd", wanted.cost_usd),
            **_between("consults", wanted.consults),
            "~letters & ? = 0": None if words is None else letters(words),
            "title LIKE ? ESCAPE '\\'": None if words is None else f"%{_literal(words)}%",
        }
    )
    for condition, its in _casting(wanted):
        where += f" AND {condition}"
        values += map(bindable, its)
    return where, values


def _of_tasks(wanted: TaskFilter) -> tuple[str, list[Any]]:
    """The conditions that choose tasks, as one, and the values for its marks."""
    is_any = wanted.error == ANY_ERROR
    return all_of(
        {
            "status = ?": wanted.status,
            "? IN (executor_backend, advisor_backend)": wanted.backend,
            "error_mode = ?": None if is_any else wanted.error,
            "error_mode <> ?": NO_ERROR if is_any else None,
            **_between("consults", wanted.consults),
            "instr(lower(task), lower(?)) > 0": _as_kept(wanted.text),
            **within(Period(wanted.since, wanted.until)),
        }
    )


def _as_kept(text: str | None) -> str | None:
    """Words as titles and tasks are kept."""
    return None if text is None else bindable(text).replace("\0", "\\x00")


def _between(column: str, asked: Between | None) -> dict[str, float | None]:
    ends = asked or Between()
    return {f"{column} >= ?": ends.low, f"{column} <= ?": ends.high}


def _casting(wanted: RunFilter) -> Iterator[tuple[str, list[str]]]:
    """What is asked of one call, as a set of castings."""
    parts = {"surface": wanted.surface, "role": wanted.role, "model": wanted.model}
    if wanted.error not in (None, ANY_ERROR, NO_ERROR):
        parts["error"] = wanted.error
    asked = {column: value for column, value in parts.items() if value is not None}
    conditions = [f"{column} = ?" for column in asked] + ([_AN_ERROR] if wanted.error == ANY_ERROR else [])
    if conditions:
        yield f"casting IN {_CASTING.format(' AND '.join(conditions))}", list(asked.values())
    if wanted.error == NO_ERROR:
        yield f"casting NOT IN {_CASTING.format(_AN_ERROR)}", []


def _literal(text: str) -> str:
    """``text`` as a pattern that stands for itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


_OBSERVED = """
    SELECT run_id FROM observations JOIN chains ON chains.id = chain
    WHERE pull_request = ? AND repository = ? ORDER BY chain DESC LIMIT 1
"""


_CASTINGS = """
    SELECT run_id, CAST(casting AS INTEGER) FROM json_each(?) JOIN chains ON chains.run_id = value
    JOIN runs ON runs.chain = chains.id
"""


_ELSEWHERE = f"""
    SELECT number FROM kept WHERE chain = (SELECT id FROM chains WHERE run_id = ?) AND {PAID_ELSEWHERE}
"""  # noqa: S608 (our own names)


@dataclass(frozen=True, slots=True)
class Castings:
    """Who took part: ``parts`` by casting, and the casting of each run."""

    parts: dict[int, tuple[Participant, ...]]
    of_run: dict[str, int]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run's events, what they come to once it is over, and what was seen last of its pull request.

    ``closed_head`` is the head with which it was seen to be closed.

    ``paid_elsewhere`` are the numbers of the calls that another run counts. ``unlabelled`` says why nothing can be told
    of what was seen.
    """

    events: tuple[Event, ...]
    document: OutcomeDocument | None
    paid_elsewhere: frozenset[int]
    labels: tuple[ObservedLabel, ...] = ()
    unlabelled: str = ""
    closed_head: str = ""


def read_castings(path: Path, run_ids: Iterable[str]) -> Castings:
    """Who took part in these runs. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        rows = connection.execute(_CASTINGS, (json.dumps(list(run_ids)),))
        of_run = {str(run_id): int(casting) for run_id, casting in rows}
        known = set(of_run.values())
        parts: dict[int, list[Participant]] = {casting: [] for casting in known}
        for casting, *words in connection.execute(
            "SELECT casting, surface, role, model, error FROM casting_parts ORDER BY casting, surface, role, model"
        ):
            if casting in known:
                parts[casting].append(Participant(*map(str, words)))
    return Castings({casting: tuple(its) for casting, its in parts.items()}, of_run)


def first_and_last(path: Path, period: Period) -> tuple[datetime, datetime] | None:
    """When the first and the last run of a period began; None where there is none. Raises ``LedgerError``."""
    where, values = where_within(period)
    asked = "SELECT {}(chain) FROM runs WHERE {}"  # each end by itself is found at once
    with sentences(path), closing(open_to_read(path)) as connection:
        ends = (connection.execute(asked.format(end, where), values).fetchone() for end in ("min", "max"))
        (low,), (high,) = ends
    return None if low is None else (_moment(low), _moment(high))


def count_ends(path: Path, within: Sequence[Period]) -> list[Counter[str]]:
    """How the runs of each period ended: how many of each status. Raises ``LedgerError``."""
    statement = "SELECT status, count(*) FROM runs WHERE {} GROUP BY status"
    with sentences(path), closing(open_to_read(path)) as connection:
        asked = [(statement.format(where), values) for where, values in map(where_within, within)]
        return [Counter(dict(connection.execute(*each).fetchall())) for each in asked]


def read_reviews(path: Path, run_ids: Iterable[str]) -> Iterator[RecordedRun | str]:
    """What is kept of each of these runs, or one sentence on why it cannot be told. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        for run_id in run_ids:
            try:
                yield _kept(connection, run_id)
            except LedgerError as trouble:
                yield str(trouble)


def _kept(connection: sqlite3.Connection, run_id: str) -> RecordedRun:
    chain = read_chain(connection, run_id)
    if chain.broken is not None:
        raise LedgerError(f"The run is not what was recorded: {chain.broken.says}.")
    first, events = review_in(chain)
    kept = RecordedRun(
        tuple(events),
        document_in(chain, events),
        frozenset(number for (number,) in connection.execute(_ELSEWHERE, (run_id,))),
    )
    try:
        observed = _observed(connection, first.repository, first.pull_request)
    except LedgerError as trouble:
        return replace(kept, unlabelled=str(trouble))
    return kept if observed is None else replace(kept, labels=observed.labels, closed_head=observed.head_sha)


def _observed(connection: sqlite3.Connection, repository: str | None, number: int | None) -> Observed | None:
    """What is known of a pull request. Raises ``LedgerError`` where what was seen last cannot be told."""
    found = connection.execute(_OBSERVED, (number, repository)).fetchone()
    if found is None or observation_in(read_chain(connection, found[0])) is None:
        return None
    return known(connection, repository, number)


def _moment(chain: int) -> datetime:
    """When a chain began, as far as a calendar goes."""
    return moment_of(max(0, min(chain, microseconds(LATEST))))


Decision = dict[str, Any]


_SESSIONS = """
    SELECT run_id, EXISTS (SELECT 1 FROM tasks WHERE chain = id) AS is_task,
           EXISTS (SELECT 1 FROM consults WHERE chain = id)
           OR EXISTS (SELECT 1 FROM runs WHERE chain = id AND status = 'escalated') AS may_hold
    FROM chains
    WHERE (? IS NULL OR run_id = ?)
          AND id NOT IN (SELECT chain FROM observations)
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
        decisions = _of_task(connection, run_id) if session["is_task"] else _of_review(connection, run_id)
        for decision in decisions:
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
        answer = given.get(each.id)
        status = "denied" if each.refused else "failed" if answer is None else "answered"
        yield {
            "number": number,
            "status": status,
            "question": each.consult.question,
            "action": answer.guidance.guidance if answer else "",
            "stop_signal": answer is not None and answer.guidance.stop_signal,
            "reason": each.refused,
            "disposition": used.get(answer.id) if answer else None,
        }
