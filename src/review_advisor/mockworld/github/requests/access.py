"""Where a request enters GitHub: its token, its repository, the log, and what the token may do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from review_advisor.core.facts.pull_request import Permission
from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.records import Pull, Repository, Token
from review_advisor.mockworld.github.traffic import RequestKind, denied, invalid, missing

MOST_CHARACTERS = 65_535


@dataclass(frozen=True, slots=True)
class Access:
    """One token's way to one repository."""

    github: GitHub
    repository_name: str
    token: Token

    @contextmanager
    def request(self, operation: str, *abilities: str) -> Iterator[Repository]:
        """One request, for which the token needs any of ``abilities``. Raises GitHub's refusals, and trouble."""
        kind: RequestKind = "write" if any(each.endswith(":write") for each in abilities) else "read"
        with self.github.traffic.request(operation, kind):
            repository = self.github.repository(self.repository_name)
            if self.token.app is None and repository.permission(self.token.account) is Permission.NONE:
                raise missing()
            if abilities and not any(self.token.may(each) for each in abilities):
                raise denied()
            yield repository

    @property
    def account(self) -> str:
        """Whose token it is."""
        return self.token.account

    def known_pull(self, number: int) -> Pull:
        """A pull request. Raises GitHub's 404."""
        pull = self.github.repository(self.repository_name).pulls.get(number)
        if pull is None:
            raise missing()
        return pull


def checked_body(body: str | None, field: str = "body") -> str:
    """A text as GitHub takes it: something, and not too long. Raises its 422."""
    if not body or not body.strip():
        raise invalid(f"{field} cannot be blank")
    return not_too_long(body, field)


def not_too_long(text: str, field: str) -> str:
    """A text that may be empty. Raises GitHub's 422 for one that is too long."""
    if len(text) > MOST_CHARACTERS:
        raise invalid(f"{field} is too long (maximum is {MOST_CHARACTERS} characters)")
    return text
