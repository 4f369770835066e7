"""GitHub's REST and GraphQL responses, each field checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, Self, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import (
    AliasChoices,
    AliasPath,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from review_advisor.change.change import OBJECT_NAME
from review_advisor.change.pull_request import (
    GHOST,
    BranchCommit,
    LinkedIssue,
    Permission,
    PullRequest,
    Reaction,
    StandingRemark,
)
from review_advisor.github.forge import FolderEntry, ForgeError, ForgeRejected, ListedFile
from review_advisor.github.state import (
    CheckMark,
    RecentPullRequest,
    StandingCheck,
    StandingComment,
    StandingReview,
    Thread,
)
from review_advisor.github.writes import Annotation, Level
from review_advisor.safety.terminal import one_line
from review_advisor.safety.this_machine import is_this_machine


class Read(BaseModel):
    """Something that GitHub says, of which only the stated fields are read."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RestAccount(Read):
    """An account as REST tells it: a bot's name ends in ``[bot]``."""

    login: str
    type: str

    @property
    def is_bot(self) -> bool:
        """Whether it is an app's, by its type."""
        return self.type == "Bot"


class Identified(Read):
    """Something that was made, by its id."""

    id: int


class RepositoryAnswer(Read):
    """A repository; only whoever is signed in is told what they may do there."""

    id: int
    default_branch: str
    may_push: bool = Field(default=False, validation_alias=AliasPath("permissions", "push"))


class BranchAnswer(Read):
    """A branch. Rulesets do not count as protection."""

    tip: str = Field(validation_alias=AliasPath("commit", "sha"))
    protected: bool


class _FullName(Read):
    full_name: str


class _Label(Read):
    name: str


class PullRequestAnswer(Read):
    """A pull request, of a list or alone."""

    number: int
    title: str
    body: str | None
    user: RestAccount | None
    base_ref: str = Field(validation_alias=AliasPath("base", "ref"))
    base_sha: str = Field(validation_alias=AliasPath("base", "sha"))
    default_branch: str = Field(validation_alias=AliasPath("base", "repo", "default_branch"))
    head_ref: str = Field(validation_alias=AliasPath("head", "ref"))
    head_sha: str = Field(validation_alias=AliasPath("head", "sha"))
    head_repository: _FullName | None = Field(validation_alias=AliasPath("head", "repo"))
    state: Literal["open", "closed"]
    merged_at: AwareDatetime | None
    merge_commit_sha: str | None
    draft: bool | None = False
    labels: list[_Label]

    def value(self, repository: str) -> PullRequest:
        """The fact. ``repository`` is the one that was asked."""
        return PullRequest(
            repository=repository,
            number=self.number,
            title=self.title,
            body=self.body or "",
            author=self.user.login if self.user else GHOST,
            base_ref=self.base_ref,
            base_sha=self.base_sha,
            head_ref=self.head_ref,
            head_sha=self.head_sha,
            head_repository=self.head_repository.full_name if self.head_repository else None,
            state="merged" if self.merged_at else self.state,
            draft=bool(self.draft),
            labels=tuple(label.name for label in self.labels),
            merge_commit=(self.merge_commit_sha or "") if self.merged_at else "",  # of an open one it is a trial merge
            merged_at=self.merged_at,
            default_branch=self.default_branch,
            by_bot=self.user is not None and self.user.is_bot,
        )


_Nobody = Annotated[dict[str, Any], Field(max_length=0)]


class CommitAnswer(Read):
    """Who made a commit: accounts, or nothing that names one where a mail address is no account's."""

    sha: str
    author: RestAccount | _Nobody | None
    committer: RestAccount | _Nobody | None

    @property
    def names_author(self) -> bool:
        """Whether the author has an account."""
        return isinstance(self.author, RestAccount) and bool(self.author.login)

    def makers(self) -> tuple[str, ...]:
        """The accounts."""
        return tuple(
            each.login for each in (self.author, self.committer) if isinstance(each, RestAccount) and each.login
        )


class ComparedCommit(CommitAnswer):
    """A commit, with what tells who really made it."""

    message: str = Field(validation_alias=AliasPath("commit", "message"))
    verified: bool = Field(default=False, validation_alias=AliasPath("commit", "verification", "verified"))
    parents: list[Any]

    def value(self) -> BranchCommit:
        """The fact."""
        author = self.author if isinstance(self.author, RestAccount) else None
        committer = self.committer if isinstance(self.committer, RestAccount) else None
        return BranchCommit(
            sha=self.sha,
            author=author.login if author else "",
            by_bot=author is not None and author.is_bot,
            committer=committer.login if committer else "",
            verified=self.verified,
            parents=len(self.parents),
            message=self.message,
        )


class ActivityAnswer(Read):
    """A push; ``after`` is what the branch ended with, and ``actor`` whoever pushed."""

    after: str
    actor: RestAccount | None


