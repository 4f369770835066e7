"""GraphQL's answers, read: what REST does not know of a pull request's conversation, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from pydantic import AliasChoices, AliasPath, AwareDatetime, Field

from review_advisor.adapters.github.rest_answers import Read
from review_advisor.core.facts.pull_request import GHOST, LinkedIssue
from review_advisor.core.facts.remark import Reaction, StandingRemark
from review_advisor.core.pull_request.standing import CheckMark, RecentPullRequest, StandingComment, Thread

Node = TypeVar("Node")
_BOT_ENDING = "[bot]"
_THUMBS = ("THUMBS_UP", "THUMBS_DOWN")


class Actor(Read):
    """An account as GraphQL tells it."""

    kind: str = Field(alias="__typename")
    login: str

    def name(self) -> str:
        """REST's name of it: GraphQL leaves out the ending of a bot's."""
        return self.login if self.kind != "Bot" or self.login.endswith(_BOT_ENDING) else f"{self.login}{_BOT_ENDING}"


def _name_of(actor: Actor | None) -> str:
    return actor.name() if actor else GHOST


class CommentNode(Read):
    """A comment as GraphQL tells it, which alone knows who edited it. Its old id holds 32 bits only."""

    id: int = Field(alias="fullDatabaseId")
    author: Actor | None
    body: str
    editor: Actor | None
    edited_at: str | None = Field(alias="lastEditedAt")

    def value(self) -> StandingComment:
        """The fact. An editor whose account is deleted has still edited."""
        edited_by = _name_of(self.editor) if self.editor or self.edited_at else ""
        return StandingComment(self.id, _name_of(self.author), self.body, edited_by, self.edited_at or "")


class _Remark(Read):
    id: int = Field(alias="fullDatabaseId")
    author: Actor | None
    body: str


class ThreadNode(Read):
    """A thread of inline comments."""

    id: str
    path: str
    resolved: bool = Field(alias="isResolved")
    outdated: bool = Field(alias="isOutdated")
    comments: int = Field(validation_alias=AliasPath("comments", "totalCount"))
    first: _Remark | None = Field(default=None, validation_alias=AliasPath("comments", "nodes", 0))

    @property
    def begun(self) -> int:
        """The id of its first comment, which are given upwards; 0 without one."""
        return self.first.id if self.first else 0

    def value(self) -> Thread:
        """The fact. A thread whose comments are all deleted says nothing, by nobody."""
        return Thread(
            id=self.id,
            author=_name_of(self.first.author if self.first else None),
            body=self.first.body if self.first else "",
            path=self.path,
            resolved=self.resolved,
            outdated=self.outdated,
            replies=max(self.comments - 1, 0),
        )


class _ReactionNode(Read):
    content: str
    by: str = Field(default="", validation_alias=AliasPath("user", "login"))


class _FirstRemark(Read):
    author: Actor | None
    body: str
    editor: Actor | None
    edited_at: str | None = Field(alias="lastEditedAt")
    commit: str = Field(default="", validation_alias=AliasPath("originalCommit", "oid"))
    counted: int = Field(validation_alias=AliasPath("reactions", "totalCount"))
    reactions: list[_ReactionNode | None] = Field(validation_alias=AliasPath("reactions", "nodes"))


class RemarkNode(Read):
    """A thread of inline comments, with what became of its first one."""

    path: str
    side: str = Field(alias="diffSide")
    line: int | None = Field(alias="originalLine")
    start_line: int | None = Field(alias="originalStartLine")
    resolved: bool = Field(alias="isResolved")
    resolved_by: str = Field(default="", validation_alias=AliasPath("resolvedBy", "login"))
    first: _FirstRemark | None = Field(default=None, validation_alias=AliasPath("comments", "nodes", 0))

    def value(self) -> StandingRemark | None:
        """The fact; None for a thread whose comments are all deleted."""
        first = self.first
        if first is None:
            return None
        thumbs = [each for each in first.reactions if each and each.content in _THUMBS]
        return StandingRemark(
            author=_name_of(first.author),
            body=first.body,
            edited_by=_name_of(first.editor) if first.editor or first.edited_at else "",
            path=self.path,
            commit=first.commit,
            start_line=self.start_line or self.line or 0,
            line=self.line or 0,
            removed=self.side == "LEFT",
            resolved=self.resolved,
            resolved_by=self.resolved_by,
            reactions=tuple(Reaction(each.by, each.content == "THUMBS_UP") for each in thumbs),
            uncounted=first.counted > len(first.reactions),
        )


class IssueNode(Read):
    """An issue that a pull request closes."""

    number: int
    title: str
    body: str
    repository: str = Field(validation_alias=AliasPath("repository", "nameWithOwner"))

    def value(self) -> LinkedIssue:
        """The fact."""
        return LinkedIssue(self.repository, self.number, self.title, self.body)


class _CheckRunNode(Read):
    external_id: str | None = Field(alias="externalId")
    conclusion: str | None


class _CheckSuite(Read):
    app: str = Field(default="", validation_alias=AliasPath("app", "slug"))
    check_runs: list[_CheckRunNode | None] = Field(default=[], validation_alias=AliasPath("checkRuns", "nodes"))

    def marks(self) -> Iterator[CheckMark]:
        """What its check runs say of themselves."""
        for run in filter(None, self.check_runs):
            yield CheckMark(self.app, run.external_id or "", run.conclusion is None)


class RecentNode(Read):
    """A pull request with the check runs on its head."""

    number: int
    updated_at: AwareDatetime = Field(alias="updatedAt")
    author: int | None = Field(default=None, validation_alias=AliasPath("author", "databaseId"))
    suites: list[_CheckSuite | None] = Field(
        default=[], validation_alias=AliasPath("commits", "nodes", 0, "commit", "checkSuites", "nodes")
    )

    def value(self) -> RecentPullRequest:
        """The fact."""
        marks = (mark for suite in filter(None, self.suites) for mark in suite.marks())
        return RecentPullRequest(self.number, self.author or 0, tuple(marks))


class Connection(Read, Generic[Node]):
    """One page of GraphQL's; what the token may not see is null in it."""

    nodes: list[Node | None]
    more: bool = Field(validation_alias=AliasPath("pageInfo", "hasNextPage"))
    cursor: str | None = Field(validation_alias=AliasPath("pageInfo", "endCursor"))


class Root(Read, Generic[Node]):
    """The data of a query for one page of something of a pull request, or of a repository."""

    page: Connection[Node] = Field(
        validation_alias=AliasChoices(AliasPath("repository", "pullRequest", "page"), AliasPath("repository", "page"))
    )


class GraphProblem(Read):
    """One of GraphQL's errors. A mistake in the query has no type, but extensions."""

    message: str = ""
    type: str | None = None
    extensions: dict[str, Any] | None = None


class GraphAnswer(Read):
    """GraphQL's envelope."""

    data: dict[str, Any] | None = None
    errors: tuple[GraphProblem, ...] = ()
