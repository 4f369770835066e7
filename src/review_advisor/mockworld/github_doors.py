"""What a token may ask of the simulated GitHub, and how GitHub refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from review_advisor.change.change import EXECUTABLE_MODE, REGULAR_MODE
from review_advisor.change.pull_request import Permission
from review_advisor.github.forge import MOST_COMPARED, MOST_IN_FOLDER, MOST_LISTED_COMMITS
from review_advisor.github.state import CheckMark, RecentPullRequest
from review_advisor.github.writes import ANNOTATIONS_PER_REQUEST, Annotation, Check, InlineComment
from review_advisor.mockworld.copies import FOLDER_MODE, tree_name
from review_advisor.mockworld.github import GitHub, time_of
from review_advisor.mockworld.github_records import (
    Account,
    CheckRun,
    Commit,
    Issue,
    IssueComment,
    ModeAndBlob,
    Protection,
    Pull,
    PullFile,
    Push,
    Repository,
    Review,
    ReviewComment,
    ReviewThread,
    Token,
)
from review_advisor.mockworld.github_traffic import RefusedRequest, RequestKind, denied, invalid, missing, refused

MOST_CHARACTERS = 65_535


@dataclass(frozen=True, slots=True)
class Access:
    """One token's way to one repository."""

    github: GitHub
    repository_name: str
    token: Token

    @contextmanager
    def request(self, operation: str, *abilities: str) -> Iterator[Repository]:
        """One request, for which the token needs any of ``abilities``. Raises GitHub's refusals, and trouble."""
        kind: RequestKind = "write" if any(each.endswith(":write") for each in abilities) else "read"
        with self.github.traffic.request(operation, kind):
            repository = self.github.repository(self.repository_name)
            if self.token.app is None and repository.permission(self.token.account) is Permission.NONE:
                raise missing()
            if abilities and not any(self.token.may(each) for each in abilities):
                raise denied()
            yield repository

    @property
    def account(self) -> str:
        """Whose token it is."""
        return self.token.account

    def known_pull(self, number: int) -> Pull:
        """A pull request. Raises GitHub's 404."""
        pull = self.github.repository(self.repository_name).pulls.get(number)
        if pull is None:
            raise missing()
        return pull


def checked_body(body: str | None, field: str = "body") -> str:
    """A text as GitHub takes it: something, and not too long. Raises its 422."""
    if not body or not body.strip():
        raise invalid(f"{field} cannot be blank")
    return not_too_long(body, field)


def not_too_long(text: str, field: str) -> str:
    """A text that may be empty. Raises GitHub's 422 for one that is too long."""
    if len(text) > MOST_CHARACTERS:
        raise invalid(f"{field} is too long (maximum is {MOST_CHARACTERS} characters)")
    return text


_LONGEST_TITLE = 255
_LONGEST_MESSAGE = 64 * 1024


@dataclass(frozen=True, slots=True)
class CheckValues:
    """What a request says of a check run; None is left as it is."""

    name: str | None = None
    external_id: str | None = None
    status: str | None = None
    conclusion: str | None = None
    title: str | None = None
    summary: str | None = None
    details_url: str | None = None
    annotations: Sequence[Annotation] = ()


