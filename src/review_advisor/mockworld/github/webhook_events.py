"""The events that GitHub starts workflows with, made from the model: what stands in the event's file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.mockworld.github.ground import Ground
from review_advisor.mockworld.github.payloads import Json, Payloads, moment
from review_advisor.mockworld.github.records import IssueComment, Label, Pull

PullAction = Literal["opened", "reopened", "synchronize", "ready_for_review", "converted_to_draft", "closed"]


@dataclass(frozen=True, slots=True)
class Events:
    """Writes events about the model as it is now. ``by`` is who did it."""

    ground: Ground

    @property
    def _payloads(self) -> Payloads:
        return Payloads(self.ground)

    def pull_request(self, action: PullAction, pull: Pull, *, by: str, before: str | None = None) -> Json:
        """Something happened to a pull request. ``before`` is the head that a push took the place of."""
        event = self._of_pull(action, pull, by)
        return {**event, "before": before, "after": pull.head_sha} if before else event

    def labeled(self, pull: Pull, label: Label, *, by: str) -> Json:
        """Somebody put a label on."""
        return {**self._of_pull("labeled", pull, by), "label": self._payloads.label(pull.repository, label)}

    def retargeted(self, pull: Pull, *, by: str, from_ref: str, from_sha: str) -> Json:
        """Somebody chose another base branch."""
        changes = {"base": {"ref": {"from": from_ref}, "sha": {"from": from_sha}}}
        return {**self._of_pull("edited", pull, by), "changes": changes}

    def commented(self, pull: Pull, comment: IssueComment) -> Json:
        """Somebody commented on the pull request, which the event calls an issue."""
        return self._of_comment("created", pull, comment, comment.author)

    def comment_edited(self, pull: Pull, comment: IssueComment, *, by: str, before: str) -> Json:
        """Somebody edited a comment, whose text was ``before``."""
        return {**self._of_comment("edited", pull, comment, by), "changes": {"body": {"from": before}}}

    def queued(self, pull: Pull, *, by: str, sha: str) -> Json:
        """The merge queue asks for the checks of the commit that it would merge."""
        repository = self.ground.repository(pull.repository)
        base = f"refs/heads/{pull.base_ref}"
        return {
            "action": "checks_requested",
            "merge_group": {
                "head_sha": sha,
                "head_ref": f"refs/heads/gh-readonly-queue/{pull.base_ref}/pr-{pull.number}-{pull.head_sha}",
                "base_sha": self.ground.base_sha(pull),
                "base_ref": base,
                "head_commit": {
                    "id": sha,
                    "tree_id": self.ground.commit(sha).tree,
                    "message": self.ground.commit(sha).message,
                    "timestamp": moment(self.ground.commit(sha).at),
                    "author": {"name": pull.author, "email": f"{pull.author}@example.com"},
                    "committer": {"name": pull.author, "email": f"{pull.author}@example.com"},
                },
            },
            "repository": self._payloads.repository(repository),
            "sender": self._payloads.account(by),
        }

    def _of_pull(self, action: str, pull: Pull, by: str) -> Json:
        return {
            "action": action,
            "number": pull.number,
            "pull_request": self._payloads.pull(pull),
            "repository": self._payloads.repository(self.ground.repository(pull.repository)),
            "sender": self._payloads.account(by),
        }

    def _of_comment(self, action: str, pull: Pull, comment: IssueComment, by: str) -> Json:
        return {
            "action": action,
            "issue": self._issue(pull),
            "comment": self._payloads.comment(pull.repository, pull.number, comment),
            "repository": self._payloads.repository(self.ground.repository(pull.repository)),
            "sender": self._payloads.account(by),
        }

    def _issue(self, pull: Pull) -> Json:
        whole = self._payloads.pull_simple(pull)
        api = f"{self._payloads.api}/repos/{pull.repository}"
        same = (
            "id", "node_id", "number", "title", "user", "labels", "state", "locked", "assignee", "assignees",
            "milestone", "created_at", "updated_at", "closed_at", "author_association", "body", "html_url", "draft",
            "comments_url",
        )  # fmt: skip
        return {
            **{name: whole[name] for name in same},
            "comments": len(pull.comments),
            "url": whole["issue_url"],
            "repository_url": api,
            "labels_url": f"{whole['issue_url']}/labels{{/name}}",
            "events_url": f"{whole['issue_url']}/events",
            "active_lock_reason": None,
            "performed_via_github_app": None,
            "reactions": self._payloads.reactions(whole["issue_url"]),
            "pull_request": {name: whole[name] for name in ("url", "html_url", "diff_url", "patch_url", "merged_at")},
        }
