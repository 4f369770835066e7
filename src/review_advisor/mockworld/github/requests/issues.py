"""Requests about comments, labels and whose review is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.mockworld.github.records import IssueComment, Pull
from review_advisor.mockworld.github.requests.access import Access, checked_body
from review_advisor.mockworld.github.traffic import RefusedRequest, denied, invalid, missing, refused

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
