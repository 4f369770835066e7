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
    """A commit that a pull request brings. Author and committer are accounts, empty where the forge names none."""

    sha: str
    author: str
    """Anybody can write any author into a commit."""
    by_bot: bool
    """The author's account is a bot's, by its type."""
    committer: str
    verified: bool
    """The forge vouches that the committer made it."""
    parents: int
    message: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One pull request at one moment. Every text in it is the author's, and hostile."""

    repository: str
    """``owner/name``."""
    number: int
    title: str
    body: str
    author: str
    base_ref: str
    base_sha: str
    """The tip of the base branch at the last push, not the merge base."""
    head_ref: str
    head_sha: str
    head_repository: str | None
    """``owner/name``; None once a fork is deleted."""
    state: Literal["open", "closed", "merged"] = "open"
    draft: bool = False
    labels: tuple[str, ...] = ()
    merge_commit: str = ""
    """The commit of the base branch that the merge ended with; empty where there is none."""
    merged_at: datetime | None = None
    """By the forge's own clock: commits have whatever dates their authors like."""
    default_branch: str = ""
    """The repository's; empty where the forge does not say."""
    by_bot: bool = False
    """The author's account is a bot's, by its type."""

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
    """Something happened to a pull request."""

    action: _Action
    repository: _Repository
    number: Annotated[_Number, _at("pull_request", "number")]
    head_sha: Annotated[str, _COMMIT, _at("pull_request", "head", "sha")]
    """The head at that moment."""
    sender: Annotated[str, _at("sender", "login")]
    """The account that did it."""
    label: Annotated[str | None, _at("label", "name")] = None
    """The label put on or taken off, if that is what happened."""
    before: Annotated[str, Field(pattern=rf"^(?:{OBJECT_NAME})?$")] = ""
    """The head that a push took the place of; empty where there was no push."""


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """A comment on an issue or a pull request."""

    action: _Action
    repository: _Repository
    number: Annotated[_Number, _at("issue", "number")]
    comment_id: Annotated[_Number, _at("comment", "id")]
    author: Annotated[str, _at("comment", "user", "login")] = GHOST
    body: Annotated[str, BeforeValidator(lambda body: body or ""), _at("comment", "body")] = ""
    """Hostile."""
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
        mistake = value_mistake(first, block="an object")
        raise EventError(f"The payload of the event {name} is not what GitHub sends: {where}: {mistake}.") from None


@dataclass(frozen=True, slots=True)
class Reaction:
    """Somebody's thumb, up or down; ``login`` is empty where the forge does not say whose."""

    login: str
    up: bool


@dataclass(frozen=True, slots=True)
class StandingRemark:
    """The first comment of a thread on the diff. Its text and its names are hostile."""

    author: str
    body: str
    edited_by: str
    """Whoever edited it last; empty if nobody did."""
    path: str
    commit: str
    """The commit that it was made on; empty where the forge has forgotten it."""
    start_line: int
    line: int
    """The last line that it was made on; 0 where the forge has forgotten it."""
    removed: bool
    """It was made on the old side."""
    resolved: bool
    resolved_by: str
    """Empty where the forge does not say."""
    reactions: tuple[Reaction, ...] = ()
    uncounted: bool = False
    """There are more reactions than were read."""


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
    names = [
        f"{'' if issue.repository.casefold() == repository.casefold() else issue.repository}#{issue.number}"
        for issue in issues
    ]
    texts = [f"# {name}: {issue.title}\n\n{issue.body}".strip() for name, issue in zip(names, issues, strict=True)]
    return Spec(f"issue{'s' if len(issues) > 1 else ''} {', '.join(names)}", "\n\n".join(texts))
