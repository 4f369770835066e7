"""The simulated GitHub: what people do on it, and what it makes of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from review_advisor.change.change import REGULAR_MODE, FileChange, Status
from review_advisor.change.pull_request import Permission
from review_advisor.mockworld.github_records import (
    Account,
    AccountKind,
    Commit,
    FileStatus,
    Issue,
    IssueComment,
    ModeAndBlob,
    Objects,
    Protection,
    Pull,
    PullFile,
    Push,
    ReactionContent,
    Repository,
    Review,
    ReviewComment,
    ReviewState,
    ReviewThread,
    TimelineEntry,
    Token,
    patch_of,
)
from review_advisor.mockworld.github_traffic import Traffic, missing

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


Contents = Mapping[str, str | bytes | None]
"""Paths to whole files; None removes one."""

ACTIONS = "github-actions"

WORKFLOW_ABILITIES = frozenset({"checks:write", "contents:read", "issues:write", "pull_requests:write"})
"""What the job that publishes asks for."""

READING_ABILITIES = frozenset({"checks:read", "contents:read", "issues:read", "pull_requests:read"})
"""What is left of a workflow's token on a pull request from a fork."""


@dataclass(slots=True)
class GitHub:
    """Everything that GitHub keeps, and what people do there; what a token may ask of it is in ``Session``.

    Nothing in it is random, and its clock moves only when something happens.
    """

    accounts: dict[str, Account] = field(default_factory=dict)
    teams: set[str] = field(default_factory=set)
    tokens: dict[str, Token] = field(default_factory=dict)
    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: Objects = field(default_factory=Objects)
    traffic: Traffic = field(default_factory=Traffic)
    second: int = 0
    _last_id: int = 1000

    # --- who and what there is ---

    def user(self, login: str, *, kind: AccountKind = "User") -> Account:
        """Somebody with an account; the same one when asked again."""
        if login not in self.accounts:
            self.accounts[login] = Account(self.next_id(), login, "Bot" if login.endswith("[bot]") else kind)
        return self.accounts[login]

    def is_bot(self, login: str) -> bool:
        """Whether an account is an app's."""
        return login in self.accounts and self.accounts[login].kind == "Bot"

    def team(self, organization: str, slug: str) -> None:
        """A team of an organisation."""
        self.user(organization, kind="Organization")
        self.teams.add(f"{organization}/{slug}")

    def workflow_token(self, abilities: Iterable[str] = WORKFLOW_ABILITIES) -> Token:
        """The token of a workflow's job; a later one takes its place."""
        return self.app_token(ACTIONS, abilities)

    def app_token(self, slug: str, abilities: Iterable[str] = WORKFLOW_ABILITIES) -> Token:
        """The token of an app's installation."""
        return self._token(self.user(f"{slug}[bot]").login, frozenset(abilities), slug)

    def personal_token(self, login: str, abilities: Iterable[str] = WORKFLOW_ABILITIES) -> Token:
        """A person's token. It may make no check run, whatever its abilities."""
        return self._token(self.user(login).login, frozenset(abilities), None)

    def opens_repository(
        self, name: str, contents: Contents | None = None, *, private: bool = False, organization: bool = False
    ) -> Repository:
        """A repository with a first commit on ``main``; its owner is its admin."""
        made = Repository(self.next_id(), name, private=private)
        self.user(made.owner, kind="Organization" if organization else "User")
        made.permissions[made.owner] = Permission.ADMIN
        self.repositories[name] = made
        first = self._commit(None, contents or {"README.md": "# A repository\n"}, "Begin", made.owner)
        made.branches[made.default_branch] = first.sha
        return made

    def forks(self, repository: str, login: str) -> Repository:
        """Somebody's own copy of a repository."""
        origin = self.repository(repository)
        made = Repository(
            self.next_id(), f"{self.user(login).login}/{origin.name.partition('/')[2]}", parent=origin.name
        )
        made.branches = dict(origin.branches)
        made.permissions[login] = Permission.ADMIN
        self.repositories[made.name] = made
        return made

    def grants(self, repository: str, login: str, permission: Permission) -> None:
        """What somebody may do in a repository from now on."""
        self.repository(repository).permissions[self.user(login).login] = permission

    def protects(self, repository: str, branch: str, by: Protection = "branch protection") -> None:
        """A branch requires checks from now on."""
        self.repository(repository).protected.setdefault(branch, set()).add(by)

    # --- commits and branches ---

    def commits(
        self,
        repository: str,
        branch: str,
        contents: Contents,
        *,
        by: str,
        message: str = "Change",
        sha: str | None = None,
        maker: str | None = None,
    ) -> str:
        """Somebody pushes a commit to a branch, which is made from the default branch if it is new; its sha.

        ``maker`` is the account that the commit names, if that is another one; empty where it names none.
        """
        place = self.repository(repository)
        parent = place.branches.get(branch, place.branches[place.default_branch])
        made = self._commit(parent, contents, message, by if maker is None else maker, sha=sha)
        self._pushed(place, branch, made.sha, by)
        self.move_branch(place, branch, made.sha)
        return made.sha

    def makes(
        self,
        repository: str,
        branch: str,
        contents: Contents,
        *,
        by: str,
        author: str | None = None,
        committer: str = "web-flow",
        verified: bool = True,
        message: str = "Change",
        others: tuple[str, ...] = (),
    ) -> str:
        """Somebody makes a commit on a branch through GitHub's interface, which signs it; its sha.

        Whoever commits by hand states any ``author`` and ``committer``. ``others`` are further parents.
        """
        place = self.repository(repository)
        parent = place.branches.get(branch, place.branches[place.default_branch])
        made = self._commit(parent, contents, message, self.user(author or by).login, others=others)
        self.objects.commits[made.sha] = replace(made, committer=self.user(committer).login, verified=verified)
        self._pushed(place, branch, made.sha, self.user(by).login)
        self.move_branch(place, branch, made.sha)
        return made.sha

    def _pushed(self, place: Repository, branch: str, after: str, by: str) -> None:
        place.pushes.append(Push(branch, after, by))

    def deletes_branch(self, repository: str, branch: str) -> None:
        """A branch is gone; open pull requests from it or into it are closed, as GitHub does."""
        gone = self.repository(repository)
        gone.deleted[branch] = gone.branches.pop(branch)
        for place in self.repositories.values():
            for pull in place.pulls.values():
                if (repository, branch) in ((pull.head_repository, pull.head_ref), (pull.repository, pull.base_ref)):
                    pull.state, pull.closed_at = "closed", self.second

    def renames_branch(self, repository: str, branch: str, name: str) -> None:
        """A branch is called otherwise: so is every base, and the default branch, if it is that one."""
        place = self.repository(repository)
        place.branches[name] = place.branches.pop(branch)
        if place.default_branch == branch:
            place.default_branch = name
        for pull in place.pulls.values():
            if pull.base_ref == branch:
                pull.base_ref = name

    def deletes_repository(self, repository: str) -> None:
        """A fork is gone; its pull requests stand without a head repository."""
        del self.repositories[repository]
        for place in self.repositories.values():
            for pull in place.pulls.values():
                if pull.head_repository == repository:
                    pull.head_repository = None

    # --- pull requests ---

    def opens(
        self,
        repository: str,
        contents: Contents | None = None,
        *,
        by: str,
        title: str = "A change",
        body: str = "",
        branch: str | None = None,
        base: str | None = None,
        draft: bool = False,
        closes: Iterable[int] = (),
        listing: tuple[PullFile, ...] | None = None,
        sha: str | None = None,
        number: int | None = None,
    ) -> Pull:
        """Somebody opens a pull request, from their fork if they have one; its first push is ``contents``.

        ``listing`` states the files and patches instead of the two trees, ``sha`` the head's name, ``number`` the pull
        request's, which is the next one otherwise.
        """
        place = self.repository(repository)
        number = number or 1 + max((*place.pulls, *place.issues), default=0)
        head = next(
            (each for each in self.repositories.values() if each.parent == place.name and each.owner == by), place
        )
        ref = branch or f"change-{number}"
        head.branches.setdefault(ref, place.branches[base or place.default_branch])
        changed = {"change.txt": f"change {number}\n"} if contents is None else contents
        tip = self.commits(head.name, ref, changed, by=self.user(by).login, message=title, sha=sha)
        base_ref = base or place.default_branch
        made = Pull(
            self.next_id(), place.name, number, by, title, body, base_ref, ref, head.name, tip, self.tick(),
            recorded_base=place.branches[base_ref], draft=draft, closes=[(place.name, issue) for issue in closes],
            listing=listing,
        )  # fmt: skip
        place.pulls[number] = made
        return made

    def pushes(
        self, pull: Pull, contents: Contents, *, by: str | None = None, listing: tuple[PullFile, ...] | None = None,
        message: str = "Change", sha: str | None = None, maker: str | None = None,
    ) -> str:  # fmt: skip
        """Somebody pushes to the head branch; the new head. ``maker`` is whom its commit names, if another one."""
        pull.listing = listing
        login, head = by or pull.author, self._head(pull).name
        made = self.commits(head, pull.head_ref, contents, by=login, message=message, sha=sha, maker=maker)
        self.happens(pull, login, f"pushed {made[:7]}")
        return made

    def force_pushes(
        self, pull: Pull, contents: Contents, *, by: str | None = None, sha: str | None = None,
        listing: tuple[PullFile, ...] | None = None,
    ) -> str:  # fmt: skip
        """The head branch is made anew from the base: what was there before is no part of the pull request any more."""
        made = self._commit(self.base_sha(pull), contents, "Again", by or pull.author, sha=sha)
        pull.listing = listing
        self.happens(pull, by or pull.author, f"force-pushed {made.sha[:7]} in place of {pull.head_sha[:7]}")
        self._pushed(self._head(pull), pull.head_ref, made.sha, by or pull.author)
        self.move_branch(self._head(pull), pull.head_ref, made.sha)
        return made.sha

    def retargets(self, pull: Pull, base: str) -> None:
        """The pull request is to go to another branch."""
        pull.base_ref = base
        pull.recorded_base = self.base_sha(pull)

    def closes(self, pull: Pull, *, by: str | None = None) -> None:
        """The pull request is closed without a merge."""
        pull.state, pull.closed_at = "closed", self.second
        self.happens(pull, by or pull.author, "closed this")

    def merges(
        self, pull: Pull, *, squashed: bool = False, sha: str | None = None, at: int | None = None,
        by: str | None = None,
    ) -> str:  # fmt: skip
        """The pull request is merged, by a merge commit or as one squashed commit; that commit, named ``sha``.

        ``at`` is the second of it; now, if it is not given.
        """
        base = self.base_sha(pull)
        after = self.objects.files(pull.head_sha)
        changed = [file.path for file in self.changed_files(pull)]
        contents = {path: self.objects.blobs[after[path][1]] if path in after else None for path in changed}
        others = () if squashed else (pull.head_sha,)
        made = self._commit(base, contents, f"Merge #{pull.number}", pull.author, sha=sha, others=others)
        pull.state, pull.merge_commit = "closed", made.sha
        pull.merged_at = pull.closed_at = self.second if at is None else at
        self.repository(pull.repository).branches[pull.base_ref] = made.sha
        self.happens(pull, by or pull.author, f"merged this as {made.sha[:7]}")
        return made.sha

    def labels(self, pull: Pull, *names: str, by: str | None = None) -> None:
        """Somebody puts labels on."""
        for name in names:
            label = self.label(self.repository(pull.repository), name)
            if label not in pull.labels:
                pull.labels.append(label)
                self.happens(pull, by or pull.author, f"added the {name} label")

    def takes_label(self, pull: Pull, name: str, *, by: str) -> bool:
        """Somebody takes a label off; whether it was there."""
        found = [label for label in pull.labels if label.casefold() == name.casefold()]
        for label in found:
            pull.labels.remove(label)
            self.happens(pull, by, f"removed the {label} label")
        return bool(found)

    def opens_issue(self, repository: str, *, by: str, title: str, body: str = "") -> Issue:
        """Somebody opens an issue."""
        place = self.repository(repository)
        number = 1 + max((*place.pulls, *place.issues), default=0)
        place.issues[number] = Issue(self.next_id(), number, self.user(by).login, title, body, self.tick())
        return place.issues[number]

    # --- what people say ---

    def comments(self, pull: Pull | Issue, *, by: str, body: str) -> IssueComment:
        """Somebody comments."""
        made = IssueComment(self.next_id(), self.user(by).login, body, self.tick())
        pull.comments.append(made)
        return made

    def edits(self, comment: IssueComment | ReviewComment, *, by: str, body: str) -> None:
        """Somebody puts another text in the comment's place; GitHub remembers who."""
        comment.body, comment.editor, comment.edited_at = body, self.user(by).login, self.tick()

    def deletes_comment(self, pull: Pull | Issue, comment: IssueComment) -> None:
        """Somebody deletes a comment."""
        pull.comments.remove(comment)

    def reviews(self, pull: Pull, *, by: str, body: str = "", state: ReviewState = "COMMENTED") -> Review:
        """Somebody reviews; a PENDING review is theirs alone until they submit it."""
        made = Review(self.next_id(), self.user(by).login, body, pull.head_sha, state, self.tick())
        pull.reviews.append(made)
        return made

    def replies(self, thread: ReviewThread, *, by: str, body: str) -> ReviewComment:
        """Somebody answers in a thread."""
        first = thread.comments[0]
        made = ReviewComment(
            self.next_id(), self.user(by).login, body, first.path, first.side, first.line, first.start_line,
            first.original_line, first.commit, self.tick(),
        )  # fmt: skip
        thread.comments.append(made)
        return made

    def reacts(self, comment: ReviewComment, reaction: ReactionContent, *, by: str) -> None:
        """Somebody reacts to a comment on the diff."""
        comment.reactions.append((self.user(by).login, reaction))

    def resolves(self, thread: ReviewThread, *, by: str) -> None:
        """Somebody marks a thread as resolved."""
        thread.resolved_by = self.user(by).login

    # --- inside ---

    def happens(self, pull: Pull, by: str, text: str) -> None:
        """GitHub writes a line into the conversation."""
        pull.happened.append(TimelineEntry(by, text, self.tick()))

    def label(self, repository: Repository, name: str) -> str:
        """The repository's label of this name, whatever its case; made if there is none."""
        return repository.labels.setdefault(name.casefold(), name)

    def _token(self, account: str, abilities: frozenset[str], app: str | None) -> Token:
        made = Token(f"token-of-{account}", account, abilities, app)
        self.tokens[account] = made
        return made

    def _head(self, pull: Pull) -> Repository:
        return self.repository(pull.head_repository or "")

    def _commit(
        self, parent: str | None, contents: Contents, message: str, author: str, *, sha: str | None = None,
        others: tuple[str, ...] = (),
    ) -> Commit:  # fmt: skip
        entries = dict(self.objects.files(parent)) if parent else {}
        for path, content in contents.items():
            if content is None:
                entries.pop(path, None)
            else:
                raw = content.encode() if isinstance(content, str) else content
                entries[path] = (REGULAR_MODE, self.objects.blob(raw))
        parents = (parent, *others) if parent else ()
        return self.objects.commit(self.objects.tree(entries), parents, message, author, at=self.tick(), sha=sha)

    # --- what it keeps ---

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


