"""The composition root of ``rollup --by``: what the reviews of each repository, team or author group come to."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.ledger.sums import (
    GroupedBy,
    GroupOf,
    add_up_groups,
    count_authors,
    has_several_repositories,
)
from review_advisor.app.rollup import listed_prices
from review_advisor.core.ledger.periods import Period
from review_advisor.core.metrics.kpis import Rollup, kpis
from review_advisor.core.metrics.prices import money
from review_advisor.core.organisation.group_rollup import Grouping, GroupRollup, group_rollup
from review_advisor.core.organisation.organisation import NO_REPOSITORY, Organisation


def roll_up_groups(
    ledger: Path,
    period: Period,
    by: Grouping,
    organisation: Organisation,
    prices: Path | None = None,
    *,
    timed: bool = True,
) -> GroupRollup:
    """The rollup of each group of a period; without ``timed`` their ``wall_clock`` is not measured.

    Raises ``LedgerError`` and ``PriceError``.
    """
    listed = listed_prices(prices)
    column, group_of = _grouping(by, organisation)
    rollups = {
        name: Rollup(added.sums, money(added.reported_usd, added.unpriced, listed), kpis(added.sums))
        for name, added in add_up_groups(ledger, period, column, group_of, timed=timed).items()
    }
    authors = count_authors(ledger, period, group_of) if by == "author-group" else None
    return group_rollup(by, rollups, authors, organisation.smallest_group)


def every_grouping(ledger: Path, period: Period, organisation: Organisation) -> tuple[GroupRollup, ...]:
    """What there is to compare: repositories if there are several, and the teams and groups that are declared.

    Raises ``LedgerError``.
    """
    several = has_several_repositories(ledger)
    asked: dict[Grouping, bool] = {
        "repository": several,
        "team": several and bool(organisation.teams),
        "author-group": bool(organisation.author_groups),
    }
    wanted = (by for by, is_asked in asked.items() if is_asked)
    return tuple(roll_up_groups(ledger, period, by, organisation, timed=False) for by in wanted)


def _grouping(by: Grouping, organisation: Organisation) -> tuple[GroupedBy, GroupOf]:
    spelled: dict[str, str] = {}

    def repository_of(repository: str | None) -> str:
        name = NO_REPOSITORY if repository is None else organisation.present_name(repository)
        return spelled.setdefault(name.casefold(), name)

    match by:
        case "repository":
            return "repository", repository_of
        case "team":
            return "repository", organisation.team_of
        case "author-group":
            return "author", organisation.group_of
