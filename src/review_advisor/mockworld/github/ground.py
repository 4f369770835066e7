"""What there is on MockWorld's GitHub, and what follows from it: files of a pull request, its commits, its threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from review_advisor.mockworld.github.objects import Commit, ModeAndBlob, Objects
from review_advisor.mockworld.github.patches import patch_of
from review_advisor.mockworld.github.records import (
    Account,
    FileStatus,
    IssueComment,
    Pull,
    PullFile,
    Repository,
    Review,
    ReviewThread,
    Token,
)
from review_advisor.mockworld.github.traffic import Traffic, missing

MOST_FILES = 3_000
"""Where GitHub's list of a pull request's files ends."""
_BEGINNING = datetime(2026, 1, 5, 9, tzinfo=UTC)


def time_of(second: int) -> datetime:
    """A second of the model's clock as a time."""
    return _BEGINNING + timedelta(seconds=second)


def second_of(time: datetime) -> int:
    """The second of the model's clock at a time."""
    return int((time - _BEGINNING).total_seconds())


def moment(second: int) -> str:
    """A second of the model's clock as GitHub writes a time."""
    return time_of(second).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True)
class Ground:
    """Everything that GitHub keeps. Nothing in it is random, and its clock moves only when something happens."""

    accounts: dict[str, Account] = field(default_factory=dict)
    teams: set[str] = field(default_factory=set)
    tokens: dict[str, Token] = field(default_factory=dict)
    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: Objects = field(default_factory=Objects)
    traffic: Traffic = field(default_factory=Traffic)
    second: int = 0
    _last_id: int = 1000

    def next_id(self) -> int:
        """A new id; ids of all kinds count up together."""
        self._last_id += 1
        return self._last_id

    def tick(self) -> int:
        """Let a second go by; the present one."""
        self.second += 1
        return self.second

    def repository(self, name: str) -> Repository:
        """A repository. Raises GitHub's 404."""
        found = self.repositories.get(name)
        if found is None:
            found = {each.casefold(): place for each, place in self.repositories.items()}.get(name.casefold())
        if found is None:
            raise missing()
        return found

    def account(self, login: str) -> Account:
        """An account. Raises GitHub's 404."""
        found = {each.casefold(): account for each, account in self.accounts.items()}.get(login.casefold())
        if found is None:
            raise missing()
        return found

    def base_sha(self, pull: Pull) -> str:
        """The tip of the base branch; the last one of a branch that is gone."""
        place = self.repository(pull.repository)
        return place.branches.get(pull.base_ref) or place.deleted[pull.base_ref]

    def commit(self, sha: str) -> Commit:
        """A commit. Raises GitHub's 404."""
        if sha not in self.objects.commits:
            raise missing()
        return self.objects.commits[sha]

    def commits_of(self, pull: Pull) -> tuple[str, ...]:
        """The commits that are part of the pull request, the oldest first: after a force push the old ones are not."""
        below = set(self.objects.ancestry(self.base_sha(pull)))
        return tuple(reversed([sha for sha in self.objects.ancestry(pull.head_sha) if sha not in below]))

    def changed_files(self, pull: Pull) -> tuple[PullFile, ...]:
        """All files of the pull request, more than GitHub would list; by path."""
        if pull.listing is not None:
            return pull.listing
        return self._brought(self.base_sha(pull), pull.head_sha)

    def compared(self, base: str, head: str) -> tuple[tuple[PullFile, ...], tuple[Commit, ...]]:
        """All files and commits that one commit brings over another."""
        stated = [
            pull.listing
            for place in self.repositories.values()
            for pull in place.pulls.values()
            if pull.head_sha == head and pull.listing is not None
        ]
        below = set(self.objects.ancestry(base))
        commits = tuple(reversed([self.commit(sha) for sha in self.objects.ancestry(head) if sha not in below]))
        return stated[0] if stated else self._brought(base, head), commits

    def _brought(self, base_sha: str, head_sha: str) -> tuple[PullFile, ...]:
        base = self.objects.merge_base(head_sha, base_sha)
        before = self.objects.files(base) if base else {}
        after = self.objects.files(head_sha)
        changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
        return tuple(self._changed(path, before.get(path), after.get(path)) for path in changed)

    def listed_files(self, pull: Pull) -> tuple[PullFile, ...]:
        """The files as GitHub lists them."""
        return self.changed_files(pull)[:MOST_FILES]

    def conversation(self, comment_id: int, repository: Repository) -> list[IssueComment]:
        """The comments among which this one stands. Raises GitHub's 404."""
        places = [pull.comments for pull in repository.pulls.values()]
        for comments in (*places, *(issue.comments for issue in repository.issues.values())):
            if any(comment.id == comment_id for comment in comments):
                return comments
        raise missing()

    def visible_reviews(self, pull: Pull, account: str) -> tuple[Review, ...]:
        """The reviews that this account sees: somebody else's pending review is not there."""
        return tuple(each for each in pull.reviews if each.state != "PENDING" or each.author == account)

    def visible_threads(self, pull: Pull, account: str) -> tuple[ReviewThread, ...]:
        """The threads of the reviews that this account sees."""
        found = tuple(thread for review in self.visible_reviews(pull, account) for thread in review.threads)
        return found[::-1] if pull.newest_threads_first else found

    def every_thread(self) -> Iterator[tuple[Pull, ReviewThread]]:
        """All threads of all repositories, with where they stand."""
        for repository in self.repositories.values():
            for pull in repository.pulls.values():
                for review in pull.reviews:
                    for thread in review.threads:
                        yield pull, thread

    def move_branch(self, repository: Repository, ref: str, sha: str) -> None:
        """A branch's tip is now this commit; open pull requests from it follow, and their threads grow outdated."""
        repository.branches[ref] = sha
        for base in self.repositories.values():
            for pull in base.pulls.values():
                if pull.state == "open" and (pull.head_repository, pull.head_ref) == (repository.name, ref):
                    pull.head_sha, pull.recorded_base = sha, self.base_sha(pull)
                    self._place_threads(pull)

    def _place_threads(self, pull: Pull) -> None:
        files = {file.path: file for file in self.changed_files(pull)}
        for review in pull.reviews:
            for thread in review.threads:
                _place(thread, files.get(thread.comments[0].path))

    def _changed(self, path: str, before: ModeAndBlob | None, after: ModeAndBlob | None) -> PullFile:
        old = self.objects.blobs[before[1]] if before else None
        new = self.objects.blobs[after[1]] if after else None
        status: FileStatus = "added" if before is None else "removed" if after is None else "modified"
        return PullFile(path, status, patch_of(old, new))


def _place(thread: ReviewThread, file: PullFile | None) -> None:
    """Find the thread's line in the new diff, the nearest one with the same text; without one it is outdated."""
    first = thread.comments[0]
    lines = file.shown.side(first.side) if file else {}
    same = [number for number, line in lines.items() if line.text == thread.text]
    place = min(same, key=lambda number: abs(number - first.original_line), default=None)
    thread.outdated = place is None
    span = first.original_line - (first.start_line or first.original_line)
    for comment in thread.comments:
        comment.line = place
        if comment.start_line is not None and place is not None:
            comment.start_line = place - span