class MergedHistory:
    """See the port ``History``."""

    def __init__(self, github: GitHub, pull: Pull) -> None:
        self._github = github
        self._pull = pull

    @property
    def merged_at(self) -> datetime:
        """When it was merged."""
        return time_of(self._pull.merged_at or 0)

    def text(self, commit: str, path: str) -> str | None:
        """The text of a file at a commit; None if it is not there."""
        content = self._github.objects.content(commit, path)
        return None if content is None else content.decode(errors="replace")

    def later(self) -> Iterator[tuple[str, str]]:
        """The commits on the base branch since, the oldest first."""
        since: list[tuple[str, str]] = []
        for sha in self._github.objects.ancestry(self._github.base_sha(self._pull)):
            if sha == self._pull.merge_commit:
                break
            since.append((sha, self._github.commit(sha).message))
        return reversed(since)


_STATUS: dict[Status, Literal["added", "removed", "renamed"]] = {
    Status.ADDED: "added",
    Status.COPIED: "added",
    Status.DELETED: "removed",
    Status.RENAMED: "renamed",
}


def listing_of(files: Iterable[FileChange]) -> tuple[PullFile, ...]:
    """The files as GitHub lists them, by path."""
    return tuple(map(_listed, sorted(files, key=lambda file: file.path)))


def _listed(file: FileChange) -> PullFile:
    hunks = (
        "\n".join((f"@@ -{each.old_start},{each.old_count} +{each.new_start},{each.new_count} @@", *each.lines))
        for each in file.hunks
    )
    return PullFile(
        file.path,
        _STATUS.get(file.status, "modified"),
        "\n".join(hunks) or None,
        file.old_path if file.status is Status.RENAMED else None,
    )


def contents_of(files: Iterable[FileChange]) -> dict[str, str]:
    """The text files at the head, as far as their hunks tell them: each line where it stands."""
    texts: dict[str, str] = {}
    for file in files:
        lines: dict[int, str] = {}
        for hunk in file.hunks if not (file.is_symlink or file.is_submodule) else ():
            kept = [line[1:] for line in hunk.lines if line[:1] in (" ", "+")]
            lines.update(enumerate(kept, hunk.new_start))
        if lines:
            texts[file.path] = "".join(f"{lines.get(number, '')}\n" for number in range(1, max(lines) + 1))
    return texts
