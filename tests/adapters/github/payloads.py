"""The model's records as GitHub writes them in JSON: in answers, and in the events that start workflows.

Only what the model knows is told: whoever sends it fills in what GitHub's description demands besides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from review_advisor.mockworld.github import GitHub, moment
from review_advisor.mockworld.github_records import Account, IssueComment, Pull, Repository

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Payloads:
    """Writes records; ``api`` is where the API's addresses begin, ``site`` where the pages' do."""

    ground: GitHub
    api: str = "https://api.github.com"
    site: str = "https://github.com"

    def account(self, login: str) -> Json:
        """An account, by its name; one that nobody knows is the ghost."""
        found = self.ground.accounts.get(login, Account(10137, "ghost"))
        return {"login": found.login, "id": found.id, "type": found.kind}

    def repository(self, repository: Repository) -> Json:
        """A repository."""
        return {
            "id": repository.id,
            "name": repository.name.partition("/")[2],
            "full_name": repository.name,
            "owner": self.account(repository.owner),
            "private": repository.private,
            "fork": repository.parent is not None,
            "url": f"{self.api}/repos/{repository.name}",
            "html_url": f"{self.site}/{repository.name}",
            "clone_url": f"{self.site}/{repository.name}.git",
            "default_branch": repository.default_branch,
        }

    def comment(self, comment: IssueComment) -> Json:
        """A comment on a pull request or an issue. Who edited it is not in it: only GraphQL tells."""
        return {
            "id": comment.id,
            "user": self.account(comment.author),
            "body": comment.body,
            "created_at": moment(comment.at),
            "updated_at": moment(comment.edited_at or comment.at),
            "author_association": "NONE",
        }

    def pull_simple(self, pull: Pull) -> Json:
        """A pull request as lists show it."""
        url = f"{self.api}/repos/{pull.repository}/pulls/{pull.number}"
        return {
            "url": url,
            "html_url": f"{self.site}/{pull.repository}/pull/{pull.number}",
            "issue_url": f"{self.api}/repos/{pull.repository}/issues/{pull.number}",
            "id": pull.id,
            "number": pull.number,
            "state": pull.state,
            "title": pull.title,
            "user": self.account(pull.author),
            "body": pull.body or None,
            "merged_at": None if pull.merged_at is None else moment(pull.merged_at),
            "merge_commit_sha": pull.merge_commit,
            "requested_reviewers": [self.account(login) for login in pull.requested_users],
            "labels": [{"name": label} for label in pull.labels],
            "draft": pull.draft,
            "head": self._side(pull.head_repository, pull.author, pull.head_ref, pull.head_sha),
            "base": self._side(pull.repository, pull.author, pull.base_ref, pull.recorded_base),
            "author_association": "NONE",
        }

    def pull(self, pull: Pull) -> Json:
        """A pull request alone."""
        return {
            **self.pull_simple(pull),
            "merged": pull.merged,
            "changed_files": len(self.ground.changed_files(pull)),
        }

    def _side(self, repository: str | None, author: str, ref: str, sha: str) -> Json:
        """One end of a pull request. Of a deleted fork its owner is left, who is the author."""
        found = self.ground.repository(repository) if repository else None
        owner = found.owner if found else author
        return {
            "label": f"{owner}:{ref}",
            "ref": ref,
            "sha": sha,
            "user": self.account(owner),
            "repo": self.repository(found) if found else None,
        }
