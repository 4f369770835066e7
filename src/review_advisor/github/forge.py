"""The forge that a pull request stands on, as a protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from review_advisor.change.pull_request import (
    BranchCommit,
    LinkedIssue,
    Makers,
    Permission,
    PullRequest,
    StandingRemark,
)
from review_advisor.safety.stop import Refusal

if TYPE_CHECKING:
    from review_advisor.change.change import CommittedFile
    from review_advisor.github.state import RecentWork, StandingCheck, StandingComment, StandingReview, Thread
    from review_advisor.github.writes import Check, InlineComment, MadeCommit


class Forge(Protocol):
    """One repository on its forge: its pull requests, and what the bot writes on them.

    Every method raises ``ForgeError``: ``ForgeUnavailable`` where nobody knows whether the request took effect,
    ``ForgeDenied`` where the token may not do it, ``ForgeMissing`` where the thing is gone, ``ForgeRejected`` where the
    forge does not take the values. Reads are tried again inside; **a write is sent exactly once**.
    """

    def pull_request(self, number: int) -> PullRequest:
        """The pull request as it is now."""

    def open_pull_requests(self, head_sha: str) -> tuple[PullRequest, ...]:
        """The open pull requests whose head is this very commit, the lowest number first."""

    def makers(self, pull_request: PullRequest) -> Makers:
        """Authors and committers of its commits, and whoever pushed one of them, as far as the forge names them."""

    def pushers(self, pull_request: PullRequest, commits: AbstractSet[str]) -> Makers:
        """Whoever pushed one of these commits to the branch of its head; whole only if the head's pusher is known."""

    def pushed_heads(self, pull_request: PullRequest) -> tuple[str, ...]:
        """The heads that pushes gave to its branch, the newest first, as far as the forge tells them."""

    def compared(self, base: str, head: str) -> Comparison:
        """What the commit ``head`` brings over its merge base with the commit ``base``."""

    def linked_issues(self, number: int) -> tuple[LinkedIssue, ...]:
        """The issues that the pull request closes, the lowest number first."""

    def permission(self, login: str) -> Permission:
        """What this account may do in the repository, by the forge's own word."""

    def file(self, path: str, commit: str) -> bytes | None:
        """A file of a commit of this repository, at most 1 MB; None if there is none."""

    def folder(self, path: str, commit: str) -> tuple[FolderEntry, ...]:
        """What lies directly in a folder of a commit; nothing if nothing stands at ``path``.

        What stands there and is no folder is told as the only entry, under that path. A folder of ``MOST_IN_FOLDER``
        entries or more raises ``ForgeRejected``.
        """

    def changed_files(self, number: int) -> tuple[ListedFile, ...]:
        """The files of the pull request as the forge lists them, at most ``MOST_LISTED``."""

    def commentable_lines(self, number: int) -> Mapping[str, CommentableLines]:
        """For each file whose patch the forge shows: the lines on which it takes a comment."""

    def checks(self, commit: str, name: str) -> tuple[StandingCheck, ...]:
        """All check runs of this name on a commit, the lowest id first."""

    def comments(self, number: int) -> tuple[StandingComment, ...]:
        """All comments on the pull request itself, the lowest id first."""

    def reviews(self, number: int) -> tuple[StandingReview, ...]:
        """All reviews that the token's account can see, the lowest id first."""

    def threads(self, number: int) -> tuple[Thread, ...]:
        """All threads of inline comments, the first begun first."""

    def remarks(self, number: int) -> tuple[StandingRemark, ...]:
        """The first comment of each thread on the diff, with who resolved it and whose thumbs it has."""

    def recent_work(self, check_name: str, since: datetime) -> RecentWork:
        """The pull requests that changed ``since`` then, with the check runs of that name on their heads.

        The newest change comes first, and at most ``MOST_RECENT`` are listed.
        """

    def create_check(self, commit: str, check: Check) -> int:
        """Make a check run that stands as ``check`` says; its id. More than fifty annotations take further requests."""

    def update_check(self, check_id: int, check: Check) -> None:
        """Make a check run stand as ``check`` says. Annotations are added in batches of fifty, the conclusion last."""

    def mark_check(self, check_id: int, external_id: str) -> None:
        """Give a check run another external id, and leave everything else of it."""

    def react(self, comment_id: int) -> None:
        """Show at a comment on the pull request that it was seen; again changes nothing."""

    def create_comment(self, number: int, body: str) -> int:
        """Comment on the pull request; the comment's id."""

    def update_comment(self, comment_id: int, body: str) -> None:
        """Put another text in the comment's place."""

    def delete_comment(self, comment_id: int) -> None:
        """Delete a comment."""

    def start_review(self, number: int, commit: str, body: str, comments: tuple[InlineComment, ...]) -> int:
        """Make a pending review, which nobody else sees; its id. One line outside the diff rejects all of it.

        An account has one pending review on a pull request: a second one raises ``ReviewPending``.
        """

    def submit_review(self, number: int, review_id: int) -> None:
        """Show a pending review to everybody, as COMMENT."""

    def discard_review(self, number: int, review_id: int) -> None:
        """Delete a pending review."""

    def add_label(self, number: int, label: str) -> None:
        """Put a label on; the forge makes one that does not exist."""

    def remove_label(self, number: int, label: str) -> None:
        """Take a label off; one that is not there is no error."""

    def request_review(self, number: int, reviewers: tuple[str, ...]) -> None:
        """Ask people (``login``) and teams (``org/team``) for their review."""

    def resolve_thread(self, thread_id: str) -> None:
        """Mark a thread of inline comments as resolved."""

    def is_protected(self, branch: str) -> bool:
        """Whether any rule guards a branch of this repository, or it is the default branch."""

    def tip(self, branch: str) -> str:
        """The commit that a branch of this repository ends with."""

    def make_commit(self, parent: str, files: tuple[CommittedFile, ...], message: str) -> MadeCommit:
        """Make a commit on ``parent`` with these files put into its tree. No branch leads to it yet."""

    def advance_branch(self, branch: str, commit: str) -> None:
        """Move a branch forward to a commit. Without force: one that does not rest on the branch's tip is rejected."""


