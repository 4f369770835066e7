"""What the dashboard's first page tells of repositories, teams and author groups: a table of each, as values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from review_advisor.core.organisation.group_rollup import SHOWN_KPIS, GroupRollup
from review_advisor.core.organisation.organisation import Organisation
from review_advisor.core.pages.text import MOST_LINES, page_text


def groups_json(rollups: Iterable[GroupRollup], organisation: Organisation) -> dict[str, Any]:
    """A table for each way of grouping. A repository says whose it is, if there are teams."""
    return {"groups": [_table(each, organisation) for each in rollups]}


def _table(rollup: GroupRollup, organisation: Organisation) -> dict[str, Any]:
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
