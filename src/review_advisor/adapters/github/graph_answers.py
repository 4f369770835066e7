"""GraphQL's answers, read: what REST does not know of a pull request's conversation, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from pydantic import AwareDatetime, Field

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


class _App(Read):
    slug: str


class _CheckRunNode(Read):
    external_id: str | None = Field(alias="externalId")
    conclusion: str | None


class _CheckRuns(Read):
    nodes: list[_CheckRunNode | None]


class _CheckSuite(Read):
    app: _App | None
    check_runs: _CheckRuns | None = Field(alias="checkRuns")

    def marks(self) -> Iterator[CheckMark]:
        """What its check runs say of themselves."""
        for run in filter(None, self.check_runs.nodes if self.check_runs else ()):
            yield CheckMark(self.app.slug if self.app else "", run.external_id or "", run.conclusion is None)


class _CheckSuites(Read):
    nodes: list[_CheckSuite | None]


class _CheckedCommit(Read):
    suites: _CheckSuites | None = Field(alias="checkSuites")


class _CommitNode(Read):
    commit: _CheckedCommit


class _CommitNodes(Read):
    nodes: list[_CommitNode | None]


class _NumberedActor(Read):
    id: int | None = Field(default=None, alias="databaseId")


class RecentNode(Read):
    """A pull request with the check runs on its head."""

    number: int
    updated_at: AwareDatetime = Field(alias="updatedAt")
    author: _NumberedActor | None
    commits: _CommitNodes

    def value(self) -> RecentPullRequest:
        """The fact."""
        suites = (each.commit.suites for each in self.commits.nodes if each)
        marks = (mark for found in suites if found for suite in found.nodes if suite for mark in suite.marks())
        return RecentPullRequest(self.number, (self.author.id if self.author else None) or 0, tuple(marks))


class _PageInfo(Read):
    more: bool = Field(alias="hasNextPage")
    cursor: str | None = Field(alias="endCursor")


class Connection(Read, Generic[Node]):
    """One page of GraphQL's; what the token may not see is null in it."""

    nodes: list[Node | None]
    info: _PageInfo = Field(alias="pageInfo")


class _Paged(Read, Generic[Node]):
    page: Connection[Node]


class _RepositoryNode(Read, Generic[Node]):
    pull_request: _Paged[Node] = Field(alias="pullRequest")


class Root(Read, Generic[Node]):
    """The data of a query for one page of something of a pull request."""

    repository: _RepositoryNode[Node]

    @property
    def page(self) -> Connection[Node]:
        """The page."""
        return self.repository.pull_request.page


class RepositoryRoot(Read, Generic[Node]):
    """The same of something of a repository."""

    repository: _Paged[Node]

    @property
    def page(self) -> Connection[Node]:
        """The page."""
        return self.repository.page


class GraphProblem(Read):
    """One of GraphQL's errors. A mistake in the query has no type, but extensions."""

    message: str = ""
    type: str | None = None
    extensions: dict[str, Any] | None = None


class GraphAnswer(Read):
    """GraphQL's envelope."""

    data: dict[str, Any] | None = None
    errors: tuple[GraphProblem, ...] = ()
