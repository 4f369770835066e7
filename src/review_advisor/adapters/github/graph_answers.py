"""GraphQL's answers, read: what REST does not know of a pull request's conversation, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import (
    AliasChoices,
    AliasPath,
    AwareDatetime,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from review_advisor.adapters.github.rest_answers import Read
from review_advisor.core.facts.pull_request import GHOST, LinkedIssue
from review_advisor.core.facts.remark import Reaction, StandingRemark
from review_advisor.core.pull_request.standing import CheckMark, RecentPullRequest, StandingComment, Thread

Node = TypeVar("Node")
_BOT_ENDING = "[bot]"
_THUMBS = ("THUMBS_UP", "THUMBS_DOWN")
_NUMBERED = ("User", "Bot")
"""Accounts whose number is asked for."""


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


class _Part(Read, Generic[Node]):
    """So many of something as were asked for."""

    nodes: list[Node]

    @property
    def first(self) -> Node | None:
        return self.nodes[0] if self.nodes else None


class _Named(Read):
    login: str


class _Remark(Read):
    id: int = Field(alias="fullDatabaseId")
    author: Actor | None
    body: str


class ThreadNode(Read):
    """A thread of inline comments."""

    id: str
    resolved: bool = Field(alias="isResolved")
    outdated: bool = Field(alias="isOutdated")
    comments: _Part[_Remark]

    @property
    def begun(self) -> int:
        """The id of its first comment, which are given upwards; 0 without one."""
        return self.comments.first.id if self.comments.first else 0

    def value(self) -> Thread:
        """The fact. A thread whose comments are all deleted says nothing, by nobody."""
        first = self.comments.first
        return Thread(
            id=self.id,
            author=_name_of(first.author if first else None),
            body=first.body if first else "",
            resolved=self.resolved,
            outdated=self.outdated,
        )


class _ReactionNode(Read):
    content: str
    user: _Named | None


class _Reactions(Read):
    counted: int = Field(alias="totalCount")
    nodes: list[_ReactionNode | None]


class _Commit(Read):
    oid: str


class _FirstRemark(Read):
    author: Actor | None
    body: str
    editor: Actor | None
    edited_at: str | None = Field(alias="lastEditedAt")
    commit: _Commit | None = Field(alias="originalCommit")
    reactions: _Reactions


class RemarkNode(Read):
    """A thread of inline comments, with what became of its first one."""

    path: str
    side: str = Field(alias="diffSide")
    line: int | None = Field(alias="originalLine")
    start_line: int | None = Field(alias="originalStartLine")
    resolved: bool = Field(alias="isResolved")
    resolved_by: _Named | None = Field(alias="resolvedBy")
    comments: _Part[_FirstRemark]

    def value(self) -> StandingRemark | None:
        """The fact; None for a thread whose comments are all deleted. A reaction that is not shown is not counted."""
        first = self.comments.first
        if first is None:
            return None
        shown = [each for each in first.reactions.nodes if each]
        return StandingRemark(
            author=_name_of(first.author),
            body=first.body,
            edited_by=_name_of(first.editor) if first.editor or first.edited_at else "",
            path=self.path,
            commit=first.commit.oid if first.commit else "",
            start_line=self.start_line or self.line or 0,
            line=self.line or 0,
            removed=self.side == "LEFT",
            resolved=self.resolved,
            resolved_by=self.resolved_by.login if self.resolved_by else "",
            reactions=tuple(
                Reaction(each.user.login if each.user else "", each.content == "THUMBS_UP")
                for each in shown
                if each.content in _THUMBS
            ),
            uncounted=first.reactions.counted > len(shown),
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


class _App(Read):
    slug: str


class _CheckSuite(Read):
    app: _App | None
    check_runs: _Part[_CheckRunNode] = Field(alias="checkRuns")

    def marks(self) -> Iterator[CheckMark]:
        """What its check runs say of themselves. Our own app can be seen: one that cannot is another one."""
        for run in self.check_runs.nodes:
            yield CheckMark(self.app.slug if self.app else "", run.external_id or "", run.conclusion is None)


class _HeadCommit(Read):
    suites: _Part[_CheckSuite] = Field(validation_alias=AliasPath("commit", "checkSuites"))


class _RecentAuthor(Read):
    kind: str = Field(alias="__typename")
    id: int = Field(default=0, validation_alias="databaseId")

    @model_validator(mode="after")
    def _is_numbered(self) -> Self:
        if not self.id and self.kind in _NUMBERED:
            raise ValueError("the account has no number")
        return self


class RecentNode(Read):
    """A pull request with the check runs on its head. One that is shaped otherwise is an error: it may have cost."""

    number: int
    updated_at: AwareDatetime = Field(alias="updatedAt")
    closed_at: AwareDatetime | None = Field(alias="closedAt")
    from_fork: bool = Field(alias="isCrossRepository")
    author: _RecentAuthor | None
    commits: _Part[_HeadCommit]

    def value(self) -> RecentPullRequest:
        """The fact. Without a commit, as after its branch was reset to the base, nobody can tell what it has cost."""
        head = self.commits.first
        marks = None if head is None else tuple(mark for suite in head.suites.nodes for mark in suite.marks())
        author = self.author.id if self.author else 0
        return RecentPullRequest(self.number, author, marks, self.closed_at, self.from_fork)


def _or_null(told: object, read: ValidatorFunctionWrapHandler) -> RecentNode | None:
    """None where all that is wrong is null: GraphQL puts it in the place of what it fails to show."""
    try:
        found: RecentNode = read(told)
    except ValidationError as error:
        if all(each["input"] is None for each in error.errors(include_url=False)):
            return None
        raise
    return found


RecentNodeOrNull = Annotated[RecentNode | None, WrapValidator(_or_null)]
"""A pull request; None where GitHub puts null in the place of one of its parts. Any other shape is an error."""


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
