"""Requests that read: pull requests, their files, people, branches and what guards them, contents."""

from __future__ import annotations

from review_advisor.core.facts.pull_request import Permission
from review_advisor.mockworld.github.objects import Commit
from review_advisor.mockworld.github.records import Account, Issue, Protection, Pull, PullFile, Push, Repository
from review_advisor.mockworld.github.requests.access import Access
from review_advisor.mockworld.github.traffic import RefusedRequest, missing
from review_advisor.ports.forge import MOST_COMPARED, MOST_LISTED_COMMITS

NO_COMMIT = "No commit found"


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

    def content(self, path: str, ref: str) -> tuple[str, bytes]:
        """The name and bytes of a file at a commit or branch."""
        with self.request("get content", "contents:read") as repository:
            sha = repository.branches.get(ref, ref)
            if sha not in self.github.objects.commits:
                raise RefusedRequest(404, f"{NO_COMMIT} for the ref {ref}")
            found = self.github.objects.files(sha).get(path)
            if found is None:
                raise missing()
            return found[1], self.github.objects.blobs[found[1]]

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
