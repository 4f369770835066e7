"""Writes on one pull request: what stands is read first, so nothing is written twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from review_advisor.change.change import CommittedFile
from review_advisor.change.pull_request import Makers, PullRequest, StandingRemark
from review_advisor.change.redaction import NO_SECRETS, Redactor
from review_advisor.github.beginning import DEFAULT, NeverLeftOut, same_head
from review_advisor.github.check_text import check_waiting
from review_advisor.github.forge import (
    Forge,
    ForgeDenied,
    ForgeError,
    ForgeMissing,
    ForgeRejected,
    ForgeUnavailable,
    ReviewPending,
)
from review_advisor.github.memory import as_vouched
from review_advisor.github.money import DaySpent, PaidSoFar, day_of, newest
from review_advisor.github.state import (
    SUMMARY,
    Marks,
    StandingCheck,
    StandingComment,
    StandingReview,
    State,
    Thread,
    Vouched,
    answer_marker,
    begun_by,
    block_in,
    day_in,
    external_id,
    is_by_newer,
    is_check_of,
    is_review,
    number_in,
    own_comments,
    read_state,
    review_marker,
    seal,
    seal_in,
    sealed_on,
    usd_in,
    vouched,
    word_on,
)
from review_advisor.github.threads import PeoplesMarks
from review_advisor.github.writes import Check, Conclusion, InlineComment, MadeCommit
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.ports import Clock

WAITS = (2.0, 10.0, 30.0)
"""Seconds before each further look, after a request without an answer; more where the forge asks for more."""

LAGS = WAITS[:2]
"""Seconds before each further look, where an answer may lag behind what happened."""

MOST_WAITED = 120.0
"""The longest wait that a forge may ask for; a longer one is not waited for at all."""

_LOOK_SECONDS = 10.0
"""Between two looks whether a newer push came, before a review of this one costs anything."""

T = TypeVar("T")
P = ParamSpec("P")


class Retry:
    """Waits for a forge. What is asked within something else is asked again as a part of that, and not by itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._within = False

    def retried(self, look_and_write: Callable[[], T]) -> T:
        """What ``look_and_write`` comes to. Raises ``ForgeError`` once the forge stays silent."""
        if self._within:
            return look_and_write()
        self._within = True
        try:
            return self._tried(look_and_write)
        finally:
            self._within = False

    def _tried(self, look_and_write: Callable[[], T]) -> T:
        for seconds in WAITS:
            try:
                return look_and_write()
            except ForgeUnavailable as silent:
                if silent.wait > MOST_WAITED:
                    raise
                self._clock.sleep(max(seconds, silent.wait))
        return look_and_write()

    def poll_until(self, look: Callable[[], T], believed: Callable[[T], bool]) -> T:
        """What ``look`` finds: at once where that is ``believed``, and after some waits whatever it is."""
        found = look()
        for seconds in LAGS:
            if believed(found):
                break
            self._clock.sleep(seconds)
            found = look()
        return found