class CheckRequests(Access):
    """Check runs as one token reaches them."""

    def of_commit(self, sha: str, name: str) -> tuple[CheckRun, ...]:
        """Every check run of this name on a commit, the newest first."""
        with self.request("list check runs", "checks:read") as repository:
            found = [run for run in repository.checks.values() if (run.commit, run.name) == (sha, name)]
            return tuple(reversed(found))

    def annotations(self, check_id: int) -> tuple[Annotation, ...]:
        """The annotations of a check run, in the order they came."""
        with self.request("list annotations", "checks:read") as repository:
            return tuple(_known(repository.checks.get(check_id)).annotations)

    def create(self, commit: str, values: CheckValues) -> CheckRun:
        """Make a check run."""
        with self.request("create check run", "checks:write") as repository:
            app = self._app()
            if commit not in self.github.objects.commits:
                raise refused(f"No commit found for SHA: {commit}")
            if not values.name:
                raise invalid("name is missing")
            _check(values)
            github = self.github
            run = CheckRun(
                github.next_id(), values.name, commit, app, values.external_id or "", "queued", None, github.tick()
            )
            self._set(run, values)
            repository.checks[run.id] = run
            return run

    def update(self, check_id: int, values: CheckValues) -> CheckRun:
        """Change a check run; its annotations grow by those of the request."""
        with self.request("update check run", "checks:write") as repository:
            app = self._app()
            run = _known(repository.checks.get(check_id))
            if run.app != app:
                raise RefusedRequest(403, f"Invalid app_id `{app}` - check run can only be modified by its own app.")
            _check(values)
            self._set(run, values)
            return run

    def _app(self) -> str:
        if self.token.app is None:
            raise RefusedRequest(403, "You must authenticate via a GitHub App.")
        return self.token.app

    def _set(self, run: CheckRun, values: CheckValues) -> None:
        run.name = values.name or run.name
        run.external_id = values.external_id if values.external_id is not None else run.external_id
        run.details_url = values.details_url or run.details_url
        run.title = values.title if values.title is not None else run.title
        run.summary = values.summary if values.summary is not None else run.summary
        run.annotations.extend(values.annotations)
        if values.conclusion is not None:
            self.github.tick()
            run.status, run.conclusion = "completed", values.conclusion
        elif values.status is not None:
            run.status, run.conclusion = values.status, None


def _known(run: CheckRun | None) -> CheckRun:
    if run is None:
        raise missing()
    return run


def _check(values: CheckValues) -> None:
    """The rules for a check run's values. Raises GitHub's 422."""
    if values.status == "completed" and values.conclusion is None:
        raise invalid("a completed check run needs a conclusion")
    if len(values.annotations) > ANNOTATIONS_PER_REQUEST:
        raise invalid(f"annotations exceeds a maximum quantity of {ANNOTATIONS_PER_REQUEST}")
    not_too_long(values.summary or "", "summary")
    for each in values.annotations:
        if not 1 <= each.start_line <= each.end_line:
            raise invalid("annotations: start_line must be at least 1 and at most end_line")
        if len(each.title) > _LONGEST_TITLE or len(each.message.encode()) > _LONGEST_MESSAGE or not each.message:
            raise invalid("annotations: a title has at most 255 characters, a message at most 64 KB and is not empty")


def values_of(check: Check) -> CheckValues:
    """What a request says that brings one of ``in_requests`` about."""
    return CheckValues(
        name=check.name,
        external_id=check.external_id,
        status="in_progress" if check.conclusion is None else "completed",
        conclusion=check.conclusion and check.conclusion.value,
        title=check.title,
        summary=check.summary,
        details_url=check.details_url,
        annotations=check.annotations,
    )


NO_COMMIT = "No commit found"


@dataclass(frozen=True, slots=True)
class RecentPull:
    """A pull request with the second of its last change, and what a list of such tells of it."""

    pull: Pull
    at: int
    fact: RecentPullRequest


@dataclass(frozen=True, slots=True)
class StandingPath:
    """What stands at a path of a tree: a file, a folder, a link or a submodule, by its mode."""

    path: str
    mode: str
    name: str


