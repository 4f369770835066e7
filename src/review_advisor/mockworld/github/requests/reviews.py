"""Requests about reviews and the threads of inline comments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review_advisor.mockworld.github.records import (
    Pull,
    PullFile,
    Review,
    ReviewComment,
    ReviewState,
    ReviewThread,
    Side,
)
from review_advisor.mockworld.github.requests.access import Access, checked_body, not_too_long, refused
from review_advisor.mockworld.github.traffic import denied, missing

ONE_PENDING = "User can only have one pending review per pull request"
"""What whoever has a pending review hears of every further one, also of one that is to be shown at once."""
STATES: dict[str, ReviewState] = {
    "COMMENT": "COMMENTED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "APPROVE": "APPROVED",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """An inline comment as a request brings it. ``side`` of the first line is the same one."""

    path: str
    body: str
    line: int
    side: Side = "RIGHT"
    start_line: int | None = None


@dataclass(frozen=True, slots=True)
class ReviewRequests:
    """Reviews as one token reaches them."""

    access: Access

    def reviews(self, number: int) -> tuple[Review, ...]:
        """The reviews, the oldest first; somebody else's pending one is not among them."""
        with self.access.request("list reviews", "pull_requests:read"):
            return self.access.github.visible_reviews(self.access.pull(number), self.access.account)

    def review(self, number: int, review_id: int) -> Review:
        """One review."""
        with self.access.request("get review", "pull_requests:read"):
            return self._review(number, review_id)

    def comments(self, number: int) -> tuple[ReviewComment, ...]:
        """The inline comments of all submitted reviews, the oldest first."""
        with self.access.request("list review comments", "pull_requests:read"):
            submitted = [review for review in self.access.pull(number).reviews if review.state != "PENDING"]
            found = [each for review in submitted for thread in review.threads for each in thread.comments]
            return tuple(sorted(found, key=lambda comment: comment.id))

    def threads(self, number: int) -> tuple[ReviewThread, ...]:
        """The threads that the token's account sees."""
        with self.access.request("list threads", "pull_requests:read"):
            return self.access.github.visible_threads(self.access.pull(number), self.access.account)

    def create(
        self, number: int, commit: str | None, body: str, event: str | None, remarks: Sequence[Remark]
    ) -> Review:
        """Make a review: pending without an event. One bad line refuses all of it."""
        with self.access.request("create review", "pull_requests:write"):
            pull = self.access.pull(number)
            self._may(pull, event, body)
            if any(review.state == "PENDING" and review.author == self.access.account for review in pull.reviews):
                raise refused("Unprocessable Entity", ONE_PENDING)
            sha = commit or pull.head_sha
            if sha not in self.access.github.commits_of(pull):
                raise refused("Unprocessable Entity", "Commit is not part of the pull request")
            files = {file.path: file for file in self.access.github.listed_files(pull)}
            texts = [_checked(pull, files.get(remark.path), remark) for remark in remarks]
            github = self.access.github
            state = STATES[event] if event else "PENDING"
            review = Review(github.next_id(), self.access.account, body, sha, state, github.tick())
            review.threads.extend(
                self._thread(review, remark, text) for remark, text in zip(remarks, texts, strict=True)
            )
            pull.reviews.append(review)
            return review

    def submit(self, number: int, review_id: int, event: str, body: str | None = None) -> Review:
        """Show a pending review to everybody."""
        with self.access.request("submit review", "pull_requests:write"):
            review = self._review(number, review_id)
            if review.state != "PENDING":
                raise refused("Unprocessable Entity", "Can not submit a review that is not pending")
            text = review.body if body is None else body
            self._may(self.access.pull(number), event, text, remarks=bool(review.threads))
            review.body, review.state, review.at = text, STATES[event], self.access.github.tick()
            return review

    def delete(self, number: int, review_id: int) -> Review:
        """Delete a pending review; a submitted one stays."""
        with self.access.request("delete review", "pull_requests:write"):
            review = self._review(number, review_id)
            if review.state != "PENDING":
                raise refused("Can not delete a non-pending pull request review")
            self.access.pull(number).reviews.remove(review)
            return review

    def resolve(self, thread_id: str) -> ReviewThread:
        """Mark a thread as resolved, which takes more than the right to review."""
        with self.access.request("resolve thread", "contents:write"):
            for pull, thread in self.access.github.every_thread():
                if thread.id == thread_id:
                    if not self.access.token.may("pull_requests:write"):
                        raise denied()
                    if thread not in self.access.github.visible_threads(pull, self.access.account):
                        break
                    self.access.github.resolves(thread, by=self.access.account)
                    return thread
            raise missing()

    def _may(self, pull: Pull, event: str | None, body: str, *, remarks: bool = False) -> None:
        not_too_long(body, "body")
        if event in {"COMMENT", "REQUEST_CHANGES"} and not remarks:
            checked_body(body)
        if event in {"APPROVE", "REQUEST_CHANGES"} and pull.author == self.access.account:
            verb = "approve" if event == "APPROVE" else "request changes on"
            raise refused("Unprocessable Entity", f"Can not {verb} your own pull request")

    def _review(self, number: int, review_id: int) -> Review:
        seen = self.access.github.visible_reviews(self.access.pull(number), self.access.account)
        found = next((review for review in seen if review.id == review_id), None)
        if found is None:
            raise missing()
        return found

    def _thread(self, review: Review, remark: Remark, text: str) -> ReviewThread:
        github = self.access.github
        comment = ReviewComment(
            github.next_id(), self.access.account, remark.body, remark.path, remark.side, remark.line,
            remark.start_line, remark.line, review.commit, f"@@ {text}", github.tick(), review.id,
            original_start_line=remark.start_line,
        )  # fmt: skip
        return ReviewThread(f"PRRT_{github.next_id()}", [comment], text)


def _checked(pull: Pull, file: PullFile | None, remark: Remark) -> str:
    """The text of the line that a remark is on. Raises GitHub's 422 for a line that takes no comment."""
    checked_body(remark.body)
    if file is None:
        raise refused("Unprocessable Entity", "Path could not be resolved")
    lines = file.shown.side(remark.side)
    line = lines.get(remark.line)
    if line is None or (remark.path, remark.line) in pull.refused_lines:
        raise refused("Unprocessable Entity", "Line could not be resolved")
    if remark.start_line is not None:
        start = lines.get(remark.start_line)
        if remark.start_line >= remark.line:
            raise refused("Unprocessable Entity", "start_line must precede the end line.")
        if start is None or start.hunk != line.hunk:
            raise refused("Unprocessable Entity", "start_line must be part of the same hunk as the line.")
    return line.text
