"""A request as its route understands it, and what is to be answered."""

from dataclasses import dataclass
from typing import Any

from tests.adapters.github.payloads import Payloads

from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_doors import Session
from review_advisor.mockworld.github_records import Pull, Token


@dataclass(frozen=True)
class Reply:
    """What to answer. ``paged``: the list, or the list under this key, is cut into pages, or ``by_cursor``.

    ``stored`` is where the door hands out what was asked for, which the answer is then sent on to.
    """

    status: int
    body: Any = None
    paged: bool | str = False
    by_cursor: bool = False
    stored: str = ""


@dataclass(frozen=True)
class Call:
    """One request, understood as far as its route goes."""

    github: GitHub
    token: Token
    write: Payloads
    path: dict[str, str]
    query: dict[str, str]
    body: Any

    @property
    def repository(self) -> str:
        return f"{self.path.get('owner', '')}/{self.path.get('repo', '')}"

    @property
    def session(self) -> Session:
        return Session(self.github, self.repository, self.token)

    @property
    def number(self) -> int:
        return int(next(self.path[name] for name in ("pull_number", "issue_number") if name in self.path))

    @property
    def pull(self) -> Pull:
        return self.github.repository(self.repository).pulls[self.number]

    def id(self, name: str) -> int:
        return int(self.path[name])