class FactRequests(Access):
    """What a token may learn of a repository."""

    def repository(self) -> Repository:
        """The repository."""
        with self.request("get repository") as repository:
            return repository

    def pull(self, number: int) -> Pull:
        """A pull request: as it is, or as it was, where GitHub's answers lag."""
        with self.request("get pull request", "pull_requests:read"):
            lagging = self.github.traffic.lagging
            return lagging.pop(0) if lagging else self.known_pull(number)

    def pulls(self) -> tuple[Pull, ...]:
        """The open pull requests, the oldest first."""
        with self.request("list pull requests", "pull_requests:read") as repository:
            return tuple(pull for pull in repository.pulls.values() if pull.state == "open")

    def recent(self, check_name: str) -> tuple[RecentPull, ...]:
        """All pull requests with their check runs of this name, the last change first."""
        with self.request("list recent pull requests", "pull_requests:read") as repository:
            found = [
                RecentPull(pull, self._last_change(pull), self._recent(pull, repository, check_name))
                for pull in repository.pulls.values()
            ]
            return tuple(sorted(found, key=lambda each: each.at, reverse=True))

    def _last_change(self, pull: Pull) -> int:
        moments = [*(each.at for each in pull.comments), *(each.at for each in pull.reviews)]
        return max([pull.at, *moments, *(each.at for each in pull.happened)])

    def _recent(self, pull: Pull, repository: Repository, check_name: str) -> RecentPullRequest:
        from_fork = pull.head_repository != pull.repository
        closed_at = None if pull.closed_at is None else time_of(pull.closed_at)
        if pull.state == "closed" and not pull.merged and not self.github.commits_of(pull):
            return RecentPullRequest(pull.number, None, closed_at, from_fork)
        runs = (each for each in repository.checks.values() if (each.commit, each.name) == (pull.head_sha, check_name))
        marks = tuple(CheckMark(each.app, each.external_id, each.conclusion is None) for each in runs)
        return RecentPullRequest(pull.number, marks, closed_at, from_fork)

    def commit(self, sha: str) -> Commit:
        """A commit, with the account that made it."""
        with self.request("get repository commit", "contents:read"):
            if sha not in self.github.objects.commits:
                raise RefusedRequest(422, f"{NO_COMMIT} for SHA: {sha}")
            return self.github.commit(sha)

    def commits(self, number: int) -> tuple[Commit, ...]:
        """The commits of a pull request, the oldest first; the list ends at 250."""
        with self.request("list commits", "pull_requests:read"):
            found = self.github.commits_of(self.known_pull(number))
            return tuple(self.github.commit(sha) for sha in found[:MOST_LISTED_COMMITS])

    def compared(self, base: str, head: str) -> tuple[tuple[PullFile, ...], tuple[Commit, ...]]:
        """What one commit brings over another; the list of files ends at 300."""
        with self.request("compare commits", "contents:read"):
            if not {base, head} <= self.github.objects.commits.keys():
                raise missing()
            files, commits = self.github.compared(base, head)
            return files[:MOST_COMPARED], commits

    def pushes(self, repository: str, branch: str) -> tuple[Push, ...]:
        """The pushes to a branch of this repository or a fork, the newest first."""
        with self.request("list activity", "contents:read"):
            place = self.github.repository(repository)
            if place.private and place.permission(self.account) is Permission.NONE:
                raise missing()
            every = place.pushes
            return tuple(reversed([each for each in every if each.branch == branch]))

    def files(self, number: int) -> tuple[PullFile, ...]:
        """The files of a pull request; the list ends at 3,000."""
        with self.request("list files", "pull_requests:read"):
            return self.github.listed_files(self.known_pull(number))

    def closing_issues(self, number: int) -> tuple[tuple[Repository, Issue], ...]:
        """The issues that a merge would close; those that the token may not see are left out."""
        with self.request("list closing issues", "pull_requests:read", "issues:read"):
            places = [(self.github.repository(name), issue) for name, issue in self.known_pull(number).closes]
            return tuple((place, place.issues[issue]) for place, issue in places if issue in place.issues)

    def permission(self, login: str) -> tuple[Account, Permission]:
        """What an account may do in the repository."""
        with self.request("get permission") as repository:
            return self.github.account(login), repository.permission(login)

    def content(self, path: str, ref: str) -> tuple[str, bytes] | list[StandingPath]:
        """What stands at a path of a commit or branch: a file's name and bytes, or what lies in a folder.

        A link or a submodule is one entry, under its own path.
        """
        with self.request("get content", "contents:read") as repository:
            sha = repository.branches.get(ref, ref)
            if sha not in self.github.objects.commits:
                raise RefusedRequest(404, f"{NO_COMMIT} for the ref {ref}")
            files = self.github.objects.files(sha)
            if path not in files:
                return _inside(files, path)
            mode, name = files[path]
            if mode not in (REGULAR_MODE, EXECUTABLE_MODE):
                return [StandingPath(path, mode, name)]
            return name, self.github.objects.blobs[name]

    def rules(self, branch: str) -> frozenset[Protection]:
        """The rulesets that hold for a branch."""
        with self.request("list rules") as repository:
            return frozenset(repository.protected.get(branch, set()) & {"ruleset"})

    def branch(self, branch: str) -> tuple[str, frozenset[Protection]]:
        """A branch's tip, and what guards it."""
        with self.request("get branch", "contents:read") as repository:
            if branch not in repository.branches:
                raise RefusedRequest(404, "Branch not found")
            return repository.branches[branch], frozenset(repository.protected.get(branch, ()))


