"""Which lens a changed path asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from review_advisor.change.change import FileChange, Status
from review_advisor.change.diff_text import shown_path
from review_advisor.change.kinds import LENS_MAP, LONGEST_FILE, OPTIONAL, CriticalPaths, PathRule, is_glob
from review_advisor.policy.declarations import ID, ScopeText
from review_advisor.policy.roster import DEFAULT_ROSTER, Advisor, MappedPaths, Roster
from review_advisor.safety.stated_values import TomlError, nearest_of, read_toml, value_mistake

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


_AUTH = (
    *("auth", "authn", "authz", "authentication", "authorization", "oauth"),
    *("login", "session", "password", "permission", "crypto"),
)


LENSES: Mapping[str, CriticalPaths] = {
    "securityArchitect": CriticalPaths(words=_AUTH),
    "dataSteward": CriticalPaths(names=("**/migrations/", "**/db/migrate/", "**/alembic/", "*.sql", "schema.prisma")),
    "accessibility": CriticalPaths(names=("*.css", "*.scss", "*.html", "*.jsx", "*.tsx", "*.vue", "*.svelte")),
    "apiSteward": CriticalPaths(names=("*.proto", "*.graphql", "openapi*.y*ml", "openapi*.json", "swagger*.y*ml")),
    "complianceOfficer": CriticalPaths(words=("gdpr", "privacy", "consent", "pii")),
    "releaseManager": CriticalPaths(names=("Dockerfile*", "*.tf", "**/helm/", "**/k8s/", "**/deploy/")),
}
"""The paths for which each lens is expected, beside the repository's own map. A lens is an id, or one of its scopes."""


_MOST_NAMED = 3


_LEAST_TO_DISSENT = 3
"""Members of a council from which on one of them has to be declared to dissent."""


def roster_for(roster: Roster, files: Iterable[FileChange]) -> Roster:
    """Who is asked about a change of ``files``, and which lenses nobody of them holds.

    The repository's map and the product's add members and lenses. Neither takes one away. The product's says nothing of
    the default roster.
    """
    changed = tuple(files)
    members = {each.id: each for each in roster.advisors}
    asked: list[tuple[str, tuple[str, ...]]] = []
    for rule in roster.mapped:
        touched = PathRule(rule.paths).touched_by(changed)
        members |= {each.id: each for each in rule.advisors if touched}
        asked += [(lens, touched) for lens in rule.lenses]
    if roster.advisors != DEFAULT_ROSTER.advisors:
        asked += [(lens, paths.touched_by(changed)) for lens, paths in LENSES.items()]
    told = Roster(tuple(members.values()), (*roster.blind_spots, *_unheld(members.values(), asked)))
    return replace(told, blind_spots=(*told.blind_spots, *_nobody_dissents(told)))


def roster_for_paths(roster: Roster, paths: Iterable[str]) -> Roster:
    """The same where only the changed paths are known."""
    return roster_for(roster, (FileChange(Status.MODIFIED, path) for path in paths))


def _nobody_dissents(roster: Roster) -> Iterator[str]:
    """Members that agree by temperament are no independent voices."""
    size = len(roster.panel)
    if size >= _LEAST_TO_DISSENT and not any(each.temperament == "dissenting" for each in roster.panel):
        yield f"none of the {size} members of the council is declared to dissent"


def _unheld(members: Iterable[Advisor], asked: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """A sentence for each lens that changed paths ask for and that nobody holds."""
    held = {word.casefold() for each in members for word in (each.id, *each.scopes)}
    missed: dict[str, tuple[str, dict[str, None]]] = {}
    for lens, touched in asked:
        if touched and lens.casefold() not in held:
            missed.setdefault(lens.casefold(), (lens, {}))[1].update(dict.fromkeys(touched))
    for lens, found in missed.values():
        paths = tuple(found)
        more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
        yield f"no advisor has the lens {lens}, for {', '.join(map(shown_path, paths[:_MOST_NAMED]))}{more}"
