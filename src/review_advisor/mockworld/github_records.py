"""What the simulated GitHub stores: accounts, pull requests, comments, checks, and git objects."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from review_advisor.change.pull_request import Permission
from review_advisor.github.writes import Annotation
from review_advisor.mockworld.copies import blob_name, tree_name

MOST_PATCH_LINES = 20_000

MOST_PATCH_BYTES = 500_000
"""Past these GitHub lists a file without its patch ("no single file's diff may exceed ...")."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class PatchLine:
    """A line of the diff on one side; ``hunk`` counts from 0."""

    hunk: int
    text: str


@dataclass(frozen=True, slots=True)
class PatchLines:
    """The lines that are part of the diff: ``right`` by new numbers, ``left`` by old ones."""

    right: dict[int, PatchLine] = field(default_factory=dict)
    left: dict[int, PatchLine] = field(default_factory=dict)

    def side(self, name: str) -> dict[int, PatchLine]:
        """The lines of the side with GitHub's name, ``LEFT`` or ``RIGHT``."""
        return self.left if name == "LEFT" else self.right


def shown_lines(patch: str | None) -> PatchLines:
    """The lines of a patch; none for a file that is listed without one."""
    lines = PatchLines()
    hunk, old, new = -1, 0, 0
    for line in (patch or "").split("\n"):
        head = _HUNK.match(line)
        if head:
            hunk, old, new = hunk + 1, int(head[1]), int(head[2])
            continue
        mark, text = line[:1], line[1:]
        if mark in {" ", "-"}:
            lines.left[old] = PatchLine(hunk, text)
            old += 1
        if mark in {" ", "+"}:
            lines.right[new] = PatchLine(hunk, text)
            new += 1
    return lines


def patch_of(before: bytes | None, after: bytes | None) -> str | None:
    """The patch from one content to another; None where GitHub shows none: binary, too large, or no line changed."""
    if any(b"\0" in side for side in (before, after) if side):
        return None
    lines: list[str] = []
    for line in list(difflib.unified_diff(_lines(before), _lines(after), n=3))[2:]:
        lines.append(line.removesuffix("\n"))
        if not line.endswith("\n"):
            lines.append("\\ No newline at end of file")
    patch = "\n".join(lines)
    if not lines or len(lines) > MOST_PATCH_LINES or len(patch.encode()) > MOST_PATCH_BYTES:
        return None
    return patch


def _lines(content: bytes | None) -> list[str]:
    *whole, last = (content or b"").decode(errors="replace").split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


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
    """A comment on an issue or a pull request."""

    id: int
    author: str
    body: str
    at: int
    editor: str | None = None
    """Whoever edited it last; None if nobody did."""
    edited_at: int | None = None
    seen_by: list[str] = field(default_factory=list)
    """The accounts that showed eyes at it."""


@dataclass(slots=True)
class ReviewComment:
    """A comment on lines of the diff."""

    id: int
    author: str
    body: str
    path: str
    side: DiffSide
    line: int | None
    """None once the line is gone from the diff."""
    start_line: int | None
    original_line: int
    commit: str
    at: int
    original_start_line: int | None = None
    editor: str | None = None
    edited_at: int | None = None
    reactions: list[tuple[str, ReactionContent]] = field(default_factory=list)
    """Each with the login of its author."""


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
    text: str
    at: int = 0


@dataclass(slots=True)
class Pull:
    """A pull request of ``repository``."""

    id: int
    repository: str
    number: int
    author: str
    title: str
    body: str
    base_ref: str
    head_ref: str
    head_repository: str | None
    """None once a fork is deleted."""
    head_sha: str
    at: int
    recorded_base: str = ""
    """The base branch's tip as GitHub's answers name it: that of the last push."""
    state: Literal["open", "closed"] = "open"
    closed_at: int | None = None
    merged_at: int | None = None
    merge_commit: str | None = None
    draft: bool = False
    labels: list[str] = field(default_factory=list)
    closes: list[tuple[str, int]] = field(default_factory=list)
    listing: tuple[PullFile, ...] | None = None
    """Replaces the files that the two trees give, for a story that states its patches."""
    newest_threads_first: bool = False
    """The order in which GitHub lists the threads, which it does not promise."""
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
    """A repository. Anybody may read a public one."""

    id: int
    name: str
    default_branch: str = "main"
    private: bool = False
    parent: str | None = None
    branches: dict[str, str] = field(default_factory=dict)
    """The tips of the branches that are there."""
    deleted: dict[str, str] = field(default_factory=dict)
    """The tips of the branches that are gone."""
    pushes: list[Push] = field(default_factory=list)
    permissions: dict[str, Permission] = field(default_factory=dict)
    """By login."""
    labels: dict[str, str] = field(default_factory=dict)
    """By their names in lower case."""
    issues: dict[int, Issue] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    protected: dict[str, set[Protection]] = field(default_factory=dict)
    """By branch."""

    @property
    def owner(self) -> str:
        """The account or organisation it belongs to."""
        return self.name.partition("/")[0]

    def permission(self, login: str) -> Permission:
        """What this account may do here."""
        given = {name.casefold(): permission for name, permission in self.permissions.items()}
        return given.get(login.casefold(), Permission.NONE if self.private else Permission.READ)


ModeAndBlob = tuple[str, str]
"""A mode and the name of a blob."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit. ``author`` and ``committer`` are logins."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: str
    at: int
    """The second of the model's clock."""
    committer: str = ""
    """The author, where it is empty."""
    verified: bool = False
    """Its committer signed it, which nobody else can."""


@dataclass(slots=True)
class Objects:
    """All objects of all repositories: forks share theirs, as on GitHub. A tree is flat: whole paths to entries."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    trees: dict[str, Mapping[str, ModeAndBlob]] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)

    def blob(self, content: bytes) -> str:
        """Store a file's content; its name is git's own."""
        name = blob_name(content)
        self.blobs[name] = content
        return name

    def tree(self, entries: Mapping[str, ModeAndBlob]) -> str:
        """Store a tree; its name is git's own."""
        name = tree_name(entries)
        self.trees[name] = dict(entries)
        return name

    def commit(
        self, tree: str, parents: tuple[str, ...], message: str, author: str, *, at: int, sha: str | None = None
    ) -> Commit:
        """Store a commit; ``sha`` gives it the name that it has somewhere else."""
        name = sha or _name("commit", tree, parents, message, author, at)
        made = Commit(name, tree, parents, message, author, at)
        self.commits[name] = made
        return made

    def files(self, sha: str) -> Mapping[str, ModeAndBlob]:
        """The flat tree of a commit."""
        return self.trees[self.commits[sha].tree]

    def content(self, sha: str, path: str) -> bytes | None:
        """A file of a commit; None if there is none."""
        entry = self.files(sha).get(path)
        return self.blobs[entry[1]] if entry else None

    def ancestry(self, sha: str) -> Iterator[str]:
        """The commit and everything that it rests on, the nearest first."""
        seen: set[str] = set()
        waiting = [sha]
        while waiting:
            name = waiting.pop(0)
            if name in seen or name not in self.commits:
                continue
            seen.add(name)
            yield name
            waiting.extend(self.commits[name].parents)

    def merge_base(self, one: str, other: str) -> str | None:
        """The nearest commit that both rest on."""
        others = set(self.ancestry(other))
        return next((sha for sha in self.ancestry(one) if sha in others), None)


def _name(*parts: object) -> str:
    return hashlib.sha1("\0".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()