def _inside(files: Mapping[str, ModeAndBlob], folder: str) -> list[StandingPath]:
    """What lies directly in a folder; the list ends at 1,000."""
    found: dict[str, StandingPath] = {}
    for path, (mode, name) in sorted(files.items()):
        if path.startswith(f"{folder}/"):
            first, deeper, _ = path.removeprefix(f"{folder}/").partition("/")
            place = f"{folder}/{first}"
            if place not in found:
                found[place] = _folder(files, place) if deeper else StandingPath(place, mode, name)
    if not found:
        raise missing()
    return list(found.values())[:MOST_IN_FOLDER]


def _folder(files: Mapping[str, ModeAndBlob], place: str) -> StandingPath:
    below = {path.removeprefix(f"{place}/"): each for path, each in files.items() if path.startswith(f"{place}/")}
    return StandingPath(place, FOLDER_MODE, tree_name(below))


WORKFLOWS = ".github/workflows/"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a new tree."""

    path: str
    mode: str
    blob: str


class GitObjectRequests(Access):
    """Git objects as one token reaches them."""

    def create_blob(self, content: bytes) -> str:
        """Store a file's content; its name."""
        with self.request("create blob", "contents:write"):
            return self.github.objects.blob(content)

    def create_tree(self, base: str, entries: Sequence[TreeEntry]) -> str:
        """Store a tree: another one with these entries put in; its name."""
        with self.request("create tree", "contents:write"):
            objects = self.github.objects
            if base not in objects.trees:
                raise refused("base_tree is not a valid tree")
            files: dict[str, ModeAndBlob] = dict(objects.trees[base])
            for entry in entries:
                if entry.blob not in objects.blobs:
                    raise refused(f"tree.sha {entry.blob} is not a valid blob")
                files[entry.path] = (entry.mode, entry.blob)
            return objects.tree(files)

    def create_commit(self, message: str, tree: str, parents: Sequence[str]) -> Commit:
        """Store a commit; nothing points to it yet."""
        with self.request("create commit", "contents:write"):
            objects = self.github.objects
            if tree not in objects.trees or any(parent not in objects.commits for parent in parents):
                raise refused("Tree SHA or parent does not exist")
            return objects.commit(tree, tuple(parents), message, self.account, at=self.github.tick())

    def commit(self, sha: str) -> Commit:
        """A commit."""
        with self.request("get commit", "contents:read"):
            return self.github.commit(sha)

    def update_ref(self, branch: str, sha: str) -> str:
        """Move a branch to a commit that rests on its tip."""
        with self.request("update ref", "contents:write") as repository:
            if branch not in repository.branches:
                raise refused("Reference does not exist")
            if sha not in self.github.objects.commits:
                raise refused("Object does not exist")
            self._may_move(repository, branch, sha)
            repository.pushes.append(Push(branch, sha, self.account))
            self.github.move_branch(repository, branch, sha)
            return sha

    def _may_move(self, repository: Repository, branch: str, sha: str) -> None:
        objects, tip = self.github.objects, repository.branches[branch]
        if tip not in objects.ancestry(sha):
            raise refused("Update is not a fast forward")
        if repository.protected.get(branch):
            raise refused("Protected branch update failed: required status checks are expected.")
        before, after = objects.files(tip), objects.files(sha)
        moved = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        if any(path.startswith(WORKFLOWS) for path in moved) and not self.token.may("workflows:write"):
            raise RefusedRequest(403, "refusing to allow a GitHub App to create or update workflow")


NO_LABEL = "Label does not exist"
NO_NEW_LABEL = "You do not have permission to create labels on this repository."
MOST_LABELS = 100
LONGEST_LABEL = 50
_TALK = ("issues:write", "pull_requests:write")


