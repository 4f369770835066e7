"""The simulated GitHub as the forge that the bot reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypeVar

from review_advisor.change.change import EXECUTABLE_MODE, REGULAR_MODE, SUBMODULE_MODE, CommittedFile
from review_advisor.change.pull_request import (
    BranchCommit,
    LinkedIssue,
    Makers,
    Permission,
    PullRequest,
    Reaction,
    StandingRemark,
)
from review_advisor.github.forge import (
    MOST_COMPARED,
    MOST_IN_FOLDER,
    MOST_LISTED_COMMITS,
    MOST_RECENT,
    CommentableLines,
    Comparison,
    FolderEntry,
    ForgeDenied,
    ForgeError,
    ForgeMissing,
    ForgeRejected,
    ForgeUnavailable,
    ListedFile,
    ReviewPending,
)
from review_advisor.github.state import RecentWork, StandingCheck, StandingComment, StandingReview, Thread
from review_advisor.github.writes import Check, InlineComment, MadeCommit, in_requests, missing_annotations
from review_advisor.mockworld.copies import FOLDER_MODE
from review_advisor.mockworld.github import GitHub, moment, time_of
from review_advisor.mockworld.github_doors import (
    NO_COMMIT,
    NO_LABEL,
    ONE_PENDING,
    CheckValues,
    Session,
    StandingPath,
    TreeEntry,
    values_of,
)
from review_advisor.mockworld.github_records import CheckRun, IssueComment, Pull, Review, ReviewThread
from review_advisor.mockworld.github_traffic import Limited, RefusedRequest, Trouble

MOST_READS = 4
"""How often a read is made before its trouble is the caller's; a limit is not waited for."""

MOST_BYTES = 1_000_000

MOST_PUSHES = 1_000
"""So many pushes of a branch are read."""

_Answer = TypeVar("_Answer")

_KINDS: Mapping[str, Literal["file", "folder"]] = {
    REGULAR_MODE: "file",
    EXECUTABLE_MODE: "file",
    FOLDER_MODE: "folder",
    SUBMODULE_MODE: "file",
}
"""As GitHub lists them: a submodule as a file."""


