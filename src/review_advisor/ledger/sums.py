"""Sums over the runs of a period, by SQL."""

from __future__ import annotations

import json
import math
import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.database import (
    JUDGED,
    PAID_ELSEWHERE,
    damaged,
    is_figure,
    one_moment,
    open_to_read,
    rows,
    sentences,
    statement,
    where_within,
)
from review_advisor.ledger.kpis import ShadowModeSums, Sums, WouldHave
from review_advisor.ledger.queries import Period
from review_advisor.ledger.rows import EPOCH
from review_advisor.policy.prices import Unpriced
from review_advisor.review.rulings import EXIT_CODES, Outcome

_DAY = 86_400_000_000


_LAST_DAY = (datetime.max.replace(tzinfo=UTC) - EPOCH).days


_IS_TIMED = f"{JUDGED} AND executor_ms > 0 AND NOT given"


_COUNTS = f"""
    SELECT {{key}} count(*) AS runs,
           count(*) FILTER (WHERE status = 'unfinished') AS unfinished,
           count(*) FILTER (WHERE status = 'stopped') AS stopped,
           count(*) FILTER (WHERE status = 'nothing_to_review') AS empty,
           count(*) FILTER (WHERE disabled AND {JUDGED}) AS disabled,
           count(*) FILTER (WHERE consults > 0 AND NOT disabled AND {JUDGED}) AS consulting,
           count(*) FILTER (WHERE degraded AND {JUDGED}) AS degraded,
           count(*) FILTER (WHERE vetoed AND {JUDGED}) AS vetoed,
           count(*) FILTER (WHERE recovered AND {JUDGED}) AS recovered,
           count(*) FILTER (WHERE exhausted AND {JUDGED}) AS exhausted,
           sum(executor_tokens) AS executor_tokens,
           sum(advisor_tokens) AS advisor_tokens,
           sum(consult_tokens) AS consult_tokens,
           sum(executor_turns) AS executor_turns,
           sum(executor_calls) AS executor_calls,
           sum(prompt_tokens) AS prompt_tokens,
           sum(cached_tokens) AS cached_tokens,
           sum(cost_usd) AS cost_usd,
           count(*) FILTER (WHERE {_IS_TIMED}) AS timed
    FROM runs WHERE {{where}} {{by}}
"""  # noqa: S608 (our own names)


_KEPT = statement(
    """
    SELECT {key} sum(kept.cost_usd) AS cost_usd, sum(kept.executor_tokens) AS executor_tokens,
           sum(kept.advisor_tokens) AS advisor_tokens, sum(kept.consult_tokens) AS consult_tokens
    FROM kept CROSS JOIN runs USING (chain) WHERE {where} AND
    """,
    PAID_ELSEWHERE,
    "{by}",
)


_CONTESTED = f"""
    SELECT {{key}} count(*) AS contested FROM (
        SELECT DISTINCT chain, surface, shard, disagreement FROM dispositions CROSS JOIN runs USING (chain)
        WHERE disposition = 'contested' AND {JUDGED} AND {{where}}
    ) JOIN runs USING (chain) {{by}}
"""  # noqa: S608 (our own names)


_BESIDE = """(
        SELECT json_group_array(json_array(
            model, input_tokens + output_tokens + cache_read_tokens + cache_write_tokens > 0
        ))
        FROM unreported AS other
        WHERE (other.chain, other.number) = (unreported.chain, unreported.number)
              AND (other.role, other.model) < (unreported.role, unreported.model)
    )"""


_UNREPORTED = f"""
    SELECT {{key}} model, chain / {_DAY} AS day, count(*) AS calls, sum(input_tokens) AS input_tokens,
           sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
           sum(cache_write_tokens) AS cache_write_tokens, {_BESIDE} AS beside
    FROM unreported CROSS JOIN runs USING (chain) LEFT JOIN kept USING (chain, number)
    WHERE {{where}} AND (kept.reply IS NULL OR NOT {PAID_ELSEWHERE})
    GROUP BY {{also}} model, day, beside, input_tokens + output_tokens + cache_read_tokens + cache_write_tokens = 0
"""  # noqa: S608 (our own names)