class IssueRequests(Access):
    """What is said on pull requests themselves, as one token reaches it."""

    def comments(self, number: int) -> tuple[IssueComment, ...]:
        """The comments on a pull request, the oldest first."""
        with self.request("list comments", "issues:read", "pull_requests:read"):
            return tuple(self.known_pull(number).comments)

    def create(self, number: int, body: str | None) -> IssueComment:
        """Comment on a pull request."""
        with self.request("create comment", *_TALK):
            pull = self.known_pull(number)
            return self.github.comments(pull, by=self.account, body=checked_body(body))

    def react(self, comment_id: int) -> IssueComment:
        """Show eyes at a comment, once."""
        with self.request("react", *_TALK):
            comment = self._comment(comment_id)
            if self.account not in comment.seen_by:
                comment.seen_by.append(self.account)
            return comment

    def update(self, comment_id: int, body: str | None) -> IssueComment:
        """Put another text in a comment's place."""
        with self.request("update comment", *_TALK):
            comment = self._comment(comment_id)
            self.github.edits(comment, by=self.account, body=checked_body(body))
            return comment

    def delete(self, comment_id: int) -> None:
        """Delete a comment."""
        with self.request("delete comment", *_TALK) as repository:
            self.github.conversation(comment_id, repository).remove(self._comment(comment_id))

    def add_labels(self, number: int, names: Sequence[str]) -> tuple[str, ...]:
        """Put labels on; one that the repository does not have is made, for which ``issues:write`` is needed."""
        with self.request("add labels", *_TALK) as repository:
            pull = self.known_pull(number)
            there = {name.casefold() for name in repository.labels}
            if not there.issuperset(name.casefold() for name in names) and not self.token.may("issues:write"):
                raise RefusedRequest(403, NO_NEW_LABEL)
            for name in names:
                if not name.strip() or len(name) > LONGEST_LABEL:
                    raise invalid(f"A label's name has 1 to {LONGEST_LABEL} characters: {name}")
            new = {name.casefold() for name in names} - {label.casefold() for label in pull.labels}
            if len(pull.labels) + len(new) > MOST_LABELS:
                raise refused(f"Label limit reached: an issue has at most {MOST_LABELS} labels.")
            self.github.labels(pull, *names, by=self.account)
            return tuple(pull.labels)

    def remove_label(self, number: int, name: str) -> tuple[str, ...]:
        """Take a label off."""
        with self.request("remove label", *_TALK):
            pull = self.known_pull(number)
            if not self.github.takes_label(pull, name, by=self.account):
                raise RefusedRequest(404, NO_LABEL)
            return tuple(pull.labels)

    def request_reviewers(self, number: int, users: Sequence[str], teams: Sequence[str]) -> Pull:
        """Ask users and teams (``slug``) for their review: all of them, or none."""
        with self.request("request reviewers", "pull_requests:write") as repository:
            pull = self.known_pull(number)
            if teams and not self.token.may("members:read"):
                raise denied()
            names = [f"{repository.owner}/{slug}" for slug in teams]
            if any(user.casefold() == pull.author.casefold() for user in users):
                raise refused("Review cannot be requested from pull request author.")
            known = {name.casefold() for name in repository.permissions}
            if any(user.casefold() not in known for user in users) or any(
                name not in self.github.teams for name in names
            ):
                raise refused(
                    "Reviews may only be requested from collaborators. One or more of the users or teams you specified"
                    f" is not a collaborator of the {repository.name} repository."
                )
            for name in (*users, *names):
                self.github.happens(pull, self.account, f"requested a review from {name}")
            pull.requested_users.extend(user for user in users if user not in pull.requested_users)
            pull.requested_teams.extend(name for name in names if name not in pull.requested_teams)
            return pull

    def _comment(self, comment_id: int) -> IssueComment:
        repository = self.github.repository(self.repository_name)
        place = self.github.conversation(comment_id, repository)
        found = next((comment for comment in place if comment.id == comment_id), None)
        if found is None:
            raise missing()
        return found


ONE_PENDING = "User can only have one pending review per pull request"
"""What whoever has a pending review hears of every further one, also of one that is to be shown at once."""


