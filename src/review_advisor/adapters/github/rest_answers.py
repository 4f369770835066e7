"""REST's answers, read: only what is used, each field checked, and what may be missing said to be."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, cast

from pydantic import AliasPath, AwareDatetime, BaseModel, ConfigDict, Field, RootModel, field_validator, model_validator

from review_advisor.core.facts.pull_request import GHOST, BranchCommit, Permission, PullRequest
from review_advisor.core.pull_request.standing import StandingCheck, StandingReview
from review_advisor.core.pull_request.writes import Annotation, Level
from review_advisor.ports.forge import FolderEntry, ListedFile


class Read(BaseModel):
    """Something that GitHub says, of which only the stated fields are read."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RestAccount(Read):
    """An account as REST tells it: a bot's name ends in ``[bot]``."""

    login: str
    type: str
    id: int

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
            author_id=self.user.id if self.user else 0,
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


class Refusal(Read):
    """The body of an answer with an error's status."""

    message: str = ""
    errors: tuple[str | _Detail, ...] = ()

    @field_validator("errors", mode="before")
    @classmethod
    def _listed(cls, errors: object) -> object:
        """GitHub writes one error as a bare text at times."""
        return [errors] if isinstance(errors, str) else errors or []
