"""A pull request as its forge describes it: facts that a review and its publication rest on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

LARGEST_PULL_REQUEST = 2**31
"""The largest number that a pull request can have."""
GHOST = "ghost"
"""The account that GitHub shows in the place of a deleted one."""


class Permission(StrEnum):
    """What somebody may do in a repository, as the forge says; a name or its ending is never a permission."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    @property
    def may_write(self) -> bool:
        """Whether they may push, and so may tell the bot what to do."""
        return self in (Permission.WRITE, Permission.MAINTAIN, Permission.ADMIN)


@dataclass(frozen=True, slots=True)
class Makers:
    """Whom the forge names for the work in a pull request: the makers and the pushers of its commits.

    ``whole``: it named all commits, which it does not of very long pull requests, the author of each, and the pushers.
    """

    logins: tuple[str, ...]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class BranchCommit:
    """A commit that a pull request brings. Author and committer are accounts, empty where the forge names none.

    Anybody can write any author into a commit. ``verified``: the forge vouches that the committer made it. ``by_bot``:
    the author's account is a bot's, by its type.
    """

    sha: str
    author: str
    by_bot: bool
    committer: str
    verified: bool
    parents: int
    message: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One pull request at one moment. Every text in it is the author's, and hostile.

    ``repository`` and ``head_repository`` are ``owner/name``; ``head_repository`` is None once a fork is deleted.
    ``base_sha`` is the tip of the base branch at the last push, not the merge base. ``default_branch`` is the
    repository's; empty where the forge does not say. ``labels`` are names.
    ``merge_commit`` is the commit of the base branch that the merge ended with; empty where there is none.
    ``by_bot``: the author's account is a bot's, by its type. ``author_id`` is that account's number, which stays where
    the account changes its name; 0 where the forge tells none.
    ``merged_at`` is when it was merged, by the forge's own clock: commits have whatever dates their authors like.
    """

    repository: str
    number: int
    title: str
    body: str
    author: str
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: str | None
    state: Literal["open", "closed", "merged"] = "open"
    draft: bool = False
    labels: tuple[str, ...] = ()
    merge_commit: str = ""
    merged_at: datetime | None = None
    default_branch: str = ""
    by_bot: bool = False
    author_id: int = 0

    @property
    def from_fork(self) -> bool:
        """Whether the head lies outside the repository; a deleted fork is one too."""
        return self.head_repository is None or self.head_repository.casefold() != self.repository.casefold()

    @property
    def label(self) -> str:
        """The name of its folder of artefacts."""
        return f"pr-{self.number}"


@dataclass(frozen=True, slots=True)
class BelievedBase:
    """The branch whose word holds on how a pull request is reviewed, and the commit that it is read from.

    It is the base branch where that is the default branch or one that the default branch's file names; else it is the
    default branch, because whoever may push can make a base branch of their own.
    """

    branch: str
    commit: str


@dataclass(frozen=True, slots=True)
class LinkedIssue:
    """An issue that the pull request closes, by GitHub's own word."""

    repository: str
    number: int
    title: str
    body: str