class FileAnswer(Read):
    """A changed file; without ``patch`` where it is binary or too large to be shown."""

    filename: str
    patch: str | None = None
    status: str
    previous_filename: str | None = None
    changes: int = 0

    @model_validator(mode="after")
    def _was_somewhere(self) -> Self:
        if self.status == "renamed" and self.previous_filename is None:
            raise ValueError("a renamed file has no previous name")
        return self

    def value(self) -> ListedFile:
        """Its names, and what was done to it."""
        old = self.previous_filename if self.status == "renamed" else None
        return ListedFile(self.filename, old, self.status, self.patch, self.changes)


class ComparisonAnswer(Read):
    """What one commit brings over another. The files stand on its first page only."""

    total_commits: int
    commits: list[ComparedCommit]
    files: list[FileAnswer] | None = None


class ContentAnswer(Read):
    """A file, a symbolic link or a submodule. A link to a file comes as that file, under that file's ``path``."""

    type: str
    path: str
    size: int
    encoding: str | None = None
    content: str = ""


class EntryAnswer(Read):
    """What lies in a folder. A submodule is told as a file."""

    type: str
    path: str

    def value(self) -> FolderEntry:
        """The fact."""
        kinds: dict[str, Literal["file", "folder"]] = {"file": "file", "dir": "folder"}
        return FolderEntry(self.path, kinds.get(self.type, "other"))


class FoundAnswer(RootModel[ContentAnswer | list[EntryAnswer]]):
    """What stands at a path: a list for a folder."""


class PermissionAnswer(Read):
    """``permission`` is the older, coarser word, ``role_name`` the finer one, or the name of a custom role."""

    permission: str
    role_name: str | None = None

    def value(self) -> Permission:
        """The permission. A role refines what GitHub's older word grants; it never adds to it."""
        granted = {"admin": Permission.ADMIN, "write": Permission.WRITE, "read": Permission.READ}
        refined = {("write", "maintain"): Permission.MAINTAIN, ("read", "triage"): Permission.TRIAGE}
        fallback = granted.get(self.permission, Permission.NONE)
        return refined.get((self.permission, self.role_name or ""), fallback)


class AppAnswer(Read):
    """An app, by its name. GitHub documents that it may have none; it is no app of ours then."""

    slug: str = ""


class CheckAnswer(Read):
    """A check run."""

    id: int
    name: str
    external_id: str | None
    status: str
    conclusion: str | None
    app: AppAnswer | None
    title: str | None = Field(validation_alias=AliasPath("output", "title"))

    def value(self) -> StandingCheck:
        """The fact."""
        return StandingCheck(
            id=self.id,
            name=self.name,
            external_id=self.external_id or "",
            status=self.status,
            conclusion=self.conclusion,
            app=self.app.slug if self.app else "",
            title=self.title or "",
        )


class ChecksAnswer(Read):
    """One page of check runs."""

    check_runs: list[CheckAnswer]


class AnnotationAnswer(Read):
    """An annotation that stands."""

    path: str
    start_line: int
    end_line: int
    annotation_level: str | None
    title: str | None = None
    message: str | None = None

    def value(self) -> Annotation:
        """The fact. Its level may be one that is none of ours: it is only compared."""
        level = cast("Level", self.annotation_level)
        return Annotation(self.path, self.start_line, self.end_line, level, self.title or "", self.message or "")


class ReviewAnswer(Read):
    """A review."""

    id: int
    user: RestAccount | None
    body: str | None
    state: str

    def value(self) -> StandingReview:
        """The fact."""
        author = self.user.login if self.user else GHOST
        return StandingReview(self.id, author, self.body or "", pending=self.state == "PENDING")


class _Detail(Read):
    message: str | None = None
    field: str | None = None
    code: str | None = None

    def words(self) -> str:
        """What is wrong, as far as GitHub says."""
        return self.message or " ".join(filter(None, [self.field, self.code]))


class RefusalBody(Read):
    """The body of an answer with an error's status."""

    message: str = ""
    errors: tuple[str | _Detail, ...] = ()

    @field_validator("errors", mode="before")
    @classmethod
    def _listed(cls, errors: object) -> object:
        """GitHub writes one error as a bare text at times."""
        return [errors] if isinstance(errors, str) else errors or []


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
        reactions = [each for each in first.reactions.nodes if each]
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
                for each in reactions
                if each.content in _THUMBS
            ),
            uncounted=first.reactions.counted > len(reactions),
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


