"""The model's records as GitHub writes them in JSON: in answers, and in the events that start workflows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from review_advisor.mockworld.github.ground import Ground
from review_advisor.mockworld.github.records import Account, App, IssueComment, Label, Pull, Repository, Team

Json = dict[str, Any]

_BEGINNING = datetime(2026, 1, 5, 9, tzinfo=UTC)
_ACCOUNT_URLS = (
    "events", "followers", "following", "gists", "organizations", "received_events", "repos", "starred",
    "subscriptions",
)  # fmt: skip
_REPOSITORY_URLS = (
    "archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits", "compare", "contents",
    "contributors", "deployments", "downloads", "events", "forks", "git_commits", "git_refs", "git_tags", "hooks",
    "issue_comment", "issue_events", "issues", "keys", "labels", "languages", "merges", "milestones", "notifications",
    "pulls", "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams", "trees",
)  # fmt: skip
_COUNTS = ("forks", "forks_count", "open_issues", "open_issues_count", "size", "stargazers_count", "watchers",
           "watchers_count", "network_count", "subscribers_count")  # fmt: skip
_FLAGS = (
    "allow_forking", "archived", "disabled", "has_discussions", "has_downloads", "has_issues", "has_pages",
    "has_projects", "has_wiki", "is_template", "web_commit_signoff_required",
)  # fmt: skip
_REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def moment(second: int) -> str:
    """A second of the model's clock as GitHub writes a time."""
    return time_of(second).strftime("%Y-%m-%dT%H:%M:%SZ")


def time_of(second: int) -> datetime:
    """The same as a time."""
    return _BEGINNING + timedelta(seconds=second)


def second_of(time: datetime) -> int:
    """The second of the model's clock at a time."""
    return int((time - _BEGINNING).total_seconds())


