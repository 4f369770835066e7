"""What the shadows of a period come to, made by SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

from review_advisor.adapters.ledger.conditions import bindable
from review_advisor.adapters.ledger.database import open_to_read, sentences
from review_advisor.adapters.ledger.transactions import damaged, is_figure, rows
from review_advisor.core.ledger.moments import microseconds
from review_advisor.core.ledger.periods import Period
from review_advisor.core.shadow.shadow_decision import ShadowDecision
from review_advisor.core.shadow.shadow_rollup import ShadowOfRun, ShadowSums
from review_advisor.core.shadow.shadow_rule import ShadowPart

_SUMS = """
    SELECT shadow, part, setup, count(*) AS reviews,
           count(*) FILTER (WHERE decision = 'agreed') AS agreed,
           count(*) FILTER (WHERE decision = 'would_veto') AS would_veto,
           count(*) FILTER (WHERE decision = 'would_veto' AND reverted IS NOT NULL) AS would_veto_known,
           count(*) FILTER (WHERE decision = 'would_veto' AND reverted) AS would_veto_reverted,
           count(*) FILTER (WHERE decision = 'would_pass') AS would_pass,
           count(*) FILTER (WHERE decision = 'would_pass' AND heard) AS would_pass_known,
           count(*) FILTER (WHERE decision = 'would_pass' AND (overridden OR dismissed > 0)) AS would_pass_settled,
           count(*) FILTER (WHERE decision = 'differs') AS differs,
           count(*) FILTER (WHERE decision = 'lost') AS lost,
           count(*) FILTER (WHERE status = 'capped') AS capped,
           count(*) FILTER (WHERE status IN ('stopped', 'unfinished')) AS broken_off,
           sum(missed) AS missed, sum(shadows.calls) AS calls, sum(shadows.unpriced) AS unpriced,
           sum(shadows.cost_usd) AS cost_usd,
           count(*) FILTER (WHERE outcome = 'approved') AS approved,
           count(*) FILTER (WHERE outcome = 'changes_requested') AS changes_requested,
           count(*) FILTER (WHERE outcome = 'escalated') AS escalated,
           sum(found) AS found, coalesce(sum(review_usd), 0) AS reviews_usd,
           count(*) FILTER (WHERE review_usd IS NULL) AS reviews_unpriced
    FROM shadows LEFT JOIN (
        SELECT chains.run_id AS met, fates.reverted AS reverted, fates.overridden AS overridden,
               said.dismissed AS dismissed, said.chain IS NOT NULL AS heard, runs.cost_usd AS review_usd
        FROM chains LEFT JOIN fates ON fates.chain = chains.id LEFT JOIN said ON said.chain = chains.id
        LEFT JOIN runs ON runs.chain = chains.id
    ) ON met = of_run
    WHERE (:since IS NULL OR shadows.chain >= :since) AND (:until IS NULL OR shadows.chain < :until)
          AND (:repository IS NULL OR shadows.repository = :repository COLLATE NOCASE)
    GROUP BY shadow, part, setup ORDER BY shadow, part, setup
"""
_OF_RUNS = """
    SELECT of_run, shadow, part, setup, status, decision, cost_usd, unpriced, outcome, besides
    FROM shadows WHERE of_run IN (SELECT value FROM json_each(?)) ORDER BY chain
"""
_CHOICES = {"part": get_args(ShadowPart), "decision": get_args(ShadowDecision)}
_WORDS = ("of_run", "shadow", "setup", "status", "outcome", "besides")


def shadow_sums(path: Path, period: Period) -> tuple[ShadowSums, ...]:
    """What each shadow of the period comes to, by id, part and setup. Raises ``LedgerError``."""
    asked = {
        "since": period.since and microseconds(period.since),
        "until": period.until and microseconds(period.until),
        "repository": bindable(period.repository),
    }
    with sentences(path), closing(open_to_read(path)) as connection:
        return tuple(ShadowSums(**_sound(path, row)) for row in rows(connection, _SUMS, asked))


def shadows_of_runs(path: Path, run_ids: Iterable[str]) -> Mapping[str, tuple[ShadowOfRun, ...]]:
    """What ran in shadow of these reviews, in its order. Raises ``LedgerError``."""
    found: dict[str, tuple[ShadowOfRun, ...]] = {}
    with sentences(path), closing(open_to_read(path)) as connection:
        for row in rows(connection, _OF_RUNS, (json.dumps(list(run_ids)),)):
            one = ShadowOfRun(**_sound(path, row))
            found[one.of_run] = (*found.get(one.of_run, ()), one)
    return found


def _sound(path: Path, row: dict[str, Any]) -> dict[str, Any]:
    """The row, if it holds what its columns can hold."""
    for name, value in row.items():
        if name in _CHOICES:
            is_sound = value in _CHOICES[name]
        else:
            is_sound = isinstance(value, str) if name in _WORDS else is_figure(value)
        if not is_sound:
            raise damaged(path)
    return row
