"""The repository's own map from paths to lenses and advisors: ``.review-advisor/lenses.toml`` of its base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from review_advisor.core.facts.files.declared import LENS_MAP, LONGEST_FILE, OPTIONAL
from review_advisor.core.facts.files.paths import is_glob
from review_advisor.core.facts.files.toml_text import TomlError, read_toml
from review_advisor.core.facts.files.value_mistake import value_mistake
from review_advisor.core.roster.advisor import Advisor, MappedPaths
from review_advisor.core.roster.declarations import ID, ScopeText
from review_advisor.core.roster.nearest import nearest_of

_MOST_RULES = 50
_MOST_NAMES = 10
_MOST_TOLD = 10
_QUOTES = "'\""


def _matching(glob: str) -> str:
    if not is_glob(glob):
        raise ValueError("it is not a glob")
    return glob


_Glob = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,200}$"), AfterValidator(_matching)]


class LensRule(BaseModel):
    """One ``[[map]]``: what a change of ``paths`` asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: Annotated[tuple[_Glob, ...], Field(min_length=1, max_length=_MOST_RULES)]
    lenses: Annotated[tuple[ScopeText, ...], Field(max_length=_MOST_NAMES)] = ()
    advisors: Annotated[tuple[Annotated[str, Field(pattern=ID)], ...], Field(max_length=_MOST_NAMES)] = ()

    @model_validator(mode="after")
    def _asks_for_something(self) -> LensRule:
        if not self.lenses and not self.advisors:
            raise ValueError("it names neither `lenses` nor `advisors`")
        return self


class _LensFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    map: Annotated[tuple[LensRule, ...], Field(max_length=_MOST_RULES)] = ()


@dataclass(frozen=True, slots=True)
class LensMap:
    """The rules of the file, in their order; ``problems`` are whole sentences."""

    rules: tuple[LensRule, ...] = ()
    problems: tuple[str, ...] = ()


NO_MAP = LensMap()


def read_lens_map(text: str) -> LensMap:
    """The tables ``[[map]]`` of the file, or every mistake in it with its place."""
    if len(text) > LONGEST_FILE:
        return LensMap(problems=(f"{LENS_MAP}: it is longer than {LONGEST_FILE:,} characters.",))
    try:
        return LensMap(_LensFile.model_validate(read_toml(text)).map)
    except ValidationError as error:
        found = error.errors(include_url=False)
        return LensMap(problems=tuple(f"{LENS_MAP}{_complaint(each)}" for each in found[:_MOST_TOLD]))
    except TomlError as error:
        return LensMap(problems=(f"{LENS_MAP}: it is not valid TOML: {_short(error).strip(_QUOTES)}.",))


def mapped_paths(
    rules: Sequence[LensRule], members: Iterable[str], offered: Mapping[str, Advisor]
) -> tuple[tuple[MappedPaths, ...], tuple[str, ...]]:
    """What each rule adds to a change, and a sentence for each id that nobody has.

    Only an ``offered`` advisor joins by a path; one of the ``members`` is there for every change.
    """
    standing = tuple(members)
    known = (*standing, *offered)
    problems = tuple(
        f"{LENS_MAP}, rule {number}: no member, and no advisor in {OPTIONAL}, has the id {id_!r};"
        f" {nearest_of(id_, known)}"
        for number, rule in enumerate(rules, 1)
        for id_ in rule.advisors
        if id_ not in known
    )
    mapped = (MappedPaths(each.paths, each.lenses, _joining(each.advisors, offered)) for each in rules)
    return tuple(mapped), problems


def _joining(ids: Sequence[str], offered: Mapping[str, Advisor]) -> tuple[Advisor, ...]:
    these = (offered[id_] for id_ in dict.fromkeys(ids) if id_ in offered)
    return tuple(replace(each, by_path=True, source=f"{each.source}, {LENS_MAP}") for each in these)


def _complaint(error: ErrorDetails) -> str:
    table, *place = error["loc"]
    if error["type"] == "extra_forbidden" and not place:
        return f": unknown key {_short(table)}; did you mean 'map'?"
    where = f", rule {int(place[0]) + 1}" if place else ""
    key = ".".join(map(str, place[1:]))
    if error["type"] == "extra_forbidden":
        return f"{where}: unknown key {_short(key)}; {nearest_of(key, LensRule.model_fields)}"
    return f"{where}: {_short(key) + ': ' if key else ''}{value_mistake(error)}."


def _short(word: Any) -> str:
    return ascii(str(word))[:120]
