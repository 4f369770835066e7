"""Writing on one pull request: what stands is looked at first, so that doing anything twice does it once.

A process that is killed between any two requests and started again leaves one check run, one review and one summary. So
does a request whose answer was lost: nobody knows then what it did, and the next look tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from review_advisor.core.facts.pull_request import Makers, PullRequest
from review_advisor.core.facts.remark import StandingRemark
from review_advisor.core.pull_request.markers import SUMMARY, answer_marker
from review_advisor.core.pull_request.money.day_spending import DaySpent
from review_advisor.core.pull_request.seals import Vouched, seal, sealed_on, vouched, word_on
from review_advisor.core.pull_request.standing import StandingComment, Thread
from review_advisor.core.pull_request.state import Marks, State, block_in, own_comments, read_state
from review_advisor.core.pull_request.threads import PeoplesMarks
from review_advisor.core.pull_request.writes import CommittedFile, MadeCommit
from review_advisor.ports.forge import ForgeDenied, ForgeMissing, ForgeRejected
from review_advisor.pull_request.believed_memory import as_vouched
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.check_run import CheckRunWriter, made_by_us
from review_advisor.pull_request.retries import Retry, retried
from review_advisor.pull_request.review_writer import ReviewWriter


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is remembered, as far as it is believed, and the word that tells ``review`` the same (``seals``)."""

    state: State | None = None
    word: str = ""


