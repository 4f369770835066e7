"""One repository on GitHub, as the forge that the bot reads and writes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from itertools import islice, takewhile
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from review_advisor.change.change import CommittedFile
from review_advisor.change.patch import PatchError, split_patch
from review_advisor.change.pull_request import LinkedIssue, Makers, Permission, PullRequest, StandingRemark
from review_advisor.github import responses
from review_advisor.github.forge import (
    MOST_COMPARED,
    MOST_IN_FOLDER,
    MOST_LISTED_COMMITS,
    MOST_RECENT,
    CommentableLines,
    Comparison,
    FolderEntry,
    ForgeDenied,
    ForgeMissing,
    ForgeRejected,
    ForgeUnavailable,
    ListedFile,
)
from review_advisor.github.responses import (
    ActivityAnswer,
    AnnotationAnswer,
    BranchAnswer,
    ChecksAnswer,
    CommentNode,
    CommitAnswer,
    ComparisonAnswer,
    ContentAnswer,
    EntryAnswer,
    FileAnswer,
    FoundAnswer,
    Identified,
    IssueNode,
    PermissionAnswer,
    PullRequestAnswer,
    Read,
    RecentNodeOrNull,
    RemarkNode,
    ReviewAnswer,
    Root,
    ThreadNode,
    api_address,
    commit_name,
    is_login,
    quoted,
    repository_name,
    token_value,
)
from review_advisor.github.state import RecentWork, StandingCheck, StandingComment, StandingReview, Thread
from review_advisor.github.wire import Exchange, RepositoryReader, Wire
from review_advisor.github.writes import Check, InlineComment, MadeCommit, in_requests, missing_annotations
from review_advisor.review.ports import Clock

NO_COMMIT = "No commit found"
"""How GitHub tells that it lacks the commit, not the file."""

NO_LABEL = "Label does not exist"
"""How GitHub tells that a label is not on the pull request, which itself is there."""

_BETWEEN_WRITES = 1.0
"""Seconds. GitHub asks for them, or its secondary limits strike."""

_MOST_COMMIT_PAGES = 10
"""A branch with more pushes than these pages hold, a hundred each, has some that nobody knows."""


class _Numbered(Protocol):
    @property
    def id(self) -> int: ...


_Item = TypeVar("_Item", bound=_Numbered)


class _Named(Read):
    sha: str


class _Commit(_Named):
    tree: _Named


def connect(repository: str, *, token: str, api_url: str = "", clock: Clock) -> GitHubForge:
    """The forge of ``owner/name``; nothing is sent yet.

    ``token`` is a workflow's own, a person's, or an app installation's. ``api_url`` is the base of the REST API
    (``GITHUB_API_URL``, such as ``https://ghe.example.com/api/v3``); empty is GitHub's own. Raises ``ForgeError``
    where one of them cannot be used.
    """
    name = repository_name(repository)
    address = api_address(api_url)
    exchange = Exchange(address, token_value(token))
    return GitHubForge(name, Wire(exchange, clock, between_writes=0.0 if address.loopback else _BETWEEN_WRITES))


class GitHubForge(RepositoryReader):
    """One repository on GitHub or GitHub Enterprise, as ``ports.Forge``; ``connect`` opens it."""

    def __init__(self, repository: str, wire: Wire) -> None:
        super().__init__(repository, wire)
        self._repository = repository
        self._owner, _, self._name = repository.partition("/")

    def pull_request(self, number: int) -> PullRequest:
        """The pull request as it is now; ``base_sha`` is the base branch's tip as GitHub last recorded it."""
        answer = self._wire.get(f"read pull request #{number}", self._pull(number), PullRequestAnswer)
        return answer.value(self._repository)

    def open_pull_requests(self, head_sha: str) -> tuple[PullRequest, ...]:
        """The open pull requests whose head is this very commit, the lowest number first, out of all open ones.

        GitHub's list by commit is shorter, and names for a commit of the default branch only what brought it there.
        """
        head = commit_name(head_sha)
        parameters = {"state": "open", "sort": "created", "direction": "asc"}
        pages = self._wire.pages(
            "list the open pull requests", f"{self._root}/pulls", list[PullRequestAnswer], parameters
        )
        found = {each.number: each for page in pages for each in page if each.state == "open" and each.head_sha == head}
        return tuple(found[number].value(self._repository) for number in sorted(found))

    def makers(self, pull_request: PullRequest) -> Makers:
        """The accounts that GitHub knows the commits' authors and committers by, and whoever pushed any of the commits.

        It goes by the mail addresses in a commit.
        """
        doing = f"list the commits of pull request #{pull_request.number}"
        pages = self._wire.pages(doing, f"{self._pull(pull_request.number)}/commits", list[CommitAnswer])
        commits = [each for page in pages for each in page]
        found = (login for each in commits for login in each.makers())
        pushed = self.pushers(pull_request, {each.sha for each in commits})
        named = all(each.names_author for each in commits)
        whole = named and pushed.whole and len(commits) < MOST_LISTED_COMMITS
        return Makers(tuple(dict.fromkeys((*found, *pushed.logins))), whole)

    def pushers(self, pull_request: PullRequest, commits: AbstractSet[str]) -> Makers:
        """Whoever pushed one of these commits to the head's branch.

        Not whole: a fork that the token cannot read, more pushes than are read, or a head that nobody is known to push.
        """
        every, whole = self._pushes("read who pushed the commits", pull_request, _MOST_COMMIT_PAGES)
        pushes = [each for each in every if each.after in commits]
        known = all(each.actor for each in pushes) and pull_request.head_sha in {each.after for each in pushes}
        return Makers(tuple(dict.fromkeys(each.actor.login for each in pushes if each.actor)), whole and known)

    def pushed_heads(self, pull_request: PullRequest) -> tuple[str, ...]:
        """The heads that pushes gave to its branch, the newest first, at most a hundred; none if unreadable."""
        pushes, _ = self._pushes("read what was pushed", pull_request, 1)
        return tuple(dict.fromkeys(each.after for each in pushes))

    def compared(self, base: str, head: str) -> Comparison:
        """What ``head`` brings over its merge base with ``base``: both are commits, which no push moves."""
        path = f"{self._root}/compare/{commit_name(base)}...{commit_name(head)}"
        pages = self._wire.pages(f"compare the commit {head[:12]} with its base", path, ComparisonAnswer)
        commits = tuple(each.value() for page in pages for each in page.commits)
        listed = pages[0].files
        files = tuple(each.value() for each in listed or ())
        whole = listed is not None and len(files) < MOST_COMPARED and len(commits) == pages[0].total_commits
        return Comparison(files, commits, whole)

    def linked_issues(self, number: int) -> tuple[LinkedIssue, ...]:
        """The issues that it closes, the lowest number first; one that the token may not see is left out."""
        doing = f"list the issues that pull request #{number} closes"
        nodes = self._wire.graph_nodes(
            doing, responses.LINKED_ISSUES, self._variables(number), Root[IssueNode], partly=True
        )
        return tuple(sorted((node.value() for node in nodes), key=lambda issue: (issue.number, issue.repository)))

    def permission(self, login: str) -> Permission:
        """What this account may do here, by GitHub's word; none for an account that GitHub does not know."""
        if not is_login(login):
            return Permission.NONE
        path = f"{self._root}/collaborators/{quote(login, safe='')}/permission"
        try:
            return self._wire.get(f"read what {quoted(login)} may do", path, PermissionAnswer).value()
        except ForgeMissing:
            return Permission.NONE

    def file(self, path: str, commit: str) -> bytes | None:
        """A regular file of a commit, at most 1 MB; None if there is none, or a folder, a link or a submodule."""
        doing = f"read the file {quoted(path)}"
        found = self._found(doing, path, commit)
        if found is None or isinstance(found, list) or found.type != "file" or found.path != path:
            return None
        return _bytes(doing, found)

    def folder(self, path: str, commit: str) -> tuple[FolderEntry, ...]:
        """What lies directly in a folder of a commit. A link in its place is not followed."""
        doing = f"list the folder {quoted(path)}"
        found = self._found(doing, path, commit)
        if found is None:
            return ()
        if not isinstance(found, list):
            return (FolderEntry(path, "other"),)
        if len(found) >= MOST_IN_FOLDER:
            raise ForgeRejected(f"GitHub could not {doing}: it lists {MOST_IN_FOLDER:,} entries and no more.")
        return tuple(entry.value() for entry in found)

    def changed_files(self, number: int) -> tuple[ListedFile, ...]:
        """The files of the pull request. A copy leaves the file that it was made of as it was."""
        return tuple(file.value() for file in self._files(number))

    def commentable_lines(self, number: int) -> Mapping[str, CommentableLines]:
        """For each file whose patch GitHub shows: the lines on which it takes a comment. GitHub lists 3,000 files."""
        found = {file.filename: commentable(file.patch) for file in self._files(number) if file.patch}
        return {path: lines for path, lines in found.items() if lines is not None}

    def checks(self, commit: str, name: str) -> tuple[StandingCheck, ...]:
        """All check runs of this name on a commit, the lowest id first."""
        path = f"{self._root}/commits/{commit_name(commit)}/check-runs"
        parameters = {"check_name": name, "filter": "all"}
        pages = self._wire.pages(f"list the checks of commit {commit[:12]}", path, ChecksAnswer, parameters)
        return _in_order(each.value() for page in pages for each in page.check_runs if each.name == name)

    def comments(self, number: int) -> tuple[StandingComment, ...]:
        """All comments on the pull request itself, the lowest id first."""
        doing = f"list the comments of pull request #{number}"
        nodes = self._wire.graph_nodes(doing, responses.COMMENTS, self._variables(number), Root[CommentNode])
        return _in_order(node.value() for node in nodes)

    def reviews(self, number: int) -> tuple[StandingReview, ...]:
        """All reviews that the token's account can see, its own pending one too; the lowest id first."""
        path = f"{self._pull(number)}/reviews"
        pages = self._wire.pages(f"list the reviews of pull request #{number}", path, list[ReviewAnswer])
        return _in_order(each.value() for page in pages for each in page)

    def threads(self, number: int) -> tuple[Thread, ...]:
        """All threads of inline comments, the first begun first: in which order GitHub lists them is not promised."""
        doing = f"list the threads of pull request #{number}"
        nodes = self._wire.graph_nodes(doing, responses.THREADS, self._variables(number), Root[ThreadNode])
        return tuple(node.value() for node in sorted(nodes, key=lambda node: node.begun))

    def remarks(self, number: int) -> tuple[StandingRemark, ...]:
        """The first comment of each thread on the diff, with who resolved it and whose thumbs it has."""
        doing = f"list what became of the comments of pull request #{number}"
        nodes = self._wire.graph_nodes(doing, responses.REMARKS, self._variables(number), Root[RemarkNode])
        return tuple(remark for node in nodes if (remark := node.value()) is not None)

    def recent_work(self, check_name: str, since: datetime) -> RecentWork:
        """The pull requests that changed ``since`` then, at most ``MOST_RECENT``, one request for fifty of them.

        One that GitHub does not show whole is left out: it must not stop the reviews of all others.
        """
        variables = {"owner": self._owner, "name": self._name, "check": check_name}
        doing = "list the pull requests that changed lately"
        nodes = self._wire.graph_parts(doing, responses.RECENT, variables, Root[RecentNodeOrNull])
        lately = takewhile(lambda node: node is None or node.updated_at >= since, nodes)
        found = list(islice(lately, MOST_RECENT + 1))
        visible = tuple(node.value() for node in found[:MOST_RECENT] if node is not None)
        return RecentWork(visible, whole=len(found) <= MOST_RECENT and None not in found)

    def create_check(self, commit: str, check: Check) -> int:
        """Make a check run; its id. Its first fifty annotations come with it, the others and the conclusion after."""
        first, *rest = map(check_body, in_requests(check))
        whole = {**first, "head_sha": commit_name(commit)}
        doing = f"make the check {quoted(check.name)}"
        made = self._wire.make(doing, f"{self._root}/check-runs", whole, Identified).id
        self._bring_about(doing, made, rest)
        return made

    def update_check(self, check_id: int, check: Check) -> None:
        """Make a check run stand as ``check`` says. An annotation that already stands is not sent again."""
        doing = f"update the check {quoted(check.name)}"
        if check.annotations:
            pages = self._wire.pages(doing, f"{self._root}/check-runs/{check_id}/annotations", list[AnnotationAnswer])
            standing = (each.value() for page in pages for each in page)
            check = replace(check, annotations=missing_annotations(check.annotations, standing))
        self._bring_about(doing, check_id, map(check_body, in_requests(check)))

    def mark_check(self, check_id: int, external_id: str) -> None:
        """Give a check run another external id, and leave everything else of it."""
        self._bring_about("mark a check", check_id, [{"external_id": external_id}])

    def react(self, comment_id: int) -> None:
        """Show eyes at a comment on the pull request."""
        path = f"{self._root}/issues/comments/{comment_id}/reactions"
        self._wire.write("react to a comment", "POST", path, {"content": "eyes"})

    def create_comment(self, number: int, body: str) -> int:
        """Comment on the pull request; the comment's id."""
        doing = f"comment on pull request #{number}"
        return self._wire.make(doing, f"{self._issue(number)}/comments", {"body": body}, Identified).id

    def update_comment(self, comment_id: int, body: str) -> None:
        """Put another text in the comment's place."""
        self._wire.write("edit a comment", "PATCH", f"{self._root}/issues/comments/{comment_id}", {"body": body})

    def delete_comment(self, comment_id: int) -> None:
        """Delete a comment."""
        self._wire.write("delete a comment", "DELETE", f"{self._root}/issues/comments/{comment_id}")

    def start_review(self, number: int, commit: str, body: str, comments: tuple[InlineComment, ...]) -> int:
        """Make a pending review, which nobody else sees; its id. One line outside the diff rejects all of it."""
        review = {"commit_id": commit_name(commit), "body": body, "comments": [_inline(each) for each in comments]}
        doing = f"review pull request #{number}"
        return self._wire.make(doing, f"{self._pull(number)}/reviews", review, Identified).id

    def submit_review(self, number: int, review_id: int) -> None:
        """Show a pending review to everybody, as COMMENT, with the text it was started with."""
        doing = f"submit the review of pull request #{number}"
        path = f"{self._pull(number)}/reviews/{review_id}"
        # GitHub wants the text of a COMMENT with the event; whether a pending one's counts, it does not document.
        text = self._wire.get(doing, path, ReviewAnswer).body
        self._wire.write(doing, "POST", f"{path}/events", {"event": "COMMENT", **({"body": text} if text else {})})

    def discard_review(self, number: int, review_id: int) -> None:
        """Delete a pending review."""
        doing = f"discard the pending review of pull request #{number}"
        self._wire.write(doing, "DELETE", f"{self._pull(number)}/reviews/{review_id}")

    def add_label(self, number: int, label: str) -> None:
        """Put a label on; GitHub makes one that does not exist."""
        doing = f"label pull request #{number} with {quoted(label)}"
        self._wire.write(doing, "POST", f"{self._issue(number)}/labels", {"labels": [label]})

    def remove_label(self, number: int, label: str) -> None:
        """Take a label off; one that is not there is no error."""
        doing = f"take the label {quoted(label)} off pull request #{number}"
        if label in {"", ".", ".."}:  # as a part of a path these would mean all labels, or something else
            raise ForgeRejected(f"GitHub could not {doing}: its name cannot stand in a request.")
        try:
            self._wire.write(doing, "DELETE", f"{self._issue(number)}/labels/{quote(label, safe='')}")
        except ForgeMissing as error:
            if NO_LABEL not in str(error):
                raise

    def request_review(self, number: int, reviewers: tuple[str, ...]) -> None:
        """Ask people (``login``) and teams (``org/team``) for their review."""
        teams = [each.partition("/") for each in reviewers if "/" in each]
        for organization, _, _ in teams:
            if organization.casefold() != self._owner.casefold():
                raise ForgeRejected(f"GitHub takes teams of {self._owner} only, not of {quoted(organization)}.")
        body = {
            "reviewers": [each for each in reviewers if "/" not in each],
            "team_reviewers": [t for _, _, t in teams],
        }
        doing = f"ask for reviews of pull request #{number}"
        self._wire.write(doing, "POST", f"{self._pull(number)}/requested_reviewers", body)

    def resolve_thread(self, thread_id: str) -> None:
        """Mark a thread of inline comments as resolved."""
        self._wire.mutate("resolve a thread", responses.RESOLVE_THREAD, {"thread": thread_id})

    def is_protected(self, branch: str) -> bool:
        """Whether any rule guards a branch, or it is the default one: branch protection and rulesets both count."""
        path = _path(branch)
        return self._read_repository().default_branch == branch or self._has_rules(path)

    def tip(self, branch: str) -> str:
        """The commit that a branch ends with."""
        doing = f"read the branch {quoted(branch)}"
        return self._wire.get(doing, f"{self._root}/branches/{_path(branch)}", BranchAnswer).tip

    def make_commit(self, parent: str, files: tuple[CommittedFile, ...], message: str) -> MadeCommit:
        """Make a commit on ``parent`` with these files put into its tree. No branch leads to it yet.

        The parent's own tree is asked for: a commit's name is no base of a tree by GitHub's word.
        """
        doing = f"read commit {quoted(parent)}"
        base = self._wire.get(doing, f"{self._root}/git/commits/{commit_name(parent)}", _Commit).tree.sha
        entries = []
        for each in files:
            content = {"content": base64.b64encode(each.content).decode("ascii"), "encoding": "base64"}
            blob = self._wire.make("store a file", f"{self._root}/git/blobs", content, _Named).sha
            entries.append({"path": each.path, "mode": each.mode, "type": "blob", "sha": blob})
        body = {"base_tree": base, "tree": entries}
        tree = self._wire.make("store a tree", f"{self._root}/git/trees", body, _Named).sha
        commit = {"message": message, "tree": tree, "parents": [parent]}
        made = self._wire.make("store a commit", f"{self._root}/git/commits", commit, _Commit)
        return MadeCommit(made.sha, made.tree.sha)

    def advance_branch(self, branch: str, commit: str) -> None:
        """Move a branch forward to a commit, without force."""
        doing = f"move the branch {quoted(branch)}"
        path = f"{self._root}/git/refs/heads/{_path(branch)}"
        self._wire.write(doing, "PATCH", path, {"sha": commit_name(commit), "force": False})

    def _pushes(self, doing: str, pull_request: PullRequest, pages: int) -> tuple[list[ActivityAnswer], bool]:
        """The newest pushes to the head's branch, and whether they are all; none where the token may not read them."""
        if pull_request.head_repository is None:
            return [], False
        path = f"/repos/{quote(pull_request.head_repository)}/activity"
        parameters = {"ref": f"refs/heads/{pull_request.head_ref}"}
        try:
            found, whole = self._wire.newest(doing, path, list[ActivityAnswer], parameters, pages)
        except (ForgeMissing, ForgeDenied):
            return [], False
        return [each for page in found for each in page], whole

    def _bring_about(self, doing: str, check_id: int, steps: Iterable[Mapping[str, Any]]) -> None:
        for body in steps:
            self._wire.write(doing, "PATCH", f"{self._root}/check-runs/{check_id}", body)

    def _found(self, doing: str, path: str, commit: str) -> ContentAnswer | list[EntryAnswer] | None:
        """What stands at a path of a commit; nothing for a path that no tree can hold."""
        if not path or any(part in {"", ".", ".."} for part in path.split("/")):
            return None
        ref = {"ref": commit_name(commit)}
        try:
            return self._wire.get(doing, f"{self._root}/contents/{quote(path)}", FoundAnswer, ref).root
        except ForgeMissing as error:
            if NO_COMMIT in str(error):
                raise
            return None

    def _files(self, number: int) -> Iterator[FileAnswer]:
        doing = f"list the files of pull request #{number}"
        for page in self._wire.pages(doing, f"{self._pull(number)}/files", list[FileAnswer]):
            yield from page

    def _pull(self, number: int) -> str:
        return f"{self._root}/pulls/{number}"

    def _issue(self, number: int) -> str:
        return f"{self._root}/issues/{number}"

    def _variables(self, number: int) -> dict[str, Any]:
        return {"owner": self._owner, "name": self._name, "number": number}


def check_body(check: Check) -> dict[str, Any]:
    """The body that brings one of ``in_requests`` about."""
    output: dict[str, Any] = {"title": check.title, "summary": check.summary}
    if check.annotations:
        output["annotations"] = [
            {
                "path": each.path,
                "start_line": each.start_line,
                "end_line": each.end_line,
                "annotation_level": each.level,
                "title": each.title,
                "message": each.message,
            }
            for each in check.annotations
        ]
    found: dict[str, Any] = {"name": check.name, "external_id": check.external_id, "output": output}
    if check.details_url is not None:
        found["details_url"] = check.details_url
    if check.conclusion is not None:
        return {**found, "status": "completed", "conclusion": check.conclusion.value}
    return {**found, "status": "in_progress"}


_HEADER = b"--- old\n+++ new\n"
"""GitHub's patches begin with their first hunk."""


def commentable(patch: str) -> CommentableLines | None:
    """Every line that the patch shows, unchanged ones on both sides; None for a patch that does not hold together."""
    try:
        sections = split_patch(_HEADER + patch.encode("utf-8", "replace"))
    except PatchError:
        return None
    right: set[int] = set()
    left: set[int] = set()
    for hunk in (hunk for section in sections for hunk in section.hunks):
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            mark = line[0]
            if mark in " -":
                left.add(old)
                old += 1
            if mark in " +":
                right.add(new)
                new += 1
    return CommentableLines(frozenset(right), frozenset(left))


def _path(branch: str) -> str:
    """A branch's name as a part of a path. Raises ``ForgeRejected`` for one that would lead somewhere else."""
    if any(part in {"", ".", ".."} for part in branch.split("/")):
        raise ForgeRejected(f"{quoted(branch)} is not the name of a branch.")
    return quote(branch)


def _in_order(items: Iterable[_Item]) -> tuple[_Item, ...]:
    """The lowest id first, each once: a page may repeat what the one before has shown."""
    return tuple(sorted({item.id: item for item in items}.values(), key=lambda item: item.id))


def _inline(comment: InlineComment) -> dict[str, Any]:
    found = {"path": comment.path, "line": comment.line, "side": comment.side, "body": comment.body}
    if comment.start_line is None or comment.start_line == comment.line:
        return found
    return {**found, "start_line": comment.start_line, "start_side": comment.side}


def _bytes(doing: str, found: ContentAnswer) -> bytes:
    if found.encoding != "base64":
        raise ForgeRejected(f"GitHub could not {doing}: it is larger than 1 MB.")
    try:
        content = base64.b64decode(found.content)
    except binascii.Error:
        content = b""
    if len(content) != found.size:
        raise ForgeUnavailable(f"GitHub could not {doing} whole.")
    return content
