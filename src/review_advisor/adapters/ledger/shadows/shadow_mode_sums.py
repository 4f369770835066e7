"""What the reviews in shadow mode of a period come to, made by SQL: few runs have a row in their table."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from review_advisor.adapters.ledger.conditions import statement, where_within
from review_advisor.adapters.ledger.database import open_to_read, sentences
from review_advisor.adapters.ledger.transactions import damaged, is_figure, one_moment, rows
from review_advisor.core.ledger.periods import Period
from review_advisor.core.outcome.outcomes import EXIT_CODES, Outcome
from review_advisor.core.shadow.shadow_mode import ShadowModeSums, WouldHave

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
_SUMS = statement(
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
        ended = {row.pop("exit_code"): row for row in rows(connection, _SUMS.format(where), values)}
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
