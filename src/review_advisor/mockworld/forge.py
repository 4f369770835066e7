"""The forge, as far as a story needs one: a repository, its users, a pull request and its numbered pushes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from review_advisor.core.facts.change import Change, FileChange, Spec
from review_advisor.core.facts.pictures import PictureDifference


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who opens pull requests and pushes."""

    login: str


@dataclass(frozen=True, slots=True)
class Repository:
    """Where the pull request is. ``own``: the bot's own repository. ``pyproject``: the bot is configured there."""

    name: str
    own: bool = False
    pyproject: bool = False

    @property
    def base_sha(self) -> str:
        """The commit that pull requests are compared with."""
        return _object_name(self.name, "base")


@dataclass(frozen=True, slots=True)
class Push:
    """One push: the whole change as it stands afterwards. ``texts`` are whole files at that head.

    ``pictures`` are the pairs that were made of it, before and after. ``bare``: it is a patch without a tree.
    """

    by: User
    files: tuple[FileChange, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    pictures: tuple[PictureDifference, ...] = ()
    bare: bool = False


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as a value: a push gives a new one, with a new head."""

    repository: Repository
    number: int
    title: str
    body: str
    author: User
    spec: Spec | None = None
    prior_fix_attempts: int = 0
    pushes: tuple[Push, ...] = ()

    @property
    def label(self) -> str:
        """The name of its folder of artefacts."""
        return f"pr-{self.number}"

    @property
    def head_sha(self) -> str:
        """The head's object name; another one after each push."""
        return _object_name(self.repository.name, self.number, len(self.pushes))

    def pushed(self, push: Push, *, fix: bool = False) -> PullRequest:
        """The same pull request after ``push``; a fix counts as one more attempt before the next review."""
        return replace(self, pushes=(*self.pushes, push), prior_fix_attempts=self.prior_fix_attempts + fix)

    def change(self) -> Change:
        """What a review of the present head looks at."""
        head_sha = self.head_sha
        return Change(
            label=self.label,
            title=self.title,
            body=self.body,
            author=self.author.login,
            base_sha=self.repository.base_sha,
            head_sha=head_sha,
            files=self.pushes[-1].files if self.pushes else (),
            spec=self.spec,
            prior_fix_attempts=self.prior_fix_attempts,
            own_repository=self.repository.own,
            config_in_pyproject=self.repository.pyproject,
            tree=None if not self.pushes or self.pushes[-1].bare else _object_name(head_sha, "tree"),
        )


@lru_cache(maxsize=64)
def _object_name(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:40]
