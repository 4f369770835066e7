"""GraphQL's answers, read: what REST does not know of a pull request's conversation, page by page."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import Field

from review_advisor.adapters.github.rest_answers import Read
from review_advisor.core.facts.pull_request import GHOST, LinkedIssue
from review_advisor.core.facts.remark import Reaction, StandingRemark
from review_advisor.core.pull_request.standing import StandingComment, Thread

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


class CommentNode(Read):
    """A comment as GraphQL tells it, which alone knows who edited it. Its old id holds 32 bits only."""

    id: int = Field(alias="fullDatabaseId")
    author: Actor | None
    body: str
    editor: Actor | None
    edited_at: str | None = Field(alias="lastEditedAt")

    def value(self) -> StandingComment:
        """The fact. An editor whose account is deleted has still edited."""
        edited_by = self.editor.name() if self.editor else GHOST if self.edited_at else ""
        author = self.author.name() if self.author else GHOST
        return StandingComment(self.id, author, self.body, edited_by, self.edited_at or "")


class _Remark(Read):
    id: int = Field(alias="fullDatabaseId")
    author: Actor | None
    body: str


class _Remarks(Read):
    total: int = Field(alias="totalCount")
    nodes: list[_Remark | None]


class ThreadNode(Read):
    """A thread of inline comments."""

    id: str
    path: str
    resolved: bool = Field(alias="isResolved")
    outdated: bool = Field(alias="isOutdated")
    comments: _Remarks

    @property
    def begun(self) -> int:
        """The id of its first comment, which are given upwards; 0 without one."""
        first = self.comments.nodes[0] if self.comments.nodes else None
        return first.id if first else 0

    def value(self) -> Thread:
        """The fact. A thread whose comments are all deleted says nothing, by nobody."""
        first = self.comments.nodes[0] if self.comments.nodes else None
        return Thread(
            id=self.id,
            author=first.author.name() if first and first.author else GHOST,
            body=first.body if first else "",
            path=self.path,
            resolved=self.resolved,
            outdated=self.outdated,
            replies=max(self.comments.total - 1, 0),
        )


class _Login(Read):
    login: str


class _Oid(Read):
    oid: str


class _ReactionNode(Read):
    content: str
    user: _Login | None


class _Reactions(Read):
    total: int = Field(alias="totalCount")
    nodes: list[_ReactionNode | None]


class _FirstRemark(Read):
    author: Actor | None
    body: str
    editor: Actor | None
    edited_at: str | None = Field(alias="lastEditedAt")
    commit: _Oid | None = Field(alias="originalCommit")
    reactions: _Reactions


class _FirstRemarks(Read):
    nodes: list[_FirstRemark | None]


class RemarkNode(Read):
    """A thread of inline comments, with what became of its first one."""

    path: str
    side: str = Field(alias="diffSide")
    line: int | None = Field(alias="originalLine")
    start_line: int | None = Field(alias="originalStartLine")
    resolved: bool = Field(alias="isResolved")
    resolved_by: _Login | None = Field(alias="resolvedBy")
    comments: _FirstRemarks

    def value(self) -> StandingRemark | None:
        """The fact; None for a thread whose comments are all deleted."""
        first = self.comments.nodes[0] if self.comments.nodes else None
        if first is None:
            return None
        thumbs = [each for each in first.reactions.nodes if each and each.content in _THUMBS]
        return StandingRemark(
            author=first.author.name() if first.author else GHOST,
            body=first.body,
            edited_by=first.editor.name() if first.editor else GHOST if first.edited_at else "",
            path=self.path,
            commit=first.commit.oid if first.commit else "",
            start_line=self.start_line or self.line or 0,
            line=self.line or 0,
            removed=self.side == "LEFT",
            resolved=self.resolved,
            resolved_by=self.resolved_by.login if self.resolved_by else "",
            reactions=tuple(Reaction(e.user.login if e.user else "", e.content == "THUMBS_UP") for e in thumbs),
            uncounted=first.reactions.total > len(first.reactions.nodes),
        )


class _NamedWithOwner(Read):
    name: str = Field(alias="nameWithOwner")


class IssueNode(Read):
    """An issue that a pull request closes."""

    number: int
    title: str
    body: str
    repository: _NamedWithOwner

    def value(self) -> LinkedIssue:
        """The fact."""
        return LinkedIssue(self.repository.name, self.number, self.title, self.body)


class _PageInfo(Read):
    more: bool = Field(alias="hasNextPage")
    cursor: str | None = Field(alias="endCursor")


class Connection(Read, Generic[Node]):
    """One page of GraphQL's; what the token may not see is null in it."""

    nodes: list[Node | None]
    info: _PageInfo = Field(alias="pageInfo")


class _PullRequestNode(Read, Generic[Node]):
    page: Connection[Node]


class _RepositoryNode(Read, Generic[Node]):
    pull_request: _PullRequestNode[Node] = Field(alias="pullRequest")


class Root(Read, Generic[Node]):
    """The data of a query for one page of something of a pull request."""

    repository: _RepositoryNode[Node]


class GraphProblem(Read):
    """One of GraphQL's errors. A mistake in the query has no type, but extensions."""

    message: str = ""
    type: str | None = None
    extensions: dict[str, Any] | None = None


class GraphAnswer(Read):
    """GraphQL's envelope."""

    data: dict[str, Any] | None = None
    errors: tuple[GraphProblem, ...] = ()