class FakeForge:
    """A repository of the model as the token of ``account`` reaches it (see ``GitHub.workflow_token`` and its kin)."""

    def __init__(self, github: GitHub, repository: str, account: str) -> None:
        self._github = github
        self._repository = repository
        self._session = Session(github, repository, github.tokens[account])

    def pull_request(self, number: int) -> PullRequest:
        """See ``Forge``."""
        return self._read(lambda: self._fact_of(self._session.facts.pull(number)))

    def open_pull_requests(self, head_sha: str) -> tuple[PullRequest, ...]:
        """See ``Forge``."""
        found = self._read(lambda: [self._fact_of(pull) for pull in self._session.facts.pulls()])
        return tuple(pull for pull in found if pull.head_sha == head_sha)

    def makers(self, pull_request: PullRequest) -> Makers:
        """See ``Forge``."""
        commits = self._read(lambda: self._session.facts.commits(pull_request.number))
        pushed = self.pushers(pull_request, {each.sha for each in commits})
        named = all(each.author for each in commits) and len(commits) < MOST_LISTED_COMMITS
        makers = (*(each.author for each in commits if each.author), *pushed.logins)
        return Makers(tuple(dict.fromkeys(makers)), whole=named and pushed.whole)

    def pushers(self, pull_request: PullRequest, commits: AbstractSet[str]) -> Makers:
        """See ``Forge``."""
        place = pull_request.head_repository
        try:
            pushes = self._read(lambda: self._session.facts.pushes(place, pull_request.head_ref)) if place else ()
        except (ForgeMissing, ForgeDenied):
            pushes = ()
        ours = [each for each in pushes[:MOST_PUSHES] if each.after in commits]
        known = pull_request.head_sha in {each.after for each in ours} and len(pushes) <= MOST_PUSHES
        return Makers(tuple(dict.fromkeys(each.login for each in ours)), whole=known)

    def pushed_heads(self, pull_request: PullRequest) -> tuple[str, ...]:
        """See ``Forge``."""
        place = pull_request.head_repository
        pushes = self._read(lambda: self._session.facts.pushes(place, pull_request.head_ref)) if place else ()
        return tuple(dict.fromkeys(each.after for each in pushes[:100]))

    def recent_work(self, check_name: str, since: datetime) -> RecentWork:
        """See ``Forge``."""
        every = self._read(lambda: self._session.facts.recent(check_name))
        found = tuple(each.fact for each in every if time_of(each.at) >= since)
        return RecentWork(found[:MOST_RECENT], whole=len(found) <= MOST_RECENT)

    def compared(self, base: str, head: str) -> Comparison:
        """See ``Forge``."""
        files, commits = self._read(lambda: self._session.facts.compared(base, head))
        brought = tuple(
            BranchCommit(
                each.sha,
                each.author,
                self._github.is_bot(each.author),
                each.committer or each.author,
                each.verified,
                len(each.parents),
                each.message,
            )
            for each in commits
        )
        listed = tuple(ListedFile(file.path, file.previous_path, file.status, file.patch) for file in files)
        return Comparison(listed, brought, whole=len(files) < MOST_COMPARED)

    def linked_issues(self, number: int) -> tuple[LinkedIssue, ...]:
        """See ``Forge``."""
        found = self._read(lambda: self._session.facts.closing_issues(number))
        issues = [LinkedIssue(place.name, issue.number, issue.title, issue.body) for place, issue in found]
        return tuple(sorted(issues, key=lambda issue: issue.number))

    def permission(self, login: str) -> Permission:
        """See ``Forge``; none for an account that GitHub does not know."""
        try:
            return self._read(lambda: self._session.facts.permission(login))[1]
        except ForgeMissing:
            return Permission.NONE

    def file(self, path: str, commit: str) -> bytes | None:
        """See ``Forge``."""
        found = self._content(path, commit)
        if isinstance(found, list):
            return None
        if len(found[1]) > MOST_BYTES:
            raise ForgeRejected(f"{path} is larger than 1 MB.")
        return found[1]

    def folder(self, path: str, commit: str) -> tuple[FolderEntry, ...]:
        """See ``Forge``."""
        found = self._content(path, commit)
        if not isinstance(found, list):
            return (FolderEntry(path, "other"),)
        if len(found) >= MOST_IN_FOLDER:
            raise ForgeRejected(f"{path} has too many entries.")
        return tuple(FolderEntry(each.path, _KINDS.get(each.mode, "other")) for each in found)

    def _content(self, path: str, commit: str) -> tuple[str, bytes] | list[StandingPath]:
        """What stands at a path; as in an empty folder, where nothing does."""
        try:
            return self._read(lambda: self._session.facts.content(path, commit))
        except ForgeMissing as gone:
            if str(gone).startswith(NO_COMMIT):
                raise
            return []

    def changed_files(self, number: int) -> tuple[ListedFile, ...]:
        """See ``Forge``."""
        files = self._read(lambda: self._session.facts.files(number))
        return tuple(ListedFile(file.path, file.previous_path, file.status, file.patch) for file in files)

    def commentable_lines(self, number: int) -> Mapping[str, CommentableLines]:
        """See ``Forge``."""
        files = self._read(lambda: self._session.facts.files(number))
        return {
            file.path: CommentableLines(frozenset(file.shown.right), frozenset(file.shown.left))
            for file in files
            if file.patch is not None
        }

    def checks(self, commit: str, name: str) -> tuple[StandingCheck, ...]:
        """See ``Forge``."""
        found = self._read(lambda: [_check(run) for run in self._session.checks.of_commit(commit, name)])
        return tuple(sorted(found, key=lambda check: check.id))

    def comments(self, number: int) -> tuple[StandingComment, ...]:
        """See ``Forge``."""
        found = self._read(lambda: [_comment(each) for each in self._session.conversation.comments(number)])
        return tuple(sorted(found, key=lambda comment: comment.id))

    def reviews(self, number: int) -> tuple[StandingReview, ...]:
        """See ``Forge``."""
        found = self._read(lambda: [_review(each) for each in self._session.reviewing.reviews(number)])
        return tuple(sorted(found, key=lambda review: review.id))

    def threads(self, number: int) -> tuple[Thread, ...]:
        """See ``Forge``."""
        found = self._read(lambda: self._session.reviewing.threads(number))
        return tuple(_thread(each) for each in sorted(found, key=lambda thread: thread.comments[0].id))

    def remarks(self, number: int) -> tuple[StandingRemark, ...]:
        """See ``Forge``."""
        return self._read(lambda: tuple(map(_remark, self._session.reviewing.threads(number))))

    def create_check(self, commit: str, check: Check) -> int:
        """See ``Forge``. The annotations past the first fifty follow, and the conclusion comes last."""
        first, *rest = map(values_of, in_requests(check))
        with self._request():
            made = self._session.checks.create(commit, first).id
            for values in rest:
                self._session.checks.update(made, values)
        return made

    def update_check(self, check_id: int, check: Check) -> None:
        """See ``Forge``. Annotations that stand already are not sent again."""
        if check.annotations:
            standing = self._read(lambda: self._session.checks.annotations(check_id))
            missing = missing_annotations(check.annotations, standing)
            check = replace(check, annotations=missing)
        with self._request():
            for values in map(values_of, in_requests(check)):
                self._session.checks.update(check_id, values)

    def mark_check(self, check_id: int, external_id: str) -> None:
        """See ``Forge``."""
        with self._request():
            self._session.checks.update(check_id, CheckValues(external_id=external_id))

    def react(self, comment_id: int) -> None:
        """See ``Forge``."""
        with self._request():
            self._session.conversation.react(comment_id)

    def create_comment(self, number: int, body: str) -> int:
        """See ``Forge``."""
        with self._request():
            return self._session.conversation.create(number, body).id

    def update_comment(self, comment_id: int, body: str) -> None:
        """See ``Forge``."""
        with self._request():
            self._session.conversation.update(comment_id, body)

    def delete_comment(self, comment_id: int) -> None:
        """See ``Forge``."""
        with self._request():
            self._session.conversation.delete(comment_id)

    def start_review(self, number: int, commit: str, body: str, comments: tuple[InlineComment, ...]) -> int:
        """See ``Forge``."""
        remarks = [replace(each, start_line=None) if each.start_line == each.line else each for each in comments]
        with self._request():
            return self._session.reviewing.create(number, commit, body, remarks).id

    def submit_review(self, number: int, review_id: int) -> None:
        """See ``Forge``."""
        review = self._read(lambda: _review(self._session.reviewing.review(number, review_id)))
        with self._request():
            self._session.reviewing.submit(number, review_id, review.body or None)

    def discard_review(self, number: int, review_id: int) -> None:
        """See ``Forge``."""
        with self._request():
            self._session.reviewing.delete(number, review_id)

    def add_label(self, number: int, label: str) -> None:
        """See ``Forge``."""
        with self._request():
            self._session.conversation.add_labels(number, [label])

    def remove_label(self, number: int, label: str) -> None:
        """See ``Forge``."""
        try:
            with self._request():
                self._session.conversation.remove_label(number, label)
        except ForgeMissing as gone:
            if str(gone) != NO_LABEL:
                raise

    def request_review(self, number: int, reviewers: tuple[str, ...]) -> None:
        """See ``Forge``."""
        owner = self._repository.partition("/")[0]
        if any(name.partition("/")[0].casefold() != owner.casefold() for name in reviewers if "/" in name):
            raise ForgeRejected(f"GitHub takes teams of {owner} only.")
        users = [name for name in reviewers if "/" not in name]
        teams = [name.partition("/")[2] for name in reviewers if "/" in name]
        with self._request():
            self._session.conversation.request_reviewers(number, users, teams)

    def resolve_thread(self, thread_id: str) -> None:
        """See ``Forge``."""
        with self._request():
            self._session.reviewing.resolve(thread_id)

    def is_protected(self, branch: str) -> bool:
        """See ``Forge``."""
        default = self._read(self._session.facts.repository).default_branch
        return branch == default or bool(self._read(lambda: self._session.facts.branch(branch))[1])

    def tip(self, branch: str) -> str:
        """See ``Forge``."""
        return self._read(lambda: self._session.facts.branch(branch))[0]

    def make_commit(self, parent: str, files: tuple[CommittedFile, ...], message: str) -> MadeCommit:
        """See ``Forge``."""
        base = self._read(lambda: self._session.git_data.commit(parent)).tree
        with self._request():
            git = self._session.git_data
            entries = [TreeEntry(each.path, each.mode, git.create_blob(each.content)) for each in files]
            tree = git.create_tree(base, entries)
            return MadeCommit(git.create_commit(message, tree, (parent,)).sha, tree)

    def advance_branch(self, branch: str, commit: str) -> None:
        """See ``Forge``."""
        with self._request():
            self._session.git_data.update_ref(branch, commit)

    def _fact_of(self, pull: Pull) -> PullRequest:
        return PullRequest(
            self._github.repository(pull.repository).name, pull.number, pull.title, pull.body, pull.author,
            pull.base_ref, pull.recorded_base, pull.head_ref, pull.head_sha, pull.head_repository,
            "merged" if pull.merged else pull.state, pull.draft, tuple(pull.labels),
            pull.merge_commit or "", None if pull.merged_at is None else time_of(pull.merged_at),
            self._github.repository(pull.repository).default_branch, self._github.is_bot(pull.author),
        )  # fmt: skip

    @contextmanager
    def _request(self) -> Iterator[None]:
        """Requests whose answers are read in it: what happens after one is not in its answer."""
        try:
            yield
        except RefusedRequest as refused:
            raise _failure(refused) from refused
        except Trouble as trouble:
            wait = float(trouble.seconds) if isinstance(trouble, Limited) else 0.0
            raise ForgeUnavailable(f"GitHub did not answer: {trouble}.", wait) from trouble
        finally:
            self._github.traffic.settle()

    def _read(self, ask: Callable[[], _Answer]) -> _Answer:
        with self._request():
            for _ in range(MOST_READS - 1):
                try:
                    return ask()
                except Limited:
                    raise
                except Trouble:
                    continue
            return ask()