class ReviewRequests(Access):
    """Reviews as one token reaches them."""

    def reviews(self, number: int) -> tuple[Review, ...]:
        """The reviews, the oldest first; somebody else's pending one is not among them."""
        with self.request("list reviews", "pull_requests:read"):
            return self.github.visible_reviews(self.known_pull(number), self.account)

    def review(self, number: int, review_id: int) -> Review:
        """One review."""
        with self.request("get review", "pull_requests:read"):
            return self._review(number, review_id)

    def threads(self, number: int) -> tuple[ReviewThread, ...]:
        """The threads that the token's account sees."""
        with self.request("list threads", "pull_requests:read"):
            return self.github.visible_threads(self.known_pull(number), self.account)

    def create(self, number: int, sha: str, body: str, remarks: Sequence[InlineComment]) -> Review:
        """Make a pending review. One bad line refuses all of it."""
        with self.request("create review", "pull_requests:write"):
            pull = self.known_pull(number)
            not_too_long(body, "body")
            if any(review.state == "PENDING" and review.author == self.account for review in pull.reviews):
                raise refused("Unprocessable Entity", ONE_PENDING)
            if sha not in self.github.commits_of(pull):
                raise refused("Unprocessable Entity", "Commit is not part of the pull request")
            files = {file.path: file for file in self.github.listed_files(pull)}
            texts = [_checked(files.get(remark.path), remark) for remark in remarks]
            github = self.github
            review = Review(github.next_id(), self.account, body, sha, "PENDING", github.tick())
            review.threads.extend(
                self._thread(review, remark, text) for remark, text in zip(remarks, texts, strict=True)
            )
            pull.reviews.append(review)
            return review

    def submit(self, number: int, review_id: int, body: str | None = None) -> Review:
        """Show a pending review to everybody, as a comment, which needs words."""
        with self.request("submit review", "pull_requests:write"):
            review = self._review(number, review_id)
            if review.state != "PENDING":
                raise refused("Unprocessable Entity", "Can not submit a review that is not pending")
            text = not_too_long(review.body if body is None else body, "body")
            review.body = text if review.threads else checked_body(text)
            review.state, review.at = "COMMENTED", self.github.tick()
            return review

    def delete(self, number: int, review_id: int) -> Review:
        """Delete a pending review; a submitted one stays."""
        with self.request("delete review", "pull_requests:write"):
            review = self._review(number, review_id)
            if review.state != "PENDING":
                raise refused("Can not delete a non-pending pull request review")
            self.known_pull(number).reviews.remove(review)
            return review

    def resolve(self, thread_id: str) -> ReviewThread:
        """Mark a thread as resolved, which takes more than the right to review."""
        with self.request("resolve thread", "contents:write"):
            for pull, thread in self.github.every_thread():
                if thread.id == thread_id:
                    if not self.token.may("pull_requests:write"):
                        raise denied()
                    if thread not in self.github.visible_threads(pull, self.account):
                        break
                    self.github.resolves(thread, by=self.account)
                    return thread
            raise missing()

    def _review(self, number: int, review_id: int) -> Review:
        seen = self.github.visible_reviews(self.known_pull(number), self.account)
        found = next((review for review in seen if review.id == review_id), None)
        if found is None:
            raise missing()
        return found

    def _thread(self, review: Review, remark: InlineComment, text: str) -> ReviewThread:
        github = self.github
        comment = ReviewComment(
            github.next_id(), self.account, remark.body, remark.path, remark.side, remark.line,
            remark.start_line, remark.line, review.commit, github.tick(), remark.start_line,
        )  # fmt: skip
        return ReviewThread(f"PRRT_{github.next_id()}", [comment], text)


def _checked(file: PullFile | None, remark: InlineComment) -> str:
    """The text of the line that a remark is on. Raises GitHub's 422 for a line that takes no comment."""
    checked_body(remark.body)
    if file is None:
        raise refused("Unprocessable Entity", "Path could not be resolved")
    lines = file.shown.side(remark.side)
    line = lines.get(remark.line)
    if line is None:
        raise refused("Unprocessable Entity", "Line could not be resolved")
    if remark.start_line is not None:
        start = lines.get(remark.start_line)
        if remark.start_line >= remark.line:
            raise refused("Unprocessable Entity", "start_line must precede the end line.")
        if start is None or start.hunk != line.hunk:
            raise refused("Unprocessable Entity", "start_line must be part of the same hunk as the line.")
    return line.text


class Session:
    """One method call is one request: logged, allowed or refused, and met by whatever trouble was planned.

    Raises ``RefusedRequest``, ``Trouble`` or ``Killed``. The repository need not exist.
    """

    def __init__(self, github: GitHub, repository: str, token: Token) -> None:
        access = (github, repository, token)
        self.facts = FactRequests(*access)
        self.checks = CheckRequests(*access)
        self.conversation = IssueRequests(*access)
        self.reviewing = ReviewRequests(*access)
        self.git_data = GitObjectRequests(*access)
