"""The review with comments on the diff: prepared unseen, looked at again, and only then shown.

GitHub lets an account have one pending review on a pull request. So whoever prepares one is alone with it: what is
looked at now cannot be changed by another publisher before it is shown. That makes one review of two at one time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from review_advisor.core.pull_request.markers import is_review, review_marker
from review_advisor.core.pull_request.standing import StandingReview, Thread
from review_advisor.core.pull_request.writes import InlineComment
from review_advisor.ports.forge import ForgeMissing, ForgeRejected, ForgeUnavailable, ReviewPending
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.retries import Retry, retried

ReviewWords = Callable[[tuple[Thread, ...]], tuple[str, tuple[InlineComment, ...]]]
"""From the bot's threads the body of a review, and the comments that are still to be made."""


class ReviewWriter:
    """Writes reviews on one pull request. Raises ``ForgeError`` once the forge stays silent."""

    def __init__(self, bot: Bot, number: int, retry: Retry) -> None:
        self._forge, self._rules = bot.forge, bot.rules
        self._number = number
        self.retry = retry

    @retried
    def threads(self) -> tuple[Thread, ...]:
        """The threads that the bot began, whatever was said in them since."""
        return tuple(each for each in self._forge.threads(self._number) if self._rules.is_ours(each.author))

    @retried
    def discard_unfinished(self, run_id: str) -> None:
        """Throw away what another run than this one prepared and never showed: its comments are said nowhere."""
        for each in self._own():
            if each.pending and is_review(each.body) and not _of_run(each, run_id):
                self._discard(each.id)

    def post(self, commit: str, run_id: str, words: ReviewWords) -> str | None:
        """Post the run's one review, if there is anything to say in the diff; a note where that could not be done.

        A comment on a line that the forge does not take is left out: one bad line loses one comment. A review that
        somebody else has left pending under the same account is waited for. Then one of a workflow is shown as it
        is, so that there is room; one of a person is left alone, and the comments on the diff are not made.
        """
        try:
            self._post(commit, run_id, words)
        except ReviewPending:
            note = self._make_room(run_id)
            if note is None:
                self._post(commit, run_id, words)
            return note
        return None

    @retried
    def _post(self, commit: str, run_id: str, words: ReviewWords) -> None:
        before = self._own()
        if any(_of_run(each, run_id) and not each.pending for each in before):
            return
        begun = next((each.id for each in before if each.pending and _of_run(each, run_id)), None)
        if begun is None:
            begun = self._begun(commit, run_id, words)
        if begun is None:
            return
        shown = {each.id for each in before if not each.pending}
        meanwhile = [each for each in self._own() if not each.pending and each.id not in shown and is_review(each.body)]
        if meanwhile:
            if begun not in {each.id for each in meanwhile}:
                self._discard(begun)
            raise ForgeUnavailable("Another review was shown at the same moment.")
        try:
            self._forge.submit_review(self._number, begun)
        except (ForgeMissing, ForgeRejected) as gone:  # another run has thrown it away, or shown it
            raise ForgeUnavailable(f"The review that was prepared is not there any more: {gone}") from gone

    def _begun(self, commit: str, run_id: str, words: ReviewWords) -> int | None:
        """A new pending review of what is still to be said; None where that is nothing, or takes no comment."""
        body, comments = words(self.threads())
        if not comments:
            return None
        body = f"{review_marker(run_id)}\n{body}"
        try:
            return self._forge.start_review(self._number, commit, body, comments)
        except ForgeRejected:
            fitting = self._fitting(comments)
        if len(fitting) == len(comments):
            fitting = self._taken(commit, body, comments)
        return self._forge.start_review(self._number, commit, body, fitting) if fitting else None

    def _fitting(self, comments: tuple[InlineComment, ...]) -> tuple[InlineComment, ...]:
        """The comments whose lines the forge shows in its diff."""
        lines = self._forge.commentable_lines(self._number)
        fitting = []
        for each in comments:
            shown = lines.get(each.path)
            side = frozenset[int]() if shown is None else shown.right if each.side == "RIGHT" else shown.left
            if all(line in side for line in range(each.start_line or each.line, each.line + 1)):
                fitting.append(each)
        return tuple(fitting)

    def _taken(self, commit: str, body: str, comments: tuple[InlineComment, ...]) -> tuple[InlineComment, ...]:
        """The forge refuses the whole for a reason it does not name: find the comments that it takes alone."""
        taken: tuple[InlineComment, ...] = ()
        for each in comments:
            try:
                begun = self._forge.start_review(self._number, commit, body, (each,))
            except ForgeRejected:
                continue
            taken += (each,)
            self._discard(begun)
        return taken

    @retried
    def _make_room(self, run_id: str) -> str | None:
        """End what was waited for in vain, where nobody loses anything by it; else why nothing was said in the diff."""
        for each in self._own():
            if not each.pending or _of_run(each, run_id):
                continue
            if is_review(each.body):
                self._discard(each.id)
            elif not self._rules.login.endswith("[bot]"):
                return (
                    f"{self._rules.login} has begun a review here and not submitted it, and GitHub takes"
                    " no second one: the comments on the diff are missing"
                )
            else:
                self._show(each.id)
        return None

    def _show(self, review_id: int) -> None:
        """Show what another workflow has left unfinished: nothing of it is lost. An empty one cannot be shown."""
        try:
            self._forge.submit_review(self._number, review_id)
        except ForgeRejected:
            self._discard(review_id)
        except ForgeMissing:
            return

    def _discard(self, review_id: int) -> None:
        with suppress(ForgeMissing, ForgeRejected):  # somebody was quicker, and has thrown it away or shown it
            self._forge.discard_review(self._number, review_id)

    def _own(self) -> list[StandingReview]:
        return [each for each in self._forge.reviews(self._number) if self._rules.is_ours(each.author)]


def _of_run(review: StandingReview, run_id: str) -> bool:
    return review.body.startswith(review_marker(run_id))
