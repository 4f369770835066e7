"""What the reviews of each repository, team or author group come to. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from review_advisor.core.metrics.kpis import Kpi, Rollup
from review_advisor.core.metrics.targets import format_value
from review_advisor.core.organisation.organisation import UNKNOWN_AUTHOR
from review_advisor.core.report.wording import counted, printable_line, table

Grouping = Literal["repository", "team", "author-group"]
GROUPINGS: tuple[Grouping, ...] = ("repository", "team", "author-group")
SHOWN_KPIS = ("self_repair", "validated", "degraded_share", "missed_escalations", "acted_on")
"""The KPIs that a row has room for; JSON has all."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group. ``rollup`` is None of one that is not shown, because it would tell of single people."""

    name: str
    rollup: Rollup | None

    def cells(self) -> tuple[str, ...]:
        """What a row tells, in words: runs, cost, and the KPIs that are shown."""
        if self.rollup is None:
            return ("not shown", *("" for _ in (*SHOWN_KPIS, "cost")))
        usd = self.rollup.money.reported_usd + self.rollup.money.by_price_usd
        unknown = "+" if self.rollup.money.unknown_calls else ""
        return (f"{self.rollup.sums.runs:,}", f"${usd:,.2f}{unknown}", *map(_shown, shown_kpis(self.rollup)))

    def as_json(self) -> dict[str, Any]:
        """The whole rollup of a group that is shown."""
        return {"name": self.name, "rollup": None if self.rollup is None else self.rollup.as_json()}


@dataclass(frozen=True, slots=True)
class GroupRollup:
    """All groups of a period, that with the most runs first. ``least`` authors a shown group of authors has."""

    by: Grouping
    rows: tuple[GroupRow, ...]
    least: int = 0

    def as_json(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {"by": self.by, "groups": [row.as_json() for row in self.rows]}


def group_rollup(
    by: Grouping, rollups: Mapping[str, Rollup], authors: Mapping[str, int] | None = None, least: int = 0
) -> GroupRollup:
    """The groups in order. With ``authors``, nothing is told of fewer than ``least``: such groups come last."""
    few = set() if authors is None else _hidden(rollups, authors, least)
    in_order = sorted(rollups, key=lambda name: (name in few, 0 if name in few else -rollups[name].sums.runs, name))
    rows = (GroupRow(name, None if name in few else rollups[name]) for name in in_order)
    return GroupRollup(by, tuple(rows), least if authors is not None else 0)


def _hidden(rollups: Mapping[str, Rollup], authors: Mapping[str, int], least: int) -> set[str]:
    """The groups of too few authors; and those with the next fewest, until all of them together have enough.

    Else they were the whole minus what is shown. Runs whose author is not recorded are hidden for that if there is
    nothing else, and for groups of apps, who are nobody, nothing is.
    """
    few = {name for name in rollups if name != UNKNOWN_AUTHOR and authors.get(name, 0) < least}
    people = sum(authors.get(name, 0) for name in few)
    others = rollups.keys() - few
    for name in sorted(others, key=lambda name: (name == UNKNOWN_AUTHOR, authors.get(name, 0), name)):
        if not 0 < people < least:
            break
        few.add(name)
        people += authors.get(name, 0)
    return few


def shown_kpis(rollup: Rollup) -> Iterable[Kpi]:
    """The KPIs that a row has room for, in their order."""
    found = {kpi.name: kpi for kpi in rollup.kpis}
    return (found[name] for name in SHOWN_KPIS)


def _shown(kpi: Kpi) -> str:
    return "-" if kpi.value is None else format_value(kpi.value, kpi.unit)


def group_text(found: GroupRollup) -> str:
    """A line for each group, or a sentence if there is none."""
    if not found.rows:
        return "No run falls in this period.\n"
    head = (found.by, "runs", "cost", *SHOWN_KPIS)
    told = table([head, *((printable_line(row.name), *row.cells()) for row in found.rows)])
    hidden = sum(row.rollup is None for row in found.rows)
    if hidden:
        told += (
            f"{counted(hidden, 'group')} not shown: nothing is told of fewer than {found.least} authors in a period\n"
        )
    return told
