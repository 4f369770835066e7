"""Requests that read: pull requests, their files, people, branches and what guards them, contents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from review_advisor.core.facts.change import EXECUTABLE_MODE, REGULAR_MODE
from review_advisor.core.facts.pull_request import Permission
from review_advisor.core.pull_request.standing import CheckMark, RecentPullRequest
from review_advisor.mockworld.github.ground import time_of
from review_advisor.mockworld.github.objects import Commit, ModeAndBlob
from review_advisor.mockworld.github.records import Account, Issue, Protection, Pull, PullFile, Push, Repository
from review_advisor.mockworld.github.requests.access import Access
from review_advisor.mockworld.github.traffic import RefusedRequest, missing
from review_advisor.mockworld.object_names import FOLDER_MODE, tree_name
from review_advisor.ports.forge import MOST_COMPARED, MOST_IN_FOLDER, MOST_LISTED_COMMITS

NO_COMMIT = "No commit found"


@dataclass(frozen=True, slots=True)
class RecentPull:
    """A pull request with the second of its last change, and what a list of such tells of it."""

    pull: Pull
    at: int
    told: RecentPullRequest


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
        said = [*(each.at for each in pull.comments), *(each.at for each in pull.reviews)]
        return max([pull.at, *said, *(each.at for each in pull.happened)])

    def _recent(self, pull: Pull, repository: Repository, check_name: str) -> RecentPullRequest:
        author, from_fork = self.github.id_of(pull.author), pull.head_repository != pull.repository
        closed_at = None if pull.closed_at is None else time_of(pull.closed_at)
        if pull.state == "closed" and not pull.merged and not self.github.commits_of(pull):
            return RecentPullRequest(pull.number, author, None, closed_at, from_fork)
        runs = (each for each in repository.checks.values() if (each.commit, each.name) == (pull.head_sha, check_name))
        marks = tuple(CheckMark(each.app, each.external_id, each.conclusion is None) for each in runs)
        return RecentPullRequest(pull.number, author, marks, closed_at, from_fork)

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

        A link or a submodule is told as one entry, under its own path.
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
