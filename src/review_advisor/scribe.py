"""Writing on one pull request: what stands is looked at first, so that doing anything twice does it once.

A process that is killed between any two requests and started again leaves one check run, one review and one summary. So
does a request whose answer was lost: nobody knows then what it did, and the next look tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.publication.check import check_waiting
from review_advisor.core.publication.markers import (
    answer_marker,
    begun_by,
    external_id,
    is_by_newer,
    is_check_of,
    is_review,
    number_in,
    review_marker,
)
from review_advisor.core.publication.rules import PublicationRules
from review_advisor.core.publication.standing import StandingCheck, StandingComment, StandingReview, Thread
from review_advisor.core.publication.state import State, own_summaries, read_state
from review_advisor.core.publication.threads import shown
from review_advisor.core.publication.waiting import same_head
from review_advisor.core.publication.writes import (
    Check,
    CommittedFile,
    Conclusion,
    InlineComment,
    MadeCommit,
)
from review_advisor.placing import prepared
from review_advisor.ports.forge import Forge, ForgeDenied, ForgeError, ForgeMissing, ForgeRejected, ForgeUnavailable
from review_advisor.ports.review import Clock

WAITS = (2.0, 10.0, 30.0)
"""Seconds before each further look, after a request without an answer; more where the forge asks for more."""
MOST_WAITED = 120.0
"""The longest wait that a forge may ask for; a longer one is not waited for at all."""

T = TypeVar("T")


class Scribe:
    """Writes as the configured account on one pull request. Raises ``ForgeError`` once the forge stays silent.

    ``run`` is this workflow run, which its checks name; empty outside of one.
    """

    def __init__(self, forge: Forge, clock: Clock, rules: PublicationRules, number: int, *, run: str = "") -> None:
        self._forge = forge
        self._clock = clock
        self._rules = rules
        self._number = number
        self._run = run

    def pull_request(self) -> PullRequest:
        """The pull request as it is now."""
        return self._until_it_stands(lambda: self._forge.pull_request(self._number))

    def open_with(self, head_sha: str) -> tuple[int, ...]:
        """The numbers of all open pull requests with this head, the lowest first."""
        found = self._until_it_stands(lambda: self._forge.open_pull_requests(head_sha))
        return tuple(sorted(each.number for each in found))

    def makers(self, commit: str) -> tuple[str, ...]:
        """The accounts that the forge names as those who made a commit."""
        return self._until_it_stands(lambda: self._forge.makers(commit))

    def check(self, commit: str, check: Check) -> None:
        """Make the one check run of this pull request on ``commit`` stand as ``check`` says.

        A check run cannot be deleted: a second one of ours, should there be one, is made to say the same. Unless it
        passes, or says nothing about ``commit`` any more, no check that we made there for another pull request passes
        either: a check belongs to a commit.
        """
        named = replace(check, external_id=external_id(self._number, self._run))
        self._until_it_stands(lambda: self._check(commit, named))

    def conclude(self, commit: str, name: str, words: Callable[[], Check]) -> Check | StandingCheck:
        """Make the check of that name conclude as ``words`` says; what was written.

        ``words`` is asked again after each wait for a request that nobody answered: meanwhile anything may have
        happened. Where another run has the word on the check by then, nothing is written, and that check as it stands
        is the answer.
        """
        return self._until_it_stands(lambda: self._conclude(commit, name, words))

    def _conclude(self, commit: str, name: str, words: Callable[[], Check]) -> Check | StandingCheck:
        check = words()
        left = self._left_to_another(commit, name)
        if left is not None:
            return left
        self._check(commit, replace(check, external_id=external_id(self._number, self._run)))
        return check

    def _check(self, commit: str, check: Check) -> None:
        every = self._forge.checks(commit, check.name)
        if check.conclusion not in (Conclusion.SUCCESS, Conclusion.CANCELLED):
            self._take_back(every)
        standing = [each.id for each in self._own(every)]
        if not standing:
            made = self._forge.create_check(commit, check)
            every = self._forge.checks(commit, check.name)
            self._is_by_us(next((f"{each.app}[bot]" for each in every if each.id == made), None))
            standing = [each.id for each in self._own(every) if each.id != made]
        for each in standing:
            self._forge.update_check(each, check)

    def _take_back(self, checks: Iterable[StandingCheck]) -> None:
        for each in checks:
            other = number_in(each.external_id)
            theirs = self._mine(f"{each.app}[bot]") and other not in (None, self._number)
            if theirs and other is not None and each.conclusion == Conclusion.SUCCESS:
                undecided = check_waiting(self._rules, other, same_head(self._number))
                self._forge.update_check(each.id, replace(undecided, external_id=each.external_id))

    def conclusions(self, commit: str, name: str) -> set[str | None]:
        """What our check runs on ``commit`` conclude; None is one in progress."""
        return {each.conclusion for each in self._until_it_stands(lambda: self._own_checks(commit, name))}

    def left_to_another(self, commit: str, name: str) -> StandingCheck | None:
        """The check, where another workflow run has the word on it: it is to conclude it, or has and is the newer one.

        Outside of a workflow run nothing is left to others. Of two checks of ours the older one says whose they are.
        """
        return self._until_it_stands(lambda: self._left_to_another(commit, name))

    def _left_to_another(self, commit: str, name: str) -> StandingCheck | None:
        standing = self._own_checks(commit, name) if self._run else []
        for first in standing[:1]:
            begun = first.conclusion is None and begun_by(first.external_id) not in ("", self._run)
            if begun or is_by_newer(first.external_id, self._run):
                return first
        return None

    def _own_checks(self, commit: str, name: str) -> list[StandingCheck]:
        return self._own(self._forge.checks(commit, name))

    def _own(self, checks: Iterable[StandingCheck]) -> list[StandingCheck]:
        return [
            each for each in checks if is_check_of(self._number, each.external_id) and self._mine(f"{each.app}[bot]")
        ]

    def remembered(self) -> State | None:
        """The state in the standing summary; None where there is none to trust."""
        standing = self._until_it_stands(self._summaries)
        return read_state(standing[0], self._rules.login) if standing else None

    def _summaries(self) -> tuple[StandingComment, ...]:
        """More than one only where something went wrong."""
        return own_summaries(self._forge.comments(self._number), self._rules.login)

    def summary(self, words: Callable[[str, State | None], str]) -> None:
        """Make the one summary comment say what ``words`` makes of its body and of the state to trust in it.

        Both are read one request before the write. Nothing is written where it makes nothing. Of several summaries of
        ours the oldest stays.
        """
        try:
            self._until_it_stands(lambda: self._summary(words))
        except ForgeMissing:  # a person deleted it between the look and the write
            self._until_it_stands(lambda: self._summary(words))

    def _summary(self, words: Callable[[str, State | None], str]) -> None:
        standing = self._summaries()
        known = read_state(standing[0], self._rules.login) if standing else None
        body = words(standing[0].body if standing else "", known)
        if body and not standing:
            made = self._forge.create_comment(self._number, body)
            every = self._forge.comments(self._number)
            self._is_by_us(next((each.author for each in every if each.id == made), None))
            standing = own_summaries(every, self._rules.login)
        for first in standing[:1]:
            if body not in ("", first.body):
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

    def discard_unfinished(self, run_id: str) -> None:
        """Throw away what another run than this one prepared and never showed: its comments are said nowhere."""
        self._until_it_stands(lambda: self._discard_unfinished(run_id))

    def _discard_unfinished(self, run_id: str) -> None:
        for each in self._own_reviews():
            if each.pending and is_review(each.body) and not self._of_run(each, run_id):
                self._forge.discard_review(self._number, each.id)

    def _own_reviews(self) -> list[StandingReview]:
        return [each for each in self._forge.reviews(self._number) if self._mine(each.author)]

    def review(self, commit: str, run_id: str, body: str, comments: tuple[InlineComment, ...]) -> frozenset[str]:
        """Post the run's one review, if there is anything to say in the diff; the findings that then stand there.

        It is made as a pending review, which nobody sees, and shown whole. A comment on a line that the forge does not
        take is left out: one bad line loses one comment.
        """
        self._until_it_stands(lambda: self._review(commit, run_id, body, comments))
        return shown(self.threads())

    def _review(self, commit: str, run_id: str, body: str, comments: tuple[InlineComment, ...]) -> None:
        own = [each for each in self._own_reviews() if self._of_run(each, run_id)]
        if any(not each.pending for each in own):
            return
        begun = next((each.id for each in own), None)
        if begun is None and comments:
            begun = prepared(self._forge, self._number, commit, f"{review_marker(run_id)}\n{body}", comments)
        if begun is not None:
            self._forge.submit_review(self._number, begun)

    def resolve(self, threads: Iterable[Thread]) -> str | None:
        """Mark these threads as resolved; a note where the token may not."""
        for each in threads:
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

    def advance(self, branch: str, parent: str, commit: str) -> None:
        """Move the pull request's own branch from ``parent`` to ``commit``, unless it is there already.

        A branch that is anywhere else is left there: its author took ``parent`` back, or pushed on. Between this look
        and the move one request's time goes by, in which a force-push would still be undone: the forge cannot be told
        from where to move a branch.
        """
        self._until_it_stands(lambda: self._advance(branch, parent, commit))

    def _advance(self, branch: str, parent: str, commit: str) -> None:
        head = self._forge.pull_request(self._number).head_sha
        if head == commit:
            return
        if head != parent:
            raise ForgeRejected("the branch has moved meanwhile")
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
            except ForgeUnavailable as silent:
                if silent.wait > MOST_WAITED:
                    raise
                self._clock.sleep(max(seconds, silent.wait))
        return look_and_write()

    def _mine(self, author: str) -> bool:
        return author.casefold() == self._rules.login.casefold()

    def _is_by_us(self, maker: str | None) -> None:
        """Whatever is made under another name than the configured one would be made anew each time."""
        if maker is not None and not self._mine(maker):
            raise ForgeError(
                f"The token writes as {maker}, but github.login is {self._rules.login}: set it to that name."
            )

    def _of_run(self, review: StandingReview, run_id: str) -> bool:
        return review.body.startswith(review_marker(run_id))
