"""Repositories by their teams, and authors by their groups. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

OTHERS = "others"
"""Whoever and whatever is in no team or group."""
UNKNOWN_AUTHOR = "author not recorded"
NO_REPOSITORY = "no repository"
RESERVED = frozenset({OTHERS, UNKNOWN_AUTHOR, NO_REPOSITORY})
"""Rows that are there without being declared."""
LEAST_AUTHORS = 3
"""A row of fewer authors tells of single people."""


class OrganisationError(ValueError):
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
