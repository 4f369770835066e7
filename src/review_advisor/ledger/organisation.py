"""Repositories by their teams, and authors by their groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from review_advisor.ledger.kpis import Kpi, Rollup, format_value
from review_advisor.safety.stated_values import TomlError, read_toml, value_mistake, value_place
from review_advisor.safety.stop import Refusal
from review_advisor.safety.terminal import one_line
from review_advisor.safety.wording import counted, printable_line, table

OTHERS = "others"
"""Whoever and whatever is in no team or group."""


UNKNOWN_AUTHOR = "author not recorded"


NO_REPOSITORY = "no repository"


RESERVED = frozenset({OTHERS, UNKNOWN_AUTHOR, NO_REPOSITORY})
"""Rows that are there without being declared."""


LEAST_AUTHORS = 3
"""A row of fewer authors tells of single people."""


class OrganisationError(Refusal, ValueError):
    """What was said of the organisation cannot be used. One sentence for the user."""


@dataclass(frozen=True, slots=True)
class Organisation:
    """``teams`` and ``author_groups`` lead from names in lower case; ``renamed`` from an old name to the present one.

    ``repositories`` are all that are named, as they are written. A row of fewer than ``smallest_group`` authors is not
    shown.
    """

    repositories: tuple[str, ...] = ()
    teams: Mapping[str, str] = field(default_factory=dict)
    author_groups: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    smallest_group: int = LEAST_AUTHORS

    def present_name(self, repository: str) -> str:
        """What a repository is called now."""
        return self.renamed.get(repository.casefold(), repository)

    def team_of(self, repository: str | None) -> str:
        """Whose repository it is."""
        if repository is None:
            return NO_REPOSITORY
        return self.teams.get(self.present_name(repository).casefold(), OTHERS)

    def group_of(self, author: str | None) -> str:
        """Which group an author is in."""
        return self.author_groups.get(author.casefold(), OTHERS) if author else UNKNOWN_AUTHOR


NO_ORGANISATION = Organisation()


_MOST = 20_000


_Repository = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}$")]


_Login = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?$")]


_GroupName = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,100}$")]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)

    repositories: Annotated[tuple[_Repository, ...], Field(max_length=_MOST)] = ()
    teams: Annotated[dict[_GroupName, tuple[_Repository, ...]], Field(max_length=_MOST)] = {}
    author_groups: Annotated[dict[_GroupName, tuple[_Login, ...]], Field(alias="author-groups", max_length=_MOST)] = {}
    renamed: Annotated[dict[_Repository, _Repository], Field(max_length=_MOST)] = {}
    smallest_group: Annotated[int, Field(alias="smallest-group", ge=1, le=1_000)] = LEAST_AUTHORS


def parse_organisation(text: str, name: str) -> Organisation:
    """The organisation in a file that is called ``name``. Raises ``OrganisationError``."""
    try:
        told = _File.model_validate(read_toml(text))
    except TomlError as error:
        raise OrganisationError(f"{name} is not valid TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = value_place(first["loc"])
        raise OrganisationError(f"{name} is wrong at {place}: {value_mistake(first)}.") from None
    teams = _turned(told.teams, name, "team")
    groups = _turned(told.author_groups, name, "group")
    in_order = (*told.repositories, *(each for its in told.teams.values() for each in its))
    named = {each.casefold(): each for each in reversed(in_order)}
    return Organisation(
        tuple(reversed(named.values())),
        teams,
        groups,
        {old.casefold(): new for old, new in told.renamed.items()},
        told.smallest_group,
    )


def _turned(groups: Mapping[str, Iterable[str]], name: str, kind: str) -> dict[str, str]:
    """The group of each member, who is in one only."""
    found: dict[str, str] = {}
    for group, members in groups.items():
        if group.strip().casefold() in RESERVED:
            raise OrganisationError(
                f"{name} has a {kind} {one_line(group)}, which is a row already: name it otherwise."
            )
        for member in members:
            if found.setdefault(member.casefold(), group) != group:
                raise OrganisationError(f"{name} names {one_line(member)} in more than one {kind}: name it in one.")
    return found


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
