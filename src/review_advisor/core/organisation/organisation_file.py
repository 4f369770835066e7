"""The organisation as a TOML file tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from review_advisor.core.facts.files.toml_text import TomlError, read_toml
from review_advisor.core.facts.files.value_mistake import value_mistake, value_place
from review_advisor.core.organisation.organisation import LEAST_AUTHORS, RESERVED, Organisation, OrganisationError
from review_advisor.core.safety.terminal import one_line

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