@dataclass(frozen=True, slots=True)
class Payloads:
    """Writes records; ``api`` is where the API's addresses begin, ``site`` where the pages' do."""

    ground: Ground
    api: str = "https://api.github.com"
    site: str = "https://github.com"

    def account(self, login: str) -> Json:
        """An account, by its name; one that nobody knows is the ghost."""
        found = self.ground.accounts.get(login, Account(10137, "ghost"))
        url = f"{self.api}/users/{found.login}"
        urls = {f"{name}_url": f"{url}/{name}" for name in _ACCOUNT_URLS}
        return {
            **urls,
            "login": found.login,
            "id": found.id,
            "node_id": f"U_{found.id}",
            "avatar_url": f"{self.site}/avatars/{found.id}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.site}/{found.login}",
            "type": found.kind,
            "user_view_type": "public",
            "site_admin": False,
        }

    def app(self, app: App) -> Json:
        """An app."""
        return {
            "id": app.id,
            "slug": app.slug,
            "node_id": f"A_{app.id}",
            "owner": self.account(f"{app.slug}[bot]"),
            "name": app.slug,
            "description": None,
            "external_url": f"{self.site}/apps/{app.slug}",
            "html_url": f"{self.site}/apps/{app.slug}",
            "created_at": moment(0),
            "updated_at": moment(0),
            "permissions": {"checks": "write"},
            "events": [],
        }

    def repository(self, repository: Repository) -> Json:
        """A repository, with all that GitHub says of it at length."""
        url, page = f"{self.api}/repos/{repository.name}", f"{self.site}/{repository.name}"
        return {
            **{f"{name}_url": f"{url}/{name}" for name in _REPOSITORY_URLS},
            **dict.fromkeys(_COUNTS, 0),
            **dict.fromkeys(_FLAGS, False),
            **dict.fromkeys(("description", "homepage", "language", "license", "mirror_url")),
            **dict.fromkeys(("created_at", "pushed_at", "updated_at"), moment(0)),
            "id": repository.id,
            "node_id": f"R_{repository.id}",
            "name": repository.name.partition("/")[2],
            "full_name": repository.name,
            "owner": self.account(repository.owner),
            "private": repository.private,
            "fork": repository.parent is not None,
            "url": url,
            "html_url": page,
            "clone_url": f"{page}.git",
            "git_url": f"git:{page}.git",
            "ssh_url": f"git:{repository.name}.git",
            "svn_url": page,
            "default_branch": repository.default_branch,
            "visibility": "private" if repository.private else "public",
            "topics": [],
        }

    def label(self, repository: str, label: Label) -> Json:
        """A label."""
        return {
            "id": label.id,
            "node_id": f"LA_{label.id}",
            "url": f"{self.api}/repos/{repository}/labels/{label.id}",
            "name": label.name,
            "description": "",
            "color": "ededed",
            "default": False,
        }

    def team(self, team: Team) -> Json:
        """A team."""
        url = f"{self.api}/organizations/{team.organization}/team/{team.id}"
        return {
            "id": team.id,
            "node_id": f"T_{team.id}",
            "name": team.slug,
            "slug": team.slug,
            "description": None,
            "permission": "pull",
            "type": "organization",
            "url": url,
            "html_url": f"{self.site}/orgs/{team.organization}/teams/{team.slug}",
            "members_url": f"{url}/members",
            "repositories_url": f"{url}/repos",
            "parent": None,
        }

    def comment(self, repository: str, number: int, comment: IssueComment) -> Json:
        """A comment on a pull request or an issue. Who edited it is not in it: only GraphQL tells."""
        return {
            "id": comment.id,
            "node_id": f"IC_{comment.id}",
            "url": f"{self.api}/repos/{repository}/issues/comments/{comment.id}",
            "html_url": f"{self.site}/{repository}/pull/{number}#issuecomment-{comment.id}",
            "issue_url": f"{self.api}/repos/{repository}/issues/{number}",
            "user": self.account(comment.author),
            "body": comment.body,
            "created_at": moment(comment.at),
            "updated_at": moment(comment.edited_at or comment.at),
            "author_association": self.association(repository, comment.author),
            "performed_via_github_app": None,
            "reactions": self.reactions(f"{self.api}/repos/{repository}/issues/comments/{comment.id}"),
        }

    def reactions(self, url: str) -> Json:
        """Nobody reacts to a comment on the pull request itself; to one on the diff, GraphQL tells."""
        return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(_REACTIONS, 0)}

    def association(self, repository: str, login: str) -> str:
        """What GitHub calls somebody's relation to a repository. It grants nothing."""
        place = self.ground.repository(repository)
        if login == place.owner:
            return "OWNER"
        return "COLLABORATOR" if login in place.permissions else "NONE"

    def pull_simple(self, pull: Pull) -> Json:
        """A pull request as lists show it."""
        url, page = f"{self.api}/repos/{pull.repository}/pulls/{pull.number}", self.page(pull)
        issue, closed = f"{self.api}/repos/{pull.repository}/issues/{pull.number}", pull.state == "closed"
        urls = {
            "url": url,
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "issue_url": issue,
            "commits_url": f"{url}/commits",
            "review_comments_url": f"{url}/comments",
            "review_comment_url": f"{self.api}/repos/{pull.repository}/pulls/comments{{/number}}",
            "comments_url": f"{issue}/comments",
            "statuses_url": f"{self.api}/repos/{pull.repository}/statuses/{pull.head_sha}",
        }
        links = ("html", "issue", "comments", "review_comments", "review_comment", "commits", "statuses")
        return {
            **urls,
            "_links": {"self": {"href": url}, **{name: {"href": urls[f"{name}_url"]} for name in links}},
            "id": pull.id,
            "node_id": f"PR_{pull.id}",
            "number": pull.number,
            "state": pull.state,
            "locked": False,
            "active_lock_reason": None,
            "title": pull.title,
            "user": self.account(pull.author),
            "body": pull.body or None,
            "created_at": moment(pull.at),
            "updated_at": moment(pull.at),
            "closed_at": moment(pull.at) if closed else None,
            "merged_at": None if pull.merged_at is None else moment(pull.merged_at),
            "merge_commit_sha": pull.merge_commit,
            "assignee": None,
            "assignees": [],
            "requested_reviewers": [self.account(login) for login in pull.requested_users],
            "requested_teams": [self.team(self.ground.teams[name]) for name in pull.requested_teams],
            "labels": [self.label(pull.repository, label) for label in pull.labels],
            "milestone": None,
            "draft": pull.draft,
            "head": self._side(pull.head_repository, pull.author, pull.head_ref, pull.head_sha),
            "base": self._side(pull.repository, pull.author, pull.base_ref, pull.recorded_base),
            "author_association": self.association(pull.repository, pull.author),
            "auto_merge": None,
        }

    def pull(self, pull: Pull) -> Json:
        """A pull request alone, with its counts."""
        files = self.ground.changed_files(pull)
        return {
            **self.pull_simple(pull),
            "merged": pull.merged,
            "merged_by": None,
            "mergeable": None,
            "mergeable_state": "unknown",
            "maintainer_can_modify": False,
            "comments": len(pull.comments),
            "review_comments": sum(len(thread.comments) for review in pull.reviews for thread in review.threads),
            "commits": len(self.ground.commits_of(pull)),
            "additions": sum(file.additions for file in files),
            "deletions": sum(file.deletions for file in files),
            "changed_files": len(files),
        }

    def page(self, pull: Pull) -> str:
        """Where people read it."""
        return f"{self.site}/{pull.repository}/pull/{pull.number}"

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