_TIMED = f"runs {{}} WHERE {{}} AND {_IS_TIMED}"


_VALIDATIONS = "SELECT {key} count(*) AS labelled, sum(proved_right) AS proved FROM validations WHERE {where} {by}"


_FATES = """
    SELECT {key} count(*) FILTER (WHERE approved AND reverted IS NOT NULL) AS merged_approvals,
           count(*) FILTER (WHERE approved AND reverted AND NOT consulted) AS missed,
           count(overridden) AS escalations, sum(overridden) AS overridden
    FROM fates WHERE {where} {by}
"""


_SAID = """
    SELECT {key} count(*) AS heard, sum(comments) AS comments, sum(acted_on) AS acted_on, sum(dismissed) AS dismissed,
           sum(thumbs_up) AS thumbs_up, sum(thumbs_down) AS thumbs_down
    FROM said WHERE {where} {by}
"""


_SUMS = (_COUNTS, _KEPT, _CONTESTED, _VALIDATIONS, _FATES, _SAID)
"""What is added up."""


NO_REPOSITORY = "no repository"
"""The name of the sums of runs without one."""


_DAMAGED = "The ledger is damaged: one of its rows holds what it cannot hold."


_SORTED_AT_MOST = 50_000
"""The values of so many runs are sorted as they come; for more, their index is read from one end to the middle."""


@dataclass(frozen=True, slots=True)
class Added:
    """What a period adds up to: its sums, what its calls reported as their cost, and what was used without a word."""

    sums: Sums
    reported_usd: float
    unpriced: tuple[Unpriced, ...]


def add_up(path: Path, period: Period) -> Added:
    """The sums of a period, all of one moment. Raises ``LedgerError``."""
    where, values = where_within(period)
    with sentences(path), closing(open_to_read(path)) as connection, one_moment(connection):
        counts, kept, *became = (_row(connection, _alone(question, where), values) for question in _SUMS)
        many = _judged(counts) > _SORTED_AT_MOST
        by_wall, by_executor = (
            _TIMED.format(f"INDEXED BY {index}" if many else "NOT INDEXED", where)
            for index in ("runs_by_wall", "runs_by_executor")
        )
        timed = int(counts["timed"])
        wall = _median(connection, "wall_ms", by_wall, values, timed)
        executor = _median(connection, "executor_ms", by_executor, values, timed)
        unpriced = [_unpriced(row) for row in _rows(connection, _alone(_UNREPORTED, where), values)]
    return _added(counts, kept, became, (timed, wall, executor), unpriced)


def add_up_by_repository(path: Path, period: Period, *, timed: bool = True) -> dict[str, Added]:
    """The sums of each repository, in whatever spellings its runs name it.

    Without ``timed`` there are no medians, which take as long as all the rest. Raises ``LedgerError``.
    """
    with sentences(path), closing(open_to_read(path)) as connection, one_moment(connection):
        names = _repository_names(connection)
        where, values = where_within(period)
        parts = [_by_repository(connection, _keyed(question, where), values, names) for question in _SUMS]
        unpriced: dict[str, list[Unpriced]] = {}
        for row in _rows(connection, _keyed(_UNREPORTED, where), values):
            unpriced.setdefault(names[row.pop("its_repository")], []).append(_unpriced(row))
        times = _times(connection, where, values, names) if timed else {}
    added = {}
    for name, counts in parts[0].items():
        kept, *became = (part.get(name, {}) for part in parts[1:])
        walls, executors = times.get(name, (array("q"), array("q")))
        medians = (len(walls), median(walls) if walls else None, median(executors) if executors else None)
        added[name] = _added(counts, kept, became, medians, unpriced.get(name, ()))
    return added