def retried(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method that looks and writes: all of it is done again while the forge stays silent, by the ``retry`` it has."""

    @wraps(method)
    def again(writer: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        retry: Retry = writer.retry
        return retry.retried(lambda: method(writer, *args, **kwargs))

    return again


def settled_head(forge: Forge, clock: Clock, number: int, seconds: float) -> PullRequest:
    """The pull request as it is after so many seconds, or as soon as its head moves. Raises ``ForgeError``."""
    seen = forge.pull_request(number)
    now, left = seen, seconds
    while left > 0 and now.head_sha == seen.head_sha:
        step = min(left, _LOOK_SECONDS)
        clock.sleep(step)
        left -= step
        now = forge.pull_request(number)
    return now


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """The bot in one run on one repository."""

    forge: Forge
    clock: Clock
    rules: PublicationRules
    details_url: str | None = None
    """Where its checks lead."""
    run: str = ""
    """This workflow run, which concludes the reviews that it began; empty outside of one."""
    redactor: Redactor = NO_SECRETS
    """Knows what a review's outcome and memory are not to say: names are compared as it leaves them."""
    repository: str = ""
    """``owner/name``."""
    state_key: bytes | None = field(default=None, repr=False)
    """Signs what is remembered; None where nothing is signed."""
    never_left_out: NeverLeftOut = DEFAULT
    """What is reviewed whatever the rules leave out."""
    believed_branch: str = ""
    """The branch whose configuration the rules are; where it is empty, no path is left out."""
    consults: bool = False
    """By that configuration a review may consult the advisor."""
    finding_notes: Mapping[str, str] = field(default_factory=dict)
    """What is known of the kind of each finding of the review to publish, by the findings' ids."""


RenderReview = Callable[[tuple[Thread, ...]], tuple[str, tuple[InlineComment, ...]]]
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

    def post(self, commit: str, run_id: str, render: RenderReview) -> str | None:
        """Post the run's one review, if there is anything to say in the diff; a note where that could not be done.

        A comment on a line that the forge does not take is left out: one bad line loses one comment. A review that
        somebody else has left pending under the same account is waited for. Then one of a workflow is shown as it
        is, so that there is room; one of a person is left alone, and the comments on the diff are not made.
        """
        try:
            self._post(commit, run_id, render)
        except ReviewPending:
            note = self._make_room(run_id)
            if note is None:
                self._post(commit, run_id, render)
            return note
        return None

    @retried
    def _post(self, commit: str, run_id: str, render: RenderReview) -> None:
        before = self._own()
        if any(_of_run(each, run_id) and not each.pending for each in before):
            return
        begun = next((each.id for each in before if each.pending and _of_run(each, run_id)), None)
        if begun is None:
            begun = self._begun(commit, run_id, render)
        if begun is None:
            return
        before_ids = {each.id for each in before if not each.pending}
        meanwhile = [
            each for each in self._own() if not each.pending and each.id not in before_ids and is_review(each.body)
        ]
        if meanwhile:
            if begun not in {each.id for each in meanwhile}:
                self._discard(begun)
            raise ForgeUnavailable("Another review was shown at the same moment.")
        try:
            self._forge.submit_review(self._number, begun)
        except (ForgeMissing, ForgeRejected) as gone:  # another run has thrown it away, or shown it
            raise ForgeUnavailable(f"The review that was prepared is not there any more: {gone}") from gone

    def _begun(self, commit: str, run_id: str, render: RenderReview) -> int | None:
        """A new pending review of what is still to be said; None where that is nothing, or takes no comment."""
        body, comments = render(self.threads())
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
            visible = lines.get(each.path)
            side = frozenset[int]() if visible is None else visible.right if each.side == "RIGHT" else visible.left
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


Concluded = TypeVar("Concluded", bound=Check | None)


class CheckRunWriter:
    """Writes the check runs of one pull request. Raises ``ForgeError`` once the forge stays silent.

    ``has_any`` says whether a check of the pull request was seen so far. ``spent`` is the most that any of the pull
    request's checks seen so far says of what its reviews have cost: every check that is written says it again, so that
    the amount goes on from head to head.
    """

    def __init__(self, bot: Bot, number: int, retry: Retry) -> None:
        self._forge, self._rules = bot.forge, bot.rules
        self._run, self._page = bot.run, bot.details_url
        self._number = number
        self.retry = retry
        self.spent = PaidSoFar(today=DaySpent(day_of(bot.clock.now()) if bot.rules.counts_days else ""))
        self.has_any = False

    @retried
    def stand(self, commit: str, check: Check) -> None:
        """Make the one check run of this pull request on ``commit`` stand as ``check`` says.

        A check run cannot be deleted: a second one of ours, should there be one, is made to say the same. Unless it
        passes, or says nothing about ``commit`` any more, no check that we made there for another pull request passes
        either: a check belongs to a commit.
        """
        self._write(commit, check, self._forge.checks(commit, check.name))

    def conclude(self, commit: str, name: str, decide: Callable[[], Concluded]) -> Concluded | StandingCheck:
        """Make the check of that name conclude as ``decide`` says; what was written, or None where that says nothing.

        ``decide`` is asked again after each wait for a request that nobody answered: meanwhile anything may have
        happened. Once the check passes it is asked a last time, because reads wait by themselves and a check may take
        several writes; if that is no success any more, the check is made to say so, and until then it passes. Where
        another run has the word on the check by then, nothing is written, and that check as it stands is the answer.
        """
        stands = self._conclude(commit, name, decide)
        passes = isinstance(stands, Check) and stands.conclusion is Conclusion.SUCCESS
        return self._looked_at_again(commit, name, decide, passed=stands) if passes else stands

    @retried
    def _conclude(self, commit: str, name: str, decide: Callable[[], Concluded]) -> Concluded | StandingCheck:
        check = decide()
        if check is None:
            return check
        every = self._forge.checks(commit, name)
        left = self._left(every)
        if left is not None:
            return left
        self._write(commit, check, every)
        return check

    @retried
    def _looked_at_again(
        self, commit: str, name: str, decide: Callable[[], Concluded], *, passed: Concluded | StandingCheck
    ) -> Concluded | StandingCheck:
        """``passed``, while it does; otherwise what was written instead, or what another run has written since."""
        check = decide()
        if check is None or check.conclusion is Conclusion.SUCCESS:
            return passed
        every = self._forge.checks(commit, name)
        for first in self._own(every)[:1]:
            if first.conclusion != Conclusion.SUCCESS and begun_by(first.external_id) != self._run:
                return first
        self._write(commit, check, every)
        return check

    def _write(self, commit: str, check: Check, every: Iterable[StandingCheck]) -> None:
        """Write ``check``. ``every``: all of its name on ``commit``, as they stood one request before."""
        own = self._own(every)
        seal = check.seal or (seal_in(own[0].external_id) if own else "")
        check = replace(check, external_id=self._external_id(self._run, seal), details_url=self._page)
        if check.conclusion not in (Conclusion.SUCCESS, Conclusion.CANCELLED):
            self._take_back(every, self._rules)
        standing = [each.id for each in own]
        if not standing:
            made = self._forge.create_check(commit, check)
            every = self._forge.checks(commit, check.name)
            made_by_us(next((f"{each.app}[bot]" for each in every if each.id == made), None), self._rules)
            standing = [each.id for each in self._own(every) if each.id != made]
        for each in standing:
            self._forge.update_check(each, check)

    def externals(self, commit: str, name: str) -> tuple[str, ...]:
        """The external ids of our check runs on ``commit``; none on one that the forge does not know or show."""
        try:
            every = self._forge.checks(commit, name) if commit else ()
        except (ForgeDenied, ForgeMissing, ForgeRejected):
            return ()
        return tuple(each.external_id for each in self._own(every))

    @retried
    def mark(self, commit: str, name: str, seal: str) -> None:
        """Have our check runs on ``commit`` bear this seal, and leave everything else of them."""
        for each in self._own(self._forge.checks(commit, name)):
            marked = self._external_id(begun_by(each.external_id), seal)
            if marked != each.external_id:
                self._forge.mark_check(each.id, marked)

    def _external_id(self, run: str, seal: str) -> str:
        return external_id(self._number, run, seal, self.spent.usd, (self.spent.today.day, self.spent.today.usd))

    @retried
    def take_back(self, commit: str, rules: PublicationRules, own: Check | None) -> None:
        """Let no check by these ``rules`` on ``commit`` pass by the review of another pull request.

        ``own`` takes the place of this one's that passes; None leaves it.
        """
        every = self._forge.checks(commit, rules.check_name)
        self._take_back(every, rules)
        for each in self._own(every):
            if own is not None and each.conclusion == Conclusion.SUCCESS:
                self._forge.update_check(each.id, replace(own, external_id=each.external_id, details_url=self._page))

    def _take_back(self, checks: Iterable[StandingCheck], rules: PublicationRules) -> None:
        for each in checks:
            other = number_in(each.external_id)
            theirs = self._rules.is_ours(f"{each.app}[bot]") and other not in (None, self._number)
            if theirs and other is not None and each.conclusion == Conclusion.SUCCESS:
                undecided = check_waiting(rules, other, same_head(self._number))
                self._forge.update_check(each.id, replace(undecided, external_id=each.external_id))

    def conclusions(self, commit: str, name: str) -> set[str | None]:
        """What our check runs on ``commit`` conclude; None is one in progress."""
        return {each.conclusion for each in self.standing(commit, name)}

    @retried
    def standing(self, commit: str, name: str) -> tuple[StandingCheck, ...]:
        """Our check runs on ``commit``."""
        return tuple(self._own(self._forge.checks(commit, name)))

    def in_progress_on(self, commit: str, name: str) -> bool:
        """Whether our check on ``commit`` says that a review is under way, whichever run has to conclude it.

        A commit that the forge does not know or show any more, after a forced push, has none.
        """
        try:
            return None in self.conclusions(commit, name)
        except (ForgeDenied, ForgeMissing, ForgeRejected):
            return False

    @retried
    def in_progress(self, commit: str, name: str) -> StandingCheck | None:
        """Our check run on ``commit`` that this run has to conclude and nobody has; None without a commit."""
        if not commit:
            return None
        every = self._forge.checks(commit, name)
        waits = (each for each in self._own(every) if each.conclusion is None)
        return next(waits, None) if self._left(every) is None else None

    @retried
    def left_to_another(self, commit: str, name: str) -> StandingCheck | None:
        """The check, where another workflow run has the word on it: it is to conclude it, or has and is the newer one.

        Outside of a workflow run nothing is left to others. Of two checks of ours the older one says whose they are.
        """
        return self._left(self._forge.checks(commit, name))

    def _left(self, every: Iterable[StandingCheck]) -> StandingCheck | None:
        standing = self._own(every)
        for first in standing[:1] if self._run else ():
            begun = first.conclusion is None and begun_by(first.external_id) not in ("", self._run)
            if begun or is_by_newer(first.external_id, self._run):
                return first
        return None

    def _own(self, checks: Iterable[StandingCheck]) -> list[StandingCheck]:
        ours = self._rules.is_ours
        own = [each for each in checks if is_check_of(self._number, each.external_id) and ours(f"{each.app}[bot]")]
        self.has_any = self.has_any or bool(own)
        for each in own:
            self.has_cost(usd_in(each.external_id), DaySpent(*day_in(each.external_id)))
        return own

    def has_cost(self, usd: float, today: DaySpent) -> None:
        """Take note of what somebody says that the reviews have cost. The largest amount counts."""
        known = self.spent.today
        now = newest(known.day, known, today) if known.day else known
        self.spent = PaidSoFar(max(self.spent.usd, usd), now)


def made_by_us(maker: str | None, rules: PublicationRules) -> None:
    """Refuse to go on where ``maker``, if it was found, is not the configured account: it would be made anew each time.

    Raises ``ForgeError``.
    """
    if maker is not None and not rules.is_ours(maker):
        raise ForgeError(f"The token writes as {maker}, but github.login is {rules.login}: set it to that name.")


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
        """The remembered state, with the word on it. In shadow mode, nothing."""
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

    def summary(self, render: Callable[[str, State | None], str]) -> None:
        """Make the one summary comment say what ``render`` makes of its body and of the state to believe in it.

        Both are read one request before the write. Nothing is written where it makes nothing. Of several summaries of
        ours the oldest stays.
        """
        try:
            self._summary(render)
        except ForgeMissing:  # a person deleted it between the look and the write
            self._summary(render)

    @retried
    def _summary(self, render: Callable[[str, State | None], str]) -> None:
        comments = self._forge.comments(self._number)
        standing = own_comments(comments, self._rules.login, SUMMARY)
        body = render(standing[0].body if standing else "", self._recalled(comments).state)
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
