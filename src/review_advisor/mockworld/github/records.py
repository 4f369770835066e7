"""What GitHub keeps, as plain records that change. Ids count up; times are seconds of the model's clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from review_advisor.core.facts.pull_request import Permission
from review_advisor.core.pull_request.writes import Annotation
from review_advisor.mockworld.github.patches import PatchLines, shown_lines

AccountKind = Literal["User", "Bot", "Organization"]
DiffSide = Literal["LEFT", "RIGHT"]
ReactionContent = Literal["THUMBS_UP", "THUMBS_DOWN", "LAUGH", "HOORAY", "CONFUSED", "HEART", "ROCKET", "EYES"]
FileStatus = Literal["added", "removed", "modified", "renamed"]
ReviewState = Literal["PENDING", "COMMENTED", "CHANGES_REQUESTED", "APPROVED", "DISMISSED"]


@dataclass(slots=True)
class Account:
    """A person, a bot or an organisation. ``login`` of an app's bot ends in ``[bot]``."""

    id: int
    login: str
    kind: AccountKind = "User"


@dataclass(frozen=True, slots=True)
class Token:
    """What a request is made with. ``abilities`` are GitHub's permissions, ``name:read`` or ``name:write``.

    ``app`` is the slug of the app whose token it is: apps alone may make check runs.
    """

    value: str
    account: str
    abilities: frozenset[str]
    app: str | None = None

    def may(self, ability: str) -> bool:
        """Whether the token has this permission; whoever may write may read."""
        return ability in self.abilities or ability.replace(":read", ":write") in self.abilities


@dataclass(slots=True)
class IssueComment:
    """A comment on an issue or a pull request. ``editor`` is whoever edited it last, None if nobody did.

    ``seen_by`` are the accounts that showed eyes at it.
    """

    id: int
    author: str
    body: str
    at: int
    editor: str | None = None
    edited_at: int | None = None
    seen_by: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ReviewComment:
    """A comment on lines of the diff. ``line`` is None once the line is gone from it. ``reactions`` are by login."""

    id: int
    author: str
    body: str
    path: str
    side: DiffSide
    line: int | None
    start_line: int | None
    original_line: int
    commit: str
    at: int
    original_start_line: int | None = None
    editor: str | None = None
    edited_at: int | None = None
    reactions: list[tuple[str, ReactionContent]] = field(default_factory=list)


@dataclass(slots=True)
class ReviewThread:
    """The first comment on some lines, and the replies to it."""

    id: str
    comments: list[ReviewComment]
    text: str
    resolved_by: str | None = None
    outdated: bool = False


@dataclass(slots=True)
class Review:
    """A review; while it is PENDING only its author sees it, and its threads."""

    id: int
    author: str
    body: str
    commit: str
    state: ReviewState
    at: int
    threads: list[ReviewThread] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PullFile:
    """A file of a pull request. ``patch`` is None where GitHub shows none."""

    path: str
    status: FileStatus = "modified"
    patch: str | None = None
    previous_path: str | None = None

    @property
    def shown(self) -> PatchLines:
        """The lines that take a comment."""
        return shown_lines(self.patch)


@dataclass(slots=True)
class CheckRun:
    """A check run on a commit; only the app that made it may change it."""

    id: int
    name: str
    commit: str
    app: str
    external_id: str
    status: str
    conclusion: str | None
    at: int
    title: str | None = None
    summary: str | None = None
    details_url: str | None = None
    annotations: list[Annotation] = field(default_factory=list)


@dataclass(slots=True)
class Issue:
    """An issue."""

    id: int
    number: int
    author: str
    title: str
    body: str
    at: int
    comments: list[IssueComment] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """A line of the conversation that GitHub writes itself."""

    by: str
    words: str
    at: int = 0


@dataclass(slots=True)
class Pull:
    """A pull request of ``repository``. ``head_repository`` is None once a fork is deleted.

    ``recorded_base`` is the base branch's tip as GitHub's answers name it: that of the last push, however far the
    branch has moved since.

    ``listing`` replaces the files that the two trees give, for a story that states its patches.
    ``newest_threads_first``: GitHub promises no order of threads, and lists these so.
    """

    id: int
    repository: str
    number: int
    author: str
    title: str
    body: str
    base_ref: str
    head_ref: str
    head_repository: str | None
    head_sha: str
    at: int
    recorded_base: str = ""
    state: Literal["open", "closed"] = "open"
    closed_at: int | None = None
    merged_at: int | None = None
    merge_commit: str | None = None
    draft: bool = False
    labels: list[str] = field(default_factory=list)
    closes: list[tuple[str, int]] = field(default_factory=list)
    listing: tuple[PullFile, ...] | None = None
    newest_threads_first: bool = False
    comments: list[IssueComment] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    requested_users: list[str] = field(default_factory=list)
    requested_teams: list[str] = field(default_factory=list)
    happened: list[TimelineEntry] = field(default_factory=list)

    @property
    def merged(self) -> bool:
        """Whether it was merged; ``merged_at`` is the second of that."""
        return self.merged_at is not None


Protection = Literal["branch protection", "ruleset"]
"""What guards a branch: the old way or the new one."""


@dataclass(frozen=True, slots=True)
class Push:
    """A push to a branch: what the branch ended with then, and who pushed."""

    branch: str
    after: str
    login: str


@dataclass(slots=True)
class Repository:
    """A repository. ``permissions`` are by login; anybody may read a public one.

    ``branches`` and ``deleted`` are the tips of those that are there, and of those that are gone. ``labels`` are by
    their names in lower case, ``protected`` are branches.
    """

    id: int
    name: str
    default_branch: str = "main"
    private: bool = False
    parent: str | None = None
    branches: dict[str, str] = field(default_factory=dict)
    deleted: dict[str, str] = field(default_factory=dict)
    pushes: list[Push] = field(default_factory=list)
    permissions: dict[str, Permission] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    protected: dict[str, set[Protection]] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """The account or organisation it belongs to."""
        return self.name.partition("/")[0]

    def permission(self, login: str) -> Permission:
        """What this account may do here."""
        given = {name.casefold(): permission for name, permission in self.permissions.items()}
        return given.get(login.casefold(), Permission.NONE if self.private else Permission.READ)