def has_several_repositories(path: Path) -> bool:
    """Whether the ledger has runs of more than one repository. Raises ``LedgerError``."""
    with sentences(path), closing(open_to_read(path)) as connection:
        return len(connection.execute("SELECT DISTINCT name COLLATE NOCASE FROM repositories LIMIT 2").fetchall()) > 1


def _repository_names(connection: sqlite3.Connection) -> dict[int | None, str]:
    """The name of each repository, in one spelling, by the number that the ledger gave it."""
    spelled: dict[str, str] = {}
    found = connection.execute("SELECT id, name FROM repositories")
    return {None: NO_REPOSITORY} | {number: spelled.setdefault(name.casefold(), name) for number, name in found}


def _by_repository(
    connection: sqlite3.Connection, question: str, values: list[Any], names: dict[int | None, str]
) -> dict[str, dict[str, Any]]:
    """What a question adds up to for each repository: SQL adds up by number, and a name may have many."""
    added: dict[str, dict[str, Any]] = {}
    for row in _rows(connection, question, values):
        so_far = added.setdefault(names[row.pop("its_repository")], {})
        for name, value in row.items():
            so_far[name] = so_far.get(name, 0) + (value or 0)
    return added


def _times(
    connection: sqlite3.Connection, where: str, values: list[Any], names: dict[int | None, str]
) -> dict[str, tuple[array[int], array[int]]]:
    """For each repository the times of its reviews, and those of their executors."""
    found: dict[str, tuple[array[int], array[int]]] = {}
    timed = _TIMED.format("NOT INDEXED", where)
    for number, wall, executor in connection.execute(f"SELECT repository, wall_ms, executor_ms FROM {timed}", values):  # noqa: S608
        if not (isinstance(wall, int) and isinstance(executor, int) and number in names):
            raise LedgerError(_DAMAGED)
        walls, executors = found.setdefault(names[number], (array("q"), array("q")))
        walls.append(wall)
        executors.append(executor)
    return found


def _keyed(question: str, where: str) -> str:
    return question.format(
        key="repository AS its_repository,", where=where, by="GROUP BY its_repository", also="its_repository,"
    )


def _alone(question: str, where: str) -> str:
    return question.format(key="", where=where, by="", also="")


def _judged(counts: dict[str, Any]) -> int:
    """How many of the counted runs ended with a verdict."""
    return int(counts["runs"] - counts["unfinished"] - counts["stopped"] - counts["empty"])


def _added(
    counts: dict[str, Any],
    kept: dict[str, Any],
    became: Iterable[dict[str, Any]],
    times: tuple[int, float | None, float | None],
    unpriced: Iterable[Unpriced],
) -> Added:
    counts["judged"] = _judged(counts)
    counts["advised"] = counts["judged"] - counts.pop("disabled")
    reported = float(counts.pop("cost_usd")) - float(kept.pop("cost_usd", 0))
    for name, given in kept.items():
        counts[name] -= given
    counts["timed"], wall, executor = times
    for each in became:
        counts |= each
    sums = Sums(**counts, wall_ms=wall, executor_ms=executor)
    return Added(sums, max(reported, 0.0), tuple(unpriced))


def _row(connection: sqlite3.Connection, statement: str, values: list[Any]) -> dict[str, Any]:
    """One row of numbers; a sum of nothing is 0."""
    (row,) = _rows(connection, statement, values)
    return {name: value or 0 for name, value in row.items()}


def _rows(connection: sqlite3.Connection, statement: str, values: list[Any]) -> Iterator[dict[str, Any]]:
    for row in rows(connection, statement, values):
        if not all(_can_be(name, value) for name, value in row.items()):
            raise LedgerError(_DAMAGED)
        yield row


def _can_be(name: str, value: object) -> bool:
    """Whether a column of ours can hold this: somebody may have written past us."""
    if name in ("model", "beside"):
        return isinstance(value, str)
    if name == "day":
        return isinstance(value, int) and 0 <= value < _LAST_DAY
    return value is None or (isinstance(value, int | float) and math.isfinite(value))