class PullRequestWriter:
    """Writes for the bot on one pull request. Raises ``ForgeError`` once the forge stays silent.

    ``checks`` writes check runs, ``reviews`` what is said on the diff. What this writer wrote into the summary itself,
    it believes.
    """

    def __init__(self, bot: Bot, number: int) -> None:
        self._bot = bot
        self._forge, self._rules = bot.forge, bot.rules
        self._number = number
        self._written: str | None = None
        self.retry = Retry(bot.clock)
        self.checks = CheckRunWriter(bot, number, self.retry)
        self.reviews = ReviewWriter(bot, number, self.retry)

    @retried
    def pull_request(self) -> PullRequest:
        """The pull request as it is now."""
        return self._forge.pull_request(self._number)

    def pull_request_at(self, head_sha: str) -> PullRequest:
        """The pull request as it is now. Another head than this is believed only after some waits: answers may lag."""
        return self.retry.poll_until(self.pull_request, lambda found: found.head_sha == head_sha)

    @retried
    def open_with(self, head_sha: str) -> tuple[int, ...]:
        """The numbers of all open pull requests with this head, the lowest first."""
        return tuple(sorted(each.number for each in self._forge.open_pull_requests(head_sha)))

    @retried
    def makers(self, pull_request: PullRequest) -> Makers:
        """Whose work the pull request is, beside its author's."""
        return self._forge.makers(pull_request)

    def marks(self, author: str, before: State | None) -> dict[str, Marks]:
        """What people marked of each finding; what is remembered where the token may not read it."""
        try:
            return PeoplesMarks(self._rules.login, self._may_write).marks(self._remarks(), author)
        except (ForgeDenied, ForgeMissing, ForgeRejected):
            return {} if before is None else {each.id: each.marks for each in before.findings}

    @retried
    def _remarks(self) -> tuple[StandingRemark, ...]:
        return self._forge.remarks(self._number)

    @retried
    def _may_write(self, login: str) -> bool:
        return self._forge.permission(login).may_write

    def remembered(self) -> State | None:
        """The state in the standing summary, as far as it is believed; None where there is none to read."""
        return self.recalled().state

    @retried
    def recalled(self) -> Recalled:
        """The same, with the word on it. In shadow mode, nothing."""
        if self._rules.is_shadow:
            return Recalled()
        return self._recalled(self._forge.comments(self._number))

    def _recalled(self, comments: tuple[StandingComment, ...]) -> Recalled:
        for first in own_comments(comments, self._rules.login, SUMMARY)[:1]:
            state = read_state(first, self._rules.login)
            if state is not None:
                self.checks.has_cost(state.spent_usd, DaySpent(state.day, state.day_usd))
                found = self._vouched(state, first)
                believed = as_vouched(self._forge, self._rules, self._number, comments, state, found=found)
                return Recalled(believed, word_on(first.body, found))
        return Recalled()

    def _vouched(self, state: State, comment: StandingComment) -> Vouched:
        if block_in(comment.body) == self._written:
            return "signed"
        wanted = self._seal_of(state, comment)
        return vouched(wanted, self.checks.externals(sealed_on(state), self._rules.check_name))

    def _seal_of(self, state: State, comment: StandingComment) -> str:
        return seal(self._bot.state_key, self._bot.repository, self._number, state, comment)

    @property
    def has_written(self) -> bool:
        """Whether this writer wrote a state into the summary."""
        return self._written is not None

    def seal(self) -> str:
        """The seal of the summary that this writer wrote; empty where another one stands. Answers may lag."""
        found = self.retry.poll_until(self._sealed, lambda each: each is not None)
        return "" if found is None else found[1]

    def reseal(self) -> None:
        """Have the check of the head that the state is of vouch for the summary that this writer wrote."""
        found = self.retry.poll_until(self._sealed, lambda each: each is not None)
        if found is not None:
            self.checks.mark(sealed_on(found[0]), self._rules.check_name, found[1])

    @retried
    def _sealed(self) -> tuple[State, str] | None:
        """The state in the summary that this writer wrote, and its seal."""
        for each in self._own_comments(SUMMARY)[:1]:
            state = read_state(each, self._rules.login)
            if state is not None and block_in(each.body) == self._written:
                self.checks.has_cost(state.spent_usd, DaySpent(state.day, state.day_usd))
                return state, self._seal_of(state, each)
        return None

    def summary(self, words: Callable[[str, State | None], str]) -> None:
        """Make the one summary comment say what ``words`` makes of its body and of the state to believe in it.

        Both are read one request before the write. Nothing is written where it makes nothing. Of several summaries of
        ours the oldest stays.
        """
        try:
            self._summary(words)
        except ForgeMissing:  # a person deleted it between the look and the write
            self._summary(words)

    @retried
    def _summary(self, words: Callable[[str, State | None], str]) -> None:
        comments = self._forge.comments(self._number)
        standing = own_comments(comments, self._rules.login, SUMMARY)
        body = words(standing[0].body if standing else "", self._recalled(comments).state)
        self._written = block_in(body) or self._written
        if body and not standing:
            standing = self._commented(SUMMARY, body)
        for first in standing[:1]:
            if body not in ("", first.body):
                self._forge.update_comment(first.id, body)
        self._leave_the_oldest(standing)

    def seen(self, comment_id: int) -> None:
        """Show at a person's comment that it was heard; where the token may not, the answer has to do."""
        self._allowed(lambda: self._forge.react(comment_id))

    @retried
    def answer(self, comment_id: int, body: str) -> None:
        """Answer a person's comment, once. Of several answers of ours to it the oldest stays."""
        mark = answer_marker(comment_id)
        self._leave_the_oldest(self._own_comments(mark) or self._commented(mark, f"{mark}\n{body}"))

    def _own_comments(self, mark: str) -> tuple[StandingComment, ...]:
        """More than one with this mark only where two were written in one moment, or something went wrong."""
        return own_comments(self._forge.comments(self._number), self._rules.login, mark)

    def _commented(self, mark: str, body: str) -> tuple[StandingComment, ...]:
        """Comment; what then stands with this mark."""
        made = self._forge.create_comment(self._number, body)
        every = self._forge.comments(self._number)
        made_by_us(next((each.author for each in every if each.id == made), None), self._rules)
        return own_comments(every, self._rules.login, mark)

    def _leave_the_oldest(self, standing: tuple[StandingComment, ...]) -> None:
        for other in standing[1:]:
            with suppress(ForgeMissing):  # somebody was quicker
                self._forge.delete_comment(other.id)

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
        done = "set" if wanted else "taken off"
        return None if refused is None else f"the label {label!r} could not be {done}: {refused}"

    def ask(self, reviewers: Iterable[str]) -> tuple[str, ...]:
        """Ask each person and team for a review; a note for each that could not be asked."""
        notes = []
        for each in reviewers:
            refused = self._allowed(lambda name=each: self._forge.request_review(self._number, (name,)))  # type: ignore[misc]
            if refused is not None:
                notes.append(f"{each} could not be asked for a review: {refused}")
        return tuple(notes)

    @retried
    def make_commit(self, parent: str, files: tuple[CommittedFile, ...], message: str) -> MadeCommit:
        """A commit on ``parent``, to which no branch leads. One that was made in vain is nowhere to be seen."""
        return self._forge.make_commit(parent, files, message)

    @retried
    def advance(self, branch: str, parent: str, commit: str) -> None:
        """Move the pull request's own branch from ``parent`` to ``commit``, unless it is there already.

        A branch that is anywhere else is left there: its author took ``parent`` back, or pushed on. Between this look
        and the move one request's time goes by, in which a force-push would still be undone: the forge cannot be told
        from where to move a branch.
        """
        head = self._forge.pull_request(self._number).head_sha
        if head == commit:
            return
        if head != parent:
            raise ForgeRejected("the branch has moved meanwhile")
        self._forge.advance_branch(branch, commit)

    def _allowed(self, write: Callable[[], None]) -> str | None:
        """Do what may be done without; why it was not done, if it was not."""
        try:
            self.retry.retried(write)
        except (ForgeDenied, ForgeMissing, ForgeRejected) as refused:
            return str(refused)
        return None
