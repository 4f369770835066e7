"""The events that GitHub starts workflows with, made from the model: what stands in the event's file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tests.adapters.github.filled import filled_event
from tests.adapters.github.payloads import Json, Payloads

from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_records import IssueComment, Pull

PullAction = Literal["opened", "reopened", "synchronize", "ready_for_review", "converted_to_draft", "closed"]


@dataclass(frozen=True, slots=True)
class Events:
    """Writes events about the model as it is now. ``by`` is who did it."""

    ground: GitHub

    def pull_request(self, action: PullAction, pull: Pull, *, by: str, before: str | None = None) -> Json:
        """Something happened to a pull request. ``before`` is the head that a push took the place of.

        Unless it is stated, that is the parent of the head.
        """
        if action == "synchronize" and before is None:
            before = next(iter(self.ground.objects.commits[pull.head_sha].parents))
        moved = {"before": before, "after": pull.head_sha} if before else {}
        return self._of_pull(action, pull, by, **moved)

    def labeled(self, pull: Pull, label: str, *, by: str) -> Json:
        """Somebody put a label on."""
        return self._of_pull("labeled", pull, by, label={"name": label})

    def retargeted(self, pull: Pull, *, by: str, from_ref: str, from_sha: str) -> Json:
        """Somebody chose another base branch."""
        return self._of_pull(
            "edited", pull, by, changes={"base": {"ref": {"from": from_ref}, "sha": {"from": from_sha}}}
        )

    def commented(self, pull: Pull, comment: IssueComment) -> Json:
        """Somebody commented on the pull request, which the event calls an issue."""
        return self._of_comment("created", pull, comment, comment.author)

    def comment_edited(self, pull: Pull, comment: IssueComment, *, by: str, before: str) -> Json:
        """Somebody edited a comment, whose text was ``before``."""
        return self._of_comment("edited", pull, comment, by, changes={"body": {"from": before}})

    def queued(self, pull: Pull, *, by: str, sha: str) -> Json:
        """The merge queue asks for the checks of the commit that it would merge."""
        group = {
            "head_sha": sha,
            "head_ref": f"refs/heads/gh-readonly-queue/{pull.base_ref}/pr-{pull.number}-{pull.head_sha}",
            "base_sha": self.ground.base_sha(pull),
            "base_ref": f"refs/heads/{pull.base_ref}",
        }
        return self._event("merge-group", "checks_requested", pull, by, merge_group=group)

    def _of_pull(self, action: str, pull: Pull, by: str, **told: object) -> Json:
        about = {"number": pull.number, "pull_request": Payloads(self.ground).pull(pull)}
        return self._event("pull-request", action, pull, by, **about, **told)

    def _of_comment(self, action: str, pull: Pull, comment: IssueComment, by: str, **told: object) -> Json:
        write = Payloads(self.ground)
        whole = write.pull_simple(pull)
        issue = {name: whole[name] for name in ("id", "number", "title", "user", "state", "body", "html_url", "draft")}
        issue["pull_request"] = {name: whole[name] for name in ("url", "html_url", "merged_at")}
        return self._event("issue-comment", action, pull, by, issue=issue, comment=write.comment(comment), **told)

    def _event(self, kind: str, action: str, pull: Pull, by: str, **told: object) -> Json:
        write = Payloads(self.ground)
        repository = write.repository(self.ground.repository(pull.repository))
        event = {"action": action, "repository": repository, "sender": write.account(by), **told}
        return filled_event(f"{kind}-{action.replace('_', '-')}", event)