def _failure(refused: RefusedRequest) -> ForgeError:
    if ONE_PENDING in refused.errors:
        return ReviewPending(ONE_PENDING)
    kinds: dict[int, type[ForgeError]] = {401: ForgeDenied, 403: ForgeDenied, 404: ForgeMissing, 410: ForgeMissing}
    return kinds.get(refused.status, ForgeRejected)(refused.message)


def _check(run: CheckRun) -> StandingCheck:
    return StandingCheck(run.id, run.name, run.external_id, run.status, run.conclusion, run.app, run.title or "")


def _review(review: Review) -> StandingReview:
    return StandingReview(review.id, review.author, review.body, review.state == "PENDING")


def _comment(comment: IssueComment) -> StandingComment:
    edited = "" if comment.edited_at is None else moment(comment.edited_at)
    return StandingComment(comment.id, comment.author, comment.body, comment.editor or "", edited)


def _thread(thread: ReviewThread) -> Thread:
    first = thread.comments[0]
    return Thread(thread.id, first.author, first.body, thread.resolved_by is not None, thread.outdated)


def _remark(thread: ReviewThread) -> StandingRemark:
    first = thread.comments[0]
    thumbs = {"THUMBS_UP": True, "THUMBS_DOWN": False}
    return StandingRemark(
        first.author, first.body, first.editor or "", first.path, first.commit,
        first.original_start_line or first.original_line, first.original_line, first.side == "LEFT",
        thread.resolved_by is not None, thread.resolved_by or "",
        tuple(Reaction(login, thumbs[content]) for login, content in first.reactions if content in thumbs),
    )  # fmt: skip