class RecentNode(Read):
    """A pull request with the check runs on its head. One that is shaped otherwise is an error: it may have cost."""

    number: int
    updated_at: AwareDatetime = Field(alias="updatedAt")
    closed_at: AwareDatetime | None = Field(alias="closedAt")
    from_fork: bool = Field(alias="isCrossRepository")
    commits: _Part[_HeadCommit]

    def value(self) -> RecentPullRequest:
        """The fact. Without a commit, as after its branch was reset to the base, nobody can tell what it has cost."""
        head = self.commits.first
        marks = None if head is None else tuple(mark for suite in head.suites.nodes for mark in suite.marks())
        return RecentPullRequest(self.number, marks, self.closed_at, self.from_fork)


def _or_null(value: object, read: ValidatorFunctionWrapHandler) -> RecentNode | None:
    """None where all that is wrong is null: GraphQL puts it in the place of what it fails to show."""
    try:
        found: RecentNode = read(value)
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


def _paged(field: str, selection: str) -> str:
    return f"""
query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      page: {field}(first: 100, after: $after) {{
        nodes {{ {selection} }}
        pageInfo {{ hasNextPage endCursor }}
      }}
    }}
  }}
}}"""


_ACTOR = "{ __typename login }"
COMMENTS = _paged("comments", f"fullDatabaseId author {_ACTOR} body editor {_ACTOR} lastEditedAt")

THREADS = _paged(
    "reviewThreads",
    f"id isResolved isOutdated comments(first: 1) {{ nodes {{ fullDatabaseId author {_ACTOR} body }} }}",
)

REMARKS = _paged(
    "reviewThreads",
    "path diffSide originalLine originalStartLine isResolved resolvedBy { login } comments(first: 1) { nodes {"
    f" author {_ACTOR} body editor {_ACTOR} lastEditedAt originalCommit {{ oid }}"
    " reactions(first: 100) { totalCount nodes { content user { login } } } } }",
)

LINKED_ISSUES = _paged("closingIssuesReferences", "number title body repository { nameWithOwner }")

RECENT = """
query($owner: String!, $name: String!, $check: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    page: pullRequests(first: 50, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      nodes {
        number updatedAt closedAt isCrossRepository
        commits(last: 1) { nodes { commit {
          checkSuites(first: 20, filterBy: {checkName: $check}) { nodes {
            app { slug }
            checkRuns(first: 20, filterBy: {checkName: $check, checkType: ALL}) { nodes { externalId conclusion } }
          } }
        } } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}"""

RESOLVE_THREAD = """
mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { id isResolved } } }"""

DEFAULT_API_URL = "https://api.github.com"
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_PRINTABLE = re.compile(r"[!-~]+")
_COMMIT = re.compile(OBJECT_NAME)
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?")
_MOST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class ApiAddress:
    """The base URL of GitHub's REST API, without a slash at its end, and its parts."""

    url: str
    scheme: str
    host: str
    port: int | None
    loopback: bool


def api_address(url: str) -> ApiAddress:
    """A checked base URL; empty is GitHub's own. ``https``, or ``http`` on this machine; no credentials, no query.

    Raises ``ForgeError``; its sentence never repeats the URL, which may hold a secret.
    """
    given = url.strip() or DEFAULT_API_URL
    try:
        parts = urlsplit(given)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ForgeError("GitHub's API URL cannot be read.") from None
    if parts.username is not None or parts.password is not None:
        raise ForgeError("GitHub's API URL holds credentials: give the token by its own variable instead.")
    if not _PRINTABLE.fullmatch(given) or not _HOST.fullmatch(host) or "\\" in given or parts.query or parts.fragment:
        raise ForgeError("GitHub's API URL must be a host and a path, such as https://ghe.example.com/api/v3.")
    loopback = is_this_machine(host)
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
        raise ForgeError("GitHub's API URL must begin with https://: anything else would show the token to others.")
    return ApiAddress(given.rstrip("/"), parts.scheme, host, port, loopback)


def repository_name(name: str) -> str:
    """``owner/name``, checked. Raises ``ForgeError``."""
    if not _REPOSITORY.fullmatch(name):
        raise ForgeError(f"{quoted(name)} is not the name of a repository: write OWNER/NAME.")
    return name


def token_value(token: str) -> str:
    """A token that may stand in a header. Raises ``ForgeError``, whose sentence never repeats it."""
    given = token.strip()
    if not given:
        raise ForgeError("There is no GitHub token: set GITHUB_TOKEN.")
    if not _PRINTABLE.fullmatch(given):
        raise ForgeError("The GitHub token holds spaces or control characters, so it was not copied whole.")
    return given


def commit_name(commit: str) -> str:
    """A commit's full object name. Raises ``ForgeRejected``."""
    if not _COMMIT.fullmatch(commit):
        raise ForgeRejected(f"{quoted(commit)} is not the full name of a commit.")
    return commit


def is_login(login: str) -> bool:
    """Whether an account can have this name."""
    return _LOGIN.fullmatch(login) is not None


def quoted(text: str) -> str:
    """A name from outside in quotes, short and on one line, for a sentence."""
    line = one_line(text)
    return repr(line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}...")
