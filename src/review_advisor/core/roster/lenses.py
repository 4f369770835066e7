"""Which lens a changed path asks for, and which of them nobody of a roster holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from review_advisor.core.facts.change import FileChange, Status
from review_advisor.core.facts.files.critical import CriticalPaths
from review_advisor.core.facts.files.paths import PathRule
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.roster.advisor import DEFAULT_ROSTER, Advisor, Roster

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
