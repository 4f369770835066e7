"""A pull request and its event, as facts of the forge."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AliasPath, BeforeValidator, Field, TypeAdapter, ValidationError

from review_advisor.change.change import OBJECT_NAME, Spec
from review_advisor.safety.stated_values import value_mistake

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
    ``by_bot``: the author's account is a bot's, by its type.
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


PULL_REQUEST_EVENTS = ("pull_request_target", "pull_request")


class EventError(ValueError):
    """An event that cannot be read, or that nothing here is for. One sentence."""


def _at(*path: str) -> Any:
    """A field that the payload has at this path."""
    return Field(validation_alias=AliasPath(*path))


_Action = Annotated[str, Field(pattern=r"^[a-z_]{1,50}$")]


_Repository = Annotated[str, _at("repository", "full_name")]


_Number = Annotated[int, Field(gt=0, strict=True)]


_COMMIT = Field(pattern=rf"^(?:{OBJECT_NAME})$")


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """Something happened to a pull request. ``label`` is the one put on or taken off, if that is what happened.

    ``head_sha`` is the head at that moment, ``sender`` the account that did it. ``before`` is the head that a push took
    the place of; empty where there was no push.
    """

    action: _Action
    repository: _Repository
    number: Annotated[_Number, _at("pull_request", "number")]
    head_sha: Annotated[str, _COMMIT, _at("pull_request", "head", "sha")]
    sender: Annotated[str, _at("sender", "login")]
    label: Annotated[str | None, _at("label", "name")] = None
    before: Annotated[str, Field(pattern=rf"^(?:{OBJECT_NAME})?$")] = ""


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """A comment on an issue or, if ``on_pull_request``, on a pull request. ``body`` is hostile."""

    action: _Action
    repository: _Repository
    number: Annotated[_Number, _at("issue", "number")]
    comment_id: Annotated[_Number, _at("comment", "id")]
    author: Annotated[str, _at("comment", "user", "login")] = GHOST
    body: Annotated[str, BeforeValidator(lambda body: body or ""), _at("comment", "body")] = ""
    on_pull_request: Annotated[bool, BeforeValidator(lambda it: it is not None), _at("issue", "pull_request")] = False


@dataclass(frozen=True, slots=True)
class MergeGroupEvent:
    """A merge queue asks for the checks of a commit that holds several pull requests."""

    action: _Action
    repository: _Repository
    head_sha: Annotated[str, _COMMIT, _at("merge_group", "head_sha")]
    head_ref: Annotated[str, _at("merge_group", "head_ref")]
    base_sha: Annotated[str, _COMMIT, _at("merge_group", "base_sha")]


ActionsEvent = PullRequestEvent | CommentEvent | MergeGroupEvent


_KINDS: dict[str, type[ActionsEvent]] = {
    **dict.fromkeys(PULL_REQUEST_EVENTS, PullRequestEvent),
    "issue_comment": CommentEvent,
    "merge_group": MergeGroupEvent,
}


def read_event(name: str, payload: str | bytes) -> ActionsEvent:
    """The event of this ``name`` (``GITHUB_EVENT_NAME``) from its payload's JSON (``GITHUB_EVENT_PATH``).

    Raises ``EventError`` for an event that nothing here is for, and for a payload that is not what GitHub sends.
    """
    if name not in _KINDS:
        raise EventError(f"The event {name!r} is none that a review can start from ({', '.join(_KINDS)}).")
    try:
        return TypeAdapter[ActionsEvent](_KINDS[name]).validate_json(payload)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"]) or "the payload"
        said = value_mistake(first, block="an object")
        raise EventError(f"The payload of the event {name} is not what GitHub sends: {where}: {said}.") from None


@dataclass(frozen=True, slots=True)
class Reaction:
    """Somebody's thumb, up or down; ``login`` is empty where the forge does not say whose."""

    login: str
    up: bool


@dataclass(frozen=True, slots=True)
class StandingRemark:
    """The first comment of a thread on the diff. Its text and its names are hostile.

    ``edited_by`` is whoever edited it last; empty if nobody did. It was made on ``line`` (from ``start_line`` on) of
    ``path`` at ``commit``, on the old side if ``removed``; ``commit`` is empty and ``line`` 0 where the forge has
    forgotten them. ``resolved_by`` is empty where the forge does not say. ``uncounted``: there are more reactions than
    were read.
    """

    author: str
    body: str
    edited_by: str
    path: str
    commit: str
    start_line: int
    line: int
    removed: bool
    resolved: bool
    resolved_by: str
    reactions: tuple[Reaction, ...] = ()
    uncounted: bool = False


_LINE = re.compile(r"^spec:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)


def spec_path(body: str) -> str | None:
    """The path of the first ``spec: <path>`` line that names a file inside the repository, normalised; else None.

    The key stands at the start of its line, in any case. Absolute paths, paths with ``..`` or a backslash, and
    addresses are passed over.
    """
    for match in _LINE.finditer(body):
        path = match.group(1).strip().strip("`<>")
        if path.startswith("/") or "\\" in path or "://" in path or ".." in path.split("/") or not path.isprintable():
            continue
        normal = posixpath.normpath(path)
        if normal != "." and not path.endswith("/"):
            return normal
    return None


def spec_of_issues(issues: Sequence[LinkedIssue], repository: str) -> Spec | None:
    """The issues that a pull request of ``repository`` closes, as its specification; None without any.

    Each is a heading with its number and title, and its body.
    """
    if not issues:
        return None
    names = [_name(issue, repository) for issue in issues]
    texts = [f"# {name}: {issue.title}\n\n{issue.body}".strip() for name, issue in zip(names, issues, strict=True)]
    return Spec(f"issue{'s' if len(issues) > 1 else ''} {', '.join(names)}", "\n\n".join(texts))


def _name(issue: LinkedIssue, repository: str) -> str:
    elsewhere = issue.repository.casefold() != repository.casefold()
    return f"{issue.repository if elsewhere else ''}#{issue.number}"