class History(Protocol):
    """A merged pull request, and its base branch since. Raises ``SourceError`` for what is not there or too much."""

    @property
    def merged_at(self) -> datetime:
        """When it was merged."""

    def text(self, commit: str, path: str) -> str | None:
        """The text of a file at a commit; None if the commit or the file is not there."""

    def later(self) -> Iterator[tuple[str, str]]:
        """The commits on the base branch since, the oldest first: the name and the message of each."""


class Patcher(Protocol):
    """git, for whoever has files and no repository."""

    def apply(self, patch: str, files: tuple[CommittedFile, ...]) -> tuple[CommittedFile, ...]:
        """All files there are once ``patch`` is applied to ``files``. Raises ``PatchRefused``."""


MOST_LISTED = 3_000
"""GitHub lists no more files of a pull request."""

MOST_IN_FOLDER = 1_000
"""GitHub lists no more entries of a folder, and does not say that there are more."""

MOST_COMPARED = 300
"""GitHub lists no more files where it compares two commits."""

MOST_LISTED_COMMITS = 250
"""Nor more commits of a pull request."""

MOST_RECENT = 500
"""So many pull requests that changed lately are listed, however many there are."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of a pull request, as the forge lists it."""

    path: str
    old_path: str | None = None
    """Where a renamed file was before."""
    status: str = "modified"
    """GitHub's word for what happened to it."""
    patch: str | None = None
    """None where the forge shows none."""
    changed: int = 0
    """How many lines changed; 0 of a binary file."""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """What lies in a folder, by its whole path. GitHub tells a submodule as a file, which then has no content."""

    path: str
    kind: Literal["file", "folder", "other"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a commit brings over another: its files and its commits. ``whole``: the forge listed all of both."""

    files: tuple[ListedFile, ...]
    commits: tuple[BranchCommit, ...]
    whole: bool

    @property
    def paths(self) -> tuple[str, ...]:
        """Both sides of each file."""
        return tuple(path for file in self.files for path in (file.path, file.old_path) if path is not None)


@dataclass(frozen=True, slots=True)
class CommentableLines:
    """Lines of one file that are part of the forge's diff: ``right`` by new numbers, ``left`` by old ones."""

    right: frozenset[int]
    left: frozenset[int]


class ForgeError(Refusal):
    """A request to the forge did not do what it should. One sentence for the user."""

    exit_code = 12
    several_lines = True


class ForgeUnavailable(ForgeError):  # noqa: N818 (what the forge is, not what went wrong)
    """No answer, a server's error, or a limit: whether a write took effect is not known.

    ``wait``: after so many seconds the forge wants to be asked again; 0.0 where it does not say.
    """

    def __init__(self, sentence: str, wait: float = 0.0) -> None:
        super().__init__(sentence)
        self.wait = wait


class ReviewPending(ForgeUnavailable):
    """The account has a pending review on the pull request already. Nothing was written; it may be gone in a while."""


class ForgeDenied(ForgeError):  # noqa: N818 (as above)
    """The token may not do this."""


class ForgeMissing(ForgeError):  # noqa: N818 (as above)
    """What was asked for is not there, or not for this token."""


class ForgeRejected(ForgeError):  # noqa: N818 (as above)
    """The forge does not take these values."""
