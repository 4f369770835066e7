"""The sums over the runs of a period, made by SQL: a rollup of a million runs reads none of them one by one."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from review_advisor.adapters.ledger.conditions import JUDGED, PAID_ELSEWHERE, statement, where_within
from review_advisor.adapters.ledger.database import open_to_read, sentences
from review_advisor.adapters.ledger.transactions import one_moment, rows
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.moments import EPOCH
from review_advisor.core.ledger.periods import Period
from review_advisor.core.metrics.kpis import Sums
from review_advisor.core.metrics.prices import Unpriced

_DAY = 86_400_000_000
_LAST_DAY = (datetime.max.replace(tzinfo=UTC) - EPOCH).days
_COUNTS = f"""
    SELECT count(*) AS runs,
           count(*) FILTER (WHERE status = 'unfinished') AS unfinished,
           count(*) FILTER (WHERE status = 'stopped') AS stopped,
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
           sum(cost_usd) AS cost_usd
    FROM runs WHERE {{}}
"""  # noqa: S608 (our own names)
_KEPT = statement(
    """
    SELECT sum(kept.cost_usd) AS cost_usd, sum(kept.executor_tokens) AS executor_tokens,
           sum(kept.advisor_tokens) AS advisor_tokens, sum(kept.consult_tokens) AS consult_tokens
    FROM kept CROSS JOIN runs USING (chain) WHERE {} AND
    """,
    PAID_ELSEWHERE,
)
_CONTESTED = """
    SELECT count(*) AS contested FROM (
        SELECT DISTINCT chain, surface, shard, disagreement FROM dispositions CROSS JOIN runs USING (chain)
        WHERE disposition = 'contested' AND {} AND {}
    )
"""
_BESIDE = """(
        SELECT json_group_array(json_array(
            model, input_tokens + output_tokens + cache_read_tokens + cache_write_tokens > 0
        ))
        FROM unreported AS other
        WHERE (other.chain, other.number) = (unreported.chain, unreported.number)
              AND (other.role, other.model) < (unreported.role, unreported.model)
    )"""
_UNREPORTED = f"""
    SELECT model, chain / {_DAY} AS day, count(*) AS calls, sum(input_tokens) AS input_tokens,
           sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
           sum(cache_write_tokens) AS cache_write_tokens, {_BESIDE} AS beside
    FROM unreported CROSS JOIN runs USING (chain) LEFT JOIN kept USING (chain, number)
    WHERE {{}} AND (kept.reply IS NULL OR NOT {PAID_ELSEWHERE})
    GROUP BY 1, 2, beside, input_tokens + output_tokens + cache_read_tokens + cache_write_tokens = 0
"""  # noqa: S608 (our own names)
_TIMED = f"runs {{}} WHERE {{}} AND {JUDGED} AND executor_ms > 0 AND NOT given"
_VALIDATIONS = "SELECT count(*) AS labelled, sum(proved_right) AS proved FROM validations WHERE {}"
_FATES = """
    SELECT count(*) FILTER (WHERE approved AND reverted IS NOT NULL) AS merged_approvals,
           count(*) FILTER (WHERE approved AND reverted AND NOT consulted) AS missed,
           count(overridden) AS escalations, sum(overridden) AS overridden
    FROM fates WHERE {}
"""
_SAID = """
    SELECT count(*) AS heard, sum(comments) AS comments, sum(acted_on) AS acted_on, sum(dismissed) AS dismissed,
           sum(thumbs_up) AS thumbs_up, sum(thumbs_down) AS thumbs_down
    FROM said WHERE {}
"""
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
    with sentences(path), closing(open_to_read(path)) as connection, one_moment(connection):
        return _add_up(connection, period)


def _add_up(connection: sqlite3.Connection, period: Period) -> Added:
    where, values = where_within(period)
    counts = _row(connection, _COUNTS.format(where), values)
    kept = _row(connection, _KEPT.format(where), values)
    contested = _row(connection, _CONTESTED.format(JUDGED, where), values)
    counts["judged"] = counts["runs"] - counts["unfinished"] - counts["stopped"]
    counts["advised"] = counts["judged"] - counts.pop("disabled")
    many = counts["judged"] > _SORTED_AT_MOST
    by_wall, by_executor = (
        _TIMED.format(f"INDEXED BY {index}" if many else "NOT INDEXED", where)
        for index in ("runs_by_wall", "runs_by_executor")
    )
    timed = int(_row(connection, f"SELECT count(*) AS timed FROM {by_wall}", values)["timed"])  # noqa: S608
    wall = _median(connection, "wall_ms", by_wall, values, timed)
    executor = _median(connection, "executor_ms", by_executor, values, timed)
    reported = float(counts.pop("cost_usd")) - float(kept.pop("cost_usd"))
    for name, given in kept.items():
        counts[name] -= given
    became: dict[str, Any] = {}
    for asked in (_VALIDATIONS, _FATES, _SAID):
        became |= _row(connection, asked.format(where), values)
    sums = Sums(**counts, **contested, **became, timed=timed, wall_ms=wall, executor_ms=executor)
    unpriced = tuple(_unpriced(row) for row in _rows(connection, _UNREPORTED.format(where), values))
    return Added(sums, max(reported, 0.0), unpriced)


def _row(connection: sqlite3.Connection, statement: str, values: list[Any]) -> dict[str, Any]:
    """One row of numbers; a sum of nothing is 0."""
    (row,) = _rows(connection, statement, values)
    return {name: value or 0 for name, value in row.items()}


def _rows(connection: sqlite3.Connection, statement: str, values: list[Any]) -> Iterator[dict[str, Any]]:
    for told in rows(connection, statement, values):
        if not all(_can_be(name, value) for name, value in told.items()):
            raise LedgerError("The ledger is damaged: one of its rows holds what it cannot hold.")
        yield told


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
