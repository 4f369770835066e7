"""What the dashboard's first page and its list of runs tell, as plain values, whose keys are always ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from review_advisor.core.council.correlation import MemberPair, pair_rows
from review_advisor.core.exports.panel_log import MOST_PAIRS
from review_advisor.core.ledger.periods import Period
from review_advisor.core.ledger.readings import UNFINISHED
from review_advisor.core.ledger.row import Participant
from review_advisor.core.ledger.runs import RunLine
from review_advisor.core.ledger.task_lines import TaskLine
from review_advisor.core.metrics.kpis import Alarm, Kpi, Rollup
from review_advisor.core.metrics.targets import CONSULT_RATE, CONSULT_SHARE, Target, format_value
from review_advisor.core.organisation.group_rollup import SHOWN_KPIS, GroupRollup
from review_advisor.core.organisation.organisation import Organisation
from review_advisor.core.outcome.cost import RoleCost
from review_advisor.core.pages.costs import cost_json
from review_advisor.core.pages.pages import shown_line
from review_advisor.core.pages.task_pages import task_row
from review_advisor.core.pages.text import MOST_LINES, page_lines, page_text
from review_advisor.core.shadow.shadow_rollup import ShadowRollup, shadow_text

STATUSES = ("approved", "changes_requested", "escalated", "stopped", "nothing_to_review", UNFINISHED)
"""In the order in which they are stacked."""
CHUNK = 2_000
"""Runs in one file of the list."""
_FLAGS = ("degraded", "disabled", "recovered", "exhausted")
_COLUMNS = (
    *(
        "run_id",
        "started_at",
        "status",
        "like",
        "kind",
        "repository",
        "pull_request",
        "label",
        "title",
        "cost_usd",
        "unpriced",
    ),
    *("consults", "findings", "vetoes", "wall_ms", "executor_tokens", "advisor_tokens"),
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """One point of the plots: what the runs of a period come to, and how they ended."""

    period: Period
    rollup: Rollup
    ends: Mapping[str, int]


def kpi_json(kpi: Kpi) -> dict[str, Any]:
    """A KPI in figures, and in the words of ``rollup``."""
    value = "not measured" if kpi.value is None else format_value(kpi.value, kpi.unit)
    return kpi.as_json() | {"means": kpi.means, "shown": value, "wanted": kpi.target.words(kpi.unit)}


def plots_json(stretches: Sequence[Stretch]) -> dict[str, Any]:
    """A column for each line of each plot, all as long as ``starts``; None where there is nothing to measure."""
    values = [{kpi.name: kpi.value for kpi in each.rollup.kpis} for each in stretches]
    sums = [each.rollup.sums for each in stretches]
    money = [each.rollup.money for each in stretches]
    return {
        "starts": [each.period.since.isoformat() for each in stretches if each.period.since],
        "ends": {status: [each.ends.get(status, 0) for each in stretches] for status in STATUSES},
        "reported_usd": [each.reported_usd for each in money],
        "by_price_usd": [each.by_price_usd for each in money],
        "unknown_calls": [each.unknown_calls for each in money],
        "consult_share": [each["consult_share"] for each in values],
        "consult_rate": [each["consult_rate"] for each in values],
        "wall_s": [None if each.wall_ms is None else each.wall_ms / 1_000 for each in sums],
        "executor_s": [None if each.executor_ms is None else each.executor_ms / 1_000 for each in sums],
        "bands": {"consult_share": _band(CONSULT_SHARE), "consult_rate": _band(CONSULT_RATE)},
    }


def _band(target: Target) -> list[float | None]:
    return [target.low, target.high]


def overview_json(
    rollup: Rollup,
    stretches: Sequence[Stretch],
    costs: Iterable[RoleCost],
    since: datetime | None,
    made: datetime,
    *,
    pairs: Sequence[MemberPair] = (),
) -> dict[str, Any]:
    """The first page. ``costs`` and ``pairs`` of members of councils are of the runs of the period with a page."""
    ends = sum((Counter(each.ends) for each in stretches), Counter[str]())
    return {
        "made": made.isoformat(timespec="seconds"),
        "since": since.isoformat(timespec="seconds") if since else None,
        "sums": rollup.as_json()["sums"],
        "money": rollup.money.as_json() | {"unknown_models": page_lines(rollup.money.unknown_models)},
        "ends": {status: ends[status] for status in STATUSES},
        "kpis": [kpi_json(kpi) for kpi in rollup.kpis],
        "plots": plots_json(stretches),
        "costs": [cost_json(cost) for cost in costs],
        "pairs": [[page_text(cell) for cell in row] for row in pair_rows(pairs[:MOST_PAIRS])],
        "further_pairs": max(len(pairs) - MOST_PAIRS, 0),
    }


def shadows_json(rollup: ShadowRollup) -> dict[str, Any]:
    """What ran in shadow, in the words of ``rollup --shadow``, for the first page; no line where nothing did."""
    ran = bool(rollup.parts or rollup.mode.reviews)
    return {"shadows": page_lines(shadow_text(rollup).splitlines()) if ran else []}


def alerts_json(alarms: Iterable[Alarm]) -> dict[str, Any]:
    """The alerts that are raised, in words, for the first page."""
    return {"alerts": [_alert_words(alarm) for alarm in alarms if alarm.state == "raised"]}


def _alert_words(alarm: Alarm) -> str:
    kpi, rule = alarm.kpi, alarm.rule
    value = "-" if kpi.value is None else format_value(kpi.value, kpi.unit)
    hours = rule.window // timedelta(hours=1)
    return f"{rule.name}: {value} in the last {hours} h, allowed {rule.allowed.words(kpi.unit)}; {rule.means}"


def groups_json(rollups: Iterable[GroupRollup], organisation: Organisation) -> dict[str, Any]:
    """A table for each way of grouping, for the first page. A repository says whose it is, if there are teams."""
    return {"groups": [_group_table(each, organisation) for each in rollups]}


def _group_table(rollup: GroupRollup, organisation: Organisation) -> dict[str, Any]:
    with_team = rollup.by == "repository" and bool(organisation.teams)
    return {
        "by": rollup.by,
        "kpis": list(SHOWN_KPIS),
        "least": rollup.least,
        "further": max(len(rollup.rows) - MOST_LINES, 0),
        "rows": [
            {
                "name": page_text(row.name),
                "team": page_text(organisation.team_of(row.name)) if with_team else "",
                "cells": [page_text(cell) for cell in row.cells()],
            }
            for row in rollup.rows[:MOST_LINES]
        ],
    }


def list_json(
    lines: Sequence[RunLine | TaskLine], castings: Mapping[str, tuple[Participant, ...]], files: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The list in chunks of columns, of reviews and tasks. Runs share the same few castings: each chunk holds its own.

    ``files`` says what the file of each run is called.
    """
    for start in range(0, len(lines), CHUNK):
        chunk = [_row(line) for line in lines[start : start + CHUNK]]
        known: dict[tuple[Participant, ...], int] = {}
        of_run = [known.setdefault(castings.get(str(row["run_id"]), ()), len(known)) for row in chunk]
        columns = {column: [row[column] for row in chunk] for column in _COLUMNS}
        columns["file"] = [files[line.run_id] for line in lines[start : start + CHUNK]]
        columns["flags"] = [[flag for flag in _FLAGS if row.get(flag)] for row in chunk]
        columns["casting"] = of_run
        yield {
            "columns": columns,
            "castings": [
                [[p.surface, p.role, page_text(p.model), page_text(p.error)] for p in parts] for parts in known
            ],
        }


def _row(line: RunLine | TaskLine) -> dict[str, Any]:
    return task_row(line) if isinstance(line, TaskLine) else shown_line(line)
