"""GraphQL's answers, read: what REST does not know of a pull request's conversation, page by page."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import Field

from review_advisor.adapters.github.answers import Read
from review_advisor.core.facts.pull_request import GHOST, LinkedIssue
from review_advisor.core.publication.standing import StandingComment, Thread

Node = TypeVar("Node")
_BOT_ENDING = "[bot]"


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
        return StandingComment(self.id, self.author.name() if self.author else GHOST, self.body, edited_by)


class _Remark(Read):
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
