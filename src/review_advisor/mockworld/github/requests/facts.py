"""Requests that read: pull requests, their files, people, branches and what guards them, contents."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.facts.pull_request import Permission
from review_advisor.mockworld.github.objects import Commit
from review_advisor.mockworld.github.records import Account, Issue, Protection, Pull, PullFile, Repository
from review_advisor.mockworld.github.requests.access import Access
from review_advisor.mockworld.github.traffic import RefusedRequest, denied, missing

NO_COMMIT = "No commit found"
MOST_CONTENT = 100_000_000
"""Past this the contents API refuses."""


@dataclass(frozen=True, slots=True)
class FactRequests:
    """What a token may learn of a repository."""

    access: Access

    def repository(self) -> Repository:
        """The repository."""
        with self.access.request("get repository") as repository:
            return repository

    def user(self) -> Account:
        """Whose token it is. An app's token may not ask, and a workflow's is one."""
        with self.access.github.traffic.request("get user", "read", self.access.account):
            if self.access.token.app is not None:
                raise denied()
            return self.access.github.account(self.access.account)

    def pull(self, number: int) -> Pull:
        """A pull request: as it is, or as it was, where GitHub's answers lag."""
        with self.access.request("get pull request", "pull_requests:read"):
            lagging = self.access.github.traffic.lagging
            return lagging.pop(0) if lagging else self.access.pull(number)

    def pulls(self, *, state: str = "open", head: str | None = None, oldest_first: bool = False) -> tuple[Pull, ...]:
        """Pull requests, the newest first unless asked otherwise. ``head`` is ``owner:branch``."""
        with self.access.request("list pull requests", "pull_requests:read") as repository:
            found = [pull for pull in repository.pulls.values() if state in {"all", pull.state}]
            found = [pull for pull in found if head in {None, _head(pull)}]
            return tuple(found if oldest_first else reversed(found))

    def pulls_with(self, sha: str) -> tuple[Pull, ...]:
        """The pull requests that a commit is part of; of one in the default branch only those that brought it there."""
        with self.access.request("list pull requests of commit", "pull_requests:read") as repository:
            self._known(sha)
            github, pulls = self.access.github, repository.pulls.values()
            if sha in github.objects.ancestry(repository.branches[repository.default_branch]):
                return tuple(pull for pull in pulls if pull.merged and sha in github.objects.ancestry(pull.head_sha))
            return tuple(pull for pull in pulls if sha in github.commits_of(pull))

    def commit(self, sha: str) -> Commit:
        """A commit, with the account that made it."""
        with self.access.request("get repository commit", "contents:read"):
            self._known(sha)
            return self.access.github.commit(sha)

    def files(self, number: int) -> tuple[PullFile, ...]:
        """The files of a pull request; the list ends at 3,000."""
        with self.access.request("list files", "pull_requests:read"):
            return self.access.github.listed_files(self.access.pull(number))

    def commits(self, number: int) -> tuple[Commit, ...]:
        """The commits of a pull request, the oldest first; the list ends at 250."""
        with self.access.request("list commits", "pull_requests:read"):
            github = self.access.github
            return tuple(github.commit(sha) for sha in github.commits_of(self.access.pull(number))[:250])

    def closing_issues(self, number: int) -> tuple[tuple[Repository, Issue], ...]:
        """The issues that a merge would close; those that the token may not see are left out."""
        with self.access.request("list closing issues", "pull_requests:read", "issues:read"):
            places = [(self.access.github.repository(name), issue) for name, issue in self.access.pull(number).closes]
            return tuple((place, place.issues[issue]) for place, issue in places if issue in place.issues)

    def permission(self, login: str) -> tuple[Account, Permission]:
        """What an account may do in the repository."""
        with self.access.request("get permission") as repository:
            return self.access.github.account(login), repository.permission(login)

    def content(self, path: str, ref: str) -> tuple[str, bytes]:
        """The name and bytes of a file at a commit or branch."""
        with self.access.request("get content", "contents:read") as repository:
            sha = repository.branches.get(ref, ref)
            if sha not in self.access.github.objects.commits:
                raise RefusedRequest(404, f"{NO_COMMIT} for the ref {ref}")
            found = self.access.github.objects.files(sha).get(path)
            if found is None:
                raise missing()
            content = self.access.github.objects.blobs[found[1]]
            if len(content) > MOST_CONTENT:
                raise RefusedRequest(403, "This API returns blobs up to 100 MB in size.")
            return found[1], content

    def protection(self, branch: str) -> Protection:
        """The protection of a branch, which takes an administrator's token."""
        with self.access.request("get protection", "administration:read") as repository:
            self._branch(repository, branch)
            guards = [each for each in repository.protected.get(branch, []) if each.ruleset is None]
            if not guards:
                raise RefusedRequest(404, "Branch not protected")
            return guards[-1]

    def rules(self, branch: str) -> tuple[Protection, ...]:
        """The rulesets that hold for a branch."""
        with self.access.request("list rules") as repository:
            return tuple(each for each in repository.protected.get(branch, []) if each.ruleset is not None)

    def branch(self, branch: str) -> tuple[str, tuple[Protection, ...]]:
        """A branch's tip, and what guards it."""
        with self.access.request("get branch", "contents:read") as repository:
            return self._branch(repository, branch), tuple(repository.protected.get(branch, []))

    def _branch(self, repository: Repository, branch: str) -> str:
        if branch not in repository.branches:
            raise RefusedRequest(404, "Branch not found")
        return repository.branches[branch]

    def _known(self, sha: str) -> None:
        if sha not in self.access.github.objects.commits:
            raise RefusedRequest(422, f"{NO_COMMIT} for SHA: {sha}")


def _head(pull: Pull) -> str:
    return f"{(pull.head_repository or '').partition('/')[0]}:{pull.head_ref}"
