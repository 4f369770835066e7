"""What already stands on a pull request, as it was read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class StandingCheck:
    """A check run on a commit. ``conclusion`` is None while it is in progress; ``app`` is the slug of its app."""

    id: int
    name: str
    external_id: str
    status: str
    conclusion: str | None
    app: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class CheckMark:
    """What a check run says of itself: by which app, under which external id, and whether it is in progress."""

    app: str
    external_id: str
    in_progress: bool


@dataclass(frozen=True, slots=True)
class RecentPullRequest:
    """A pull request that changed lately, and the check runs of one name on its head.

    ``author_id`` is 0 where the forge names no author; ``checks`` are None where it has no head that could bear any.
    ``closed_at`` is None while it is open.
    """

    number: int
    author_id: int
    checks: tuple[CheckMark, ...] | None
    closed_at: datetime | None = None
    from_fork: bool = False


@dataclass(frozen=True, slots=True)
class RecentWork:
    """The pull requests that changed lately, the newest change first. ``whole``: the forge listed all of them."""

    pull_requests: tuple[RecentPullRequest, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class StandingComment:
    """A comment on the pull request. Who edited it last, and when; both are empty if nobody did."""

    id: int
    author: str
    body: str
    edited_by: str = ""
    edited_at: str = ""


@dataclass(frozen=True, slots=True)
class StandingReview:
    """A review. A pending one is seen by its author only, and there is at most one of it."""

    id: int
    author: str
    body: str
    pending: bool


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of inline comments; ``author`` and ``body`` are of its first. ``id`` is GraphQL's."""

    id: str
    author: str
    body: str
    resolved: bool
    outdated: bool
