"""Writing on one pull request: what stands is looked at first, so that doing anything twice does it once.

A process that is killed between any two requests and started again leaves one check run, one review and one summary. So
does a request whose answer was lost: nobody knows then what it did, and the next look tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.publication.markers import answer_marker, external_id, finding_in, review_marker
from review_advisor.core.publication.rules import PublicationRules
from review_advisor.core.publication.standing import StandingCheck, StandingComment, StandingReview, Thread
from review_advisor.core.publication.state import own_summaries
from review_advisor.core.publication.writes import (
    ANNOTATIONS_PER_REQUEST,
    Check,
    CommittedFile,
    InlineComment,
    MadeCommit,
)
from review_advisor.ports import (
    Clock,
    Forge,
    ForgeDenied,
    ForgeMissing,
    ForgeRejected,
    ForgeUnavailable,
)

WAITS = (2.0, 10.0, 30.0)
"""Seconds before each further look, after a request without an answer."""

T = TypeVar("T")


class Scribe:
    """Writes as the configured account on one pull request. Raises ``ForgeError`` once the forge stays silent."""

    def __init__(self, forge: Forge, clock: Clock, rules: PublicationRules, number: int) -> None:
        self._forge = forge
        self._clock = clock
        self._rules = rules
        self._number = number

    def pull_request(self) -> PullRequest:
        """The pull request as it is now."""
        return self._until_it_stands(lambda: self._forge.pull_request(self._number))

    def open_with(self, head_sha: str) -> tuple[int, ...]:
        """The numbers of all open pull requests with this head, the lowest first."""
        found = self._until_it_stands(lambda: self._forge.open_pull_requests(head_sha))
        return tuple(sorted(each.number for each in found))

    def check(self, commit: str, check: Check) -> None:
        """Make the one check run of this pull request on ``commit`` stand as ``check`` says.

        A check run cannot be deleted: a second one of ours, should there be one, is made to say the same.
        """
        self._until_it_stands(lambda: self._check(commit, check))

    def _check(self, commit: str, check: Check) -> None:
        standing = [each.id for each in self._own_checks(commit, check.name)]
        if not standing:
            self._forge.create_check(commit, check)
            whole = len(check.annotations) <= ANNOTATIONS_PER_REQUEST
            standing = [each.id for each in self._own_checks(commit, check.name)][1 if whole else 0 :]
        for each in standing:
            self._forge.update_check(each, check)

    def conclusions(self, commit: str, name: str) -> set[str | None]:
        """What our check runs on ``commit`` conclude; None is one in progress."""
        return {each.conclusion for each in self._until_it_stands(lambda: self._own_checks(commit, name))}

    def _own_checks(self, commit: str, name: str) -> list[StandingCheck]:
        app = self._rules.login.removesuffix("[bot]").casefold()
        return [
            each
            for each in self._forge.checks(commit, name)
            if each.external_id == external_id(self._number) and each.app.casefold() == app
        ]

    def summaries(self) -> tuple[StandingComment, ...]:
        """The bot's own summaries; more than one only where something went wrong."""
        return self._until_it_stands(lambda: own_summaries(self._forge.comments(self._number), self._rules.login))

    def summary(self, body: str) -> None:
        """Make the one summary comment say ``body``. The oldest stays, others of ours go."""
        try:
            self._until_it_stands(lambda: self._summary(body))
        except ForgeMissing:  # a person deleted it between the look and the write
            self._until_it_stands(lambda: self._summary(body))

    def _summary(self, body: str) -> None:
        standing = own_summaries(self._forge.comments(self._number), self._rules.login)
        if not standing:
            self._forge.create_comment(self._number, body)
            standing = own_summaries(self._forge.comments(self._number), self._rules.login)
        for first in standing[:1]:
            if first.body != body:
                self._forge.update_comment(first.id, body)
        for other in standing[1:]:
            self._forge.delete_comment(other.id)

    def answer(self, comment_id: int, body: str) -> None:
        """Answer a person's comment, once."""
        marked = f"{answer_marker(comment_id)}\n{body}"
        self._until_it_stands(lambda: self._answer(answer_marker(comment_id), marked))

    def _answer(self, marker: str, body: str) -> None:
        comments = self._forge.comments(self._number)
        if not any(self._mine(each.author) and each.body.startswith(marker) for each in comments):
            self._forge.create_comment(self._number, body)

    def threads(self) -> tuple[Thread, ...]:
        """The threads that the bot began, whatever was said in them since."""
        return self._until_it_stands(
            lambda: tuple(each for each in self._forge.threads(self._number) if self._mine(each.author))
        )

    def review(self, commit: str, run_id: str, body: str, comments: tuple[InlineComment, ...]) -> frozenset[str]:
        """Post the run's one review, if there is anything to say in the diff; the findings that then stand there.

        It is made as a pending review, which nobody sees, and shown whole. A comment on a line that the forge does not
        take is left out: one bad line loses one comment.
        """
        self._until_it_stands(lambda: self._review(commit, run_id, body, comments))
        return frozenset(finding for each in self.threads() if (finding := finding_in(each.body)) is not None)

    def _review(self, commit: str, run_id: str, body: str, comments: tuple[InlineComment, ...]) -> None:
        own = [each for each in self._forge.reviews(self._number) if self._mine(each.author)]
        if any(self._of_run(each, run_id) and not each.pending for each in own):
            return
        for each in own:
            if each.pending and not self._of_run(each, run_id):
                self._forge.discard_review(self._number, each.id)
        begun = next((each.id for each in own if each.pending and self._of_run(each, run_id)), None)
        if begun is None and comments:
            begun = self._start(commit, f"{review_marker(run_id)}\n{body}", comments)
        if begun is not None:
            self._forge.submit_review(self._number, begun)

    def _start(self, commit: str, body: str, comments: tuple[InlineComment, ...]) -> int | None:
        try:
            return self._forge.start_review(self._number, commit, body, comments)
        except ForgeRejected:
            fitting = self._fitting(comments)
        if len(fitting) == len(comments):
            return self._one_by_one(commit, body, comments)
        return self._forge.start_review(self._number, commit, body, fitting) if fitting else None

    def _fitting(self, comments: tuple[InlineComment, ...]) -> tuple[InlineComment, ...]:
        """The comments whose lines the forge shows in its diff."""
        lines = self._forge.commentable_lines(self._number)
        fitting = []
        for each in comments:
            shown = lines.get(each.path)
            side = frozenset[int]() if shown is None else shown.right if each.side == "RIGHT" else shown.left
            if set(range(each.start_line or each.line, each.line + 1)) <= side:
                fitting.append(each)
        return tuple(fitting)

    def _one_by_one(self, commit: str, body: str, comments: tuple[InlineComment, ...]) -> int | None:
        """The forge refuses the whole for a reason it does not name: find the comments that it takes alone."""
        taken: tuple[InlineComment, ...] = ()
        for each in comments:
            try:
                begun = self._forge.start_review(self._number, commit, body, (each,))
            except ForgeRejected:
                continue
            taken += (each,)
            self._forge.discard_review(self._number, begun)
        return self._forge.start_review(self._number, commit, body, taken) if taken else None

    def resolve(self, findings: Iterable[str]) -> str | None:
        """Resolve the threads about these findings; a note where the token may not."""
        done = frozenset(findings)
        for each in self.threads():
            if finding_in(each.body) in done and not each.resolved:
                refused = self._allowed(lambda thread=each.id: self._forge.resolve_thread(thread))  # type: ignore[misc]
                if refused is not None:
                    return f"threads of settled findings stay open: {refused}"
        return None

    def label(self, label: str, *, wanted: bool, present: bool) -> str | None:
        """Put a label on or take it off; a note where the token may not."""
        if wanted is present:
            return None
        change = self._forge.add_label if wanted else self._forge.remove_label
        refused = self._allowed(lambda: change(self._number, label))
        return (
            None
            if refused is None
            else f"the label {label!r} could not be {'set' if wanted else 'taken off'}: {refused}"
        )

    def ask(self, reviewers: Iterable[str]) -> tuple[str, ...]:
        """Ask each person and team for a review; a note for each that could not be asked."""
        notes = []
        for each in reviewers:
            refused = self._allowed(lambda name=each: self._forge.request_review(self._number, (name,)))  # type: ignore[misc]
            if refused is not None:
                notes.append(f"{each} could not be asked for a review: {refused}")
        return tuple(notes)

    def make_commit(self, parent: str, files: tuple[CommittedFile, ...], message: str) -> MadeCommit:
        """A commit on ``parent``, to which no branch leads. One that was made in vain is nowhere to be seen."""
        return self._until_it_stands(lambda: self._forge.make_commit(parent, files, message))

    def advance(self, branch: str, commit: str) -> None:
        """Move the pull request's own branch to ``commit``, unless it is there already."""
        self._until_it_stands(lambda: self._advance(branch, commit))

    def _advance(self, branch: str, commit: str) -> None:
        if self._forge.pull_request(self._number).head_sha != commit:
            self._forge.advance_branch(branch, commit)

    def _allowed(self, write: Callable[[], None]) -> str | None:
        """Do what may be done without; why it was not done, if it was not."""
        try:
            self._until_it_stands(write)
        except (ForgeDenied, ForgeMissing, ForgeRejected) as refused:
            return str(refused)
        return None

    def _until_it_stands(self, look_and_write: Callable[[], T]) -> T:
        for seconds in WAITS:
            try:
                return look_and_write()
            except ForgeUnavailable:
                self._clock.sleep(seconds)
        return look_and_write()

    def _mine(self, author: str) -> bool:
        return author.casefold() == self._rules.login.casefold()

    def _of_run(self, review: StandingReview, run_id: str) -> bool:
        return review.body.startswith(review_marker(run_id))
