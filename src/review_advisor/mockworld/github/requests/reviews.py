"""Requests about reviews and the threads of inline comments."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.pull_request.writes import InlineComment
from review_advisor.mockworld.github.records import (
    PullFile,
    Review,
    ReviewComment,
    ReviewThread,
)
from review_advisor.mockworld.github.requests.access import Access, checked_body, not_too_long
from review_advisor.mockworld.github.traffic import denied, missing, refused

ONE_PENDING = "User can only have one pending review per pull request"
"""What whoever has a pending review hears of every further one, also of one that is to be shown at once."""


class ReviewRequests(Access):
    """Reviews as one token reaches them."""

    def reviews(self, number: int) -> tuple[Review, ...]:
        """The reviews, the oldest first; somebody else's pending one is not among them."""
        with self.request("list reviews", "pull_requests:read"):
            return self.github.visible_reviews(self.known_pull(number), self.account)

    def review(self, number: int, review_id: int) -> Review:
        """One review."""
        with self.request("get review", "pull_requests:read"):
            return self._review(number, review_id)

    def threads(self, number: int) -> tuple[ReviewThread, ...]:
        """The threads that the token's account sees."""
        with self.request("list threads", "pull_requests:read"):
            return self.github.visible_threads(self.known_pull(number), self.account)

    def create(self, number: int, sha: str, body: str, remarks: Sequence[InlineComment]) -> Review:
        """Make a pending review. One bad line refuses all of it."""
        with self.request("create review", "pull_requests:write"):
            pull = self.known_pull(number)
            not_too_long(body, "body")
            if any(review.state == "PENDING" and review.author == self.account for review in pull.reviews):
                raise refused("Unprocessable Entity", ONE_PENDING)
            if sha not in self.github.commits_of(pull):
                raise refused("Unprocessable Entity", "Commit is not part of the pull request")
            files = {file.path: file for file in self.github.listed_files(pull)}
            texts = [_checked(files.get(remark.path), remark) for remark in remarks]
            github = self.github
            review = Review(github.next_id(), self.account, body, sha, "PENDING", github.tick())
            review.threads.extend(
                self._thread(review, remark, text) for remark, text in zip(remarks, texts, strict=True)
            )
            pull.reviews.append(review)
            return review

    def submit(self, number: int, review_id: int, body: str | None = None) -> Review:
        """Show a pending review to everybody, as a comment, which needs words."""
        with self.request("submit review", "pull_requests:write"):
            review = self._review(number, review_id)
            if review.state != "PENDING":
                raise refused("Unprocessable Entity", "Can not submit a review that is not pending")
            text = not_too_long(review.body if body is None else body, "body")
            review.body = text if review.threads else checked_body(text)
            review.state, review.at = "COMMENTED", self.github.tick()
            return review

    def delete(self, number: int, review_id: int) -> Review:
        """Delete a pending review; a submitted one stays."""
        with self.request("delete review", "pull_requests:write"):
            review = self._review(number, review_id)
            if review.state != "PENDING":
                raise refused("Can not delete a non-pending pull request review")
            self.known_pull(number).reviews.remove(review)
            return review

    def resolve(self, thread_id: str) -> ReviewThread:
        """Mark a thread as resolved, which takes more than the right to review."""
        with self.request("resolve thread", "contents:write"):
            for pull, thread in self.github.every_thread():
                if thread.id == thread_id:
                    if not self.token.may("pull_requests:write"):
                        raise denied()
                    if thread not in self.github.visible_threads(pull, self.account):
                        break
                    self.github.resolves(thread, by=self.account)
                    return thread
            raise missing()

    def _review(self, number: int, review_id: int) -> Review:
        seen = self.github.visible_reviews(self.known_pull(number), self.account)
        found = next((review for review in seen if review.id == review_id), None)
        if found is None:
            raise missing()
        return found

    def _thread(self, review: Review, remark: InlineComment, text: str) -> ReviewThread:
        github = self.github
        comment = ReviewComment(
            github.next_id(), self.account, remark.body, remark.path, remark.side, remark.line,
            remark.start_line, remark.line, review.commit, github.tick(), remark.start_line,
        )  # fmt: skip
        return ReviewThread(f"PRRT_{github.next_id()}", [comment], text)


def _checked(file: PullFile | None, remark: InlineComment) -> str:
    """The text of the line that a remark is on. Raises GitHub's 422 for a line that takes no comment."""
    checked_body(remark.body)
    if file is None:
        raise refused("Unprocessable Entity", "Path could not be resolved")
    lines = file.shown.side(remark.side)
    line = lines.get(remark.line)
    if line is None:
        raise refused("Unprocessable Entity", "Line could not be resolved")
    if remark.start_line is not None:
        start = lines.get(remark.start_line)
        if remark.start_line >= remark.line:
            raise refused("Unprocessable Entity", "start_line must precede the end line.")
        if start is None or start.hunk != line.hunk:
            raise refused("Unprocessable Entity", "start_line must be part of the same hunk as the line.")
    return line.text