def _median(connection: sqlite3.Connection, column: str, timed: str, values: list[Any], count: int) -> float | None:
    """The middle of so many values, or the mean of the two in the middle; None if there are none."""
    if not count:
        return None
    middle = f"SELECT {column} AS value FROM {timed} ORDER BY {column} LIMIT ? OFFSET ?"  # noqa: S608 (our own names)
    found = [row["value"] for row in _rows(connection, middle, [*values, 2 - count % 2, (count - 1) // 2])]
    return float(sum(found) / len(found))


def _unpriced(row: dict[str, Any]) -> Unpriced:
    beside = tuple((model, bool(used)) for model, used in json.loads(row["beside"]))
    return Unpriced(**row | {"day": (EPOCH + timedelta(days=row["day"])).date(), "beside": beside})


_SHADOWED = """
    FROM (SELECT * FROM runs WHERE chain IN (SELECT chain FROM shadow_mode) AND {}) AS runs
    JOIN shadow_mode USING (chain)
"""


_OBSERVED = """(
    SELECT label.value FROM labels AS label WHERE label.finding = '' AND label.label = 'merge' AND label.chain = (
        SELECT max(seen.chain) FROM observations AS seen
        WHERE seen.pull_request = runs.pull_request AND seen.repository = (
            SELECT name FROM repositories WHERE id = runs.repository
        )
    )
)"""


_SHADOW_MODE_SUMS = statement(
    """
    SELECT exit_code, count(*) AS reviews, count(ended) AS closed,
           count(*) FILTER (WHERE ended IN ('merged', 'merged_against')) AS merged,
           count(*) FILTER (WHERE reverted) AS reverted
    FROM (
        SELECT exit_code, fates.reverted AS reverted,
               CASE WHEN fates.chain IS NOT NULL THEN""",
    _OBSERVED,
    "END AS ended",
    _SHADOWED,
    "LEFT JOIN fates USING (chain)) GROUP BY exit_code",
)


_COST = statement(
    """
    SELECT coalesce(sum(cost_usd), 0) AS cost_usd, coalesce(sum(
        (SELECT count(DISTINCT number) FROM unreported WHERE unreported.chain = runs.chain)
    ), 0) AS unpriced""",
    _SHADOWED,
)


_WALL = statement("SELECT wall_ms", _SHADOWED, "WHERE wall_ms IS NOT NULL")


def shadow_mode_sums(path: Path, period: Period) -> ShadowModeSums:
    """The sums of a period, all of one moment. Raises ``LedgerError``."""
    where, values = where_within(period)
    with sentences(path), closing(open_to_read(path)) as connection, one_moment(connection):
        ended = {row.pop("exit_code"): row for row in rows(connection, _SHADOW_MODE_SUMS.format(where), values)}
        (cost,) = rows(connection, _COST.format(where), values)
        times = [row["wall_ms"] for row in rows(connection, _WALL.format(where), values)]
    figures = [*cost.values(), *times, *(figure for row in ended.values() for figure in row.values())]
    if not all(map(is_figure, figures)):
        raise damaged(path)
    known = {
        outcome: _of(ended.pop(EXIT_CODES[outcome], None))
        for outcome in Outcome
        if outcome is not Outcome.NOTHING_TO_REVIEW
    }
    return ShadowModeSums(
        passed=known[Outcome.APPROVED],
        blocked=known[Outcome.CHANGES_REQUESTED],
        escalated=known[Outcome.ESCALATED],
        did_not_end=known[Outcome.STOPPED].reviews + sum(row["reviews"] for row in ended.values()),
        cost_usd=float(cost["cost_usd"]),
        unpriced=cost["unpriced"],
        wall_ms=float(median(times)) if times else None,
    )


def _of(row: dict[str, Any] | None) -> WouldHave:
    return WouldHave() if row is None else WouldHave(**row)
