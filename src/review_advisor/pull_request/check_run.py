"""The check run of a pull request: one on a commit, which the run that began last concludes.

What passed is looked at once more: until it stood, anything may have happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from review_advisor.core.forge_text.check import check_waiting
from review_advisor.core.pull_request.markers import (
    begun_by,
    day_in,
    external_id,
    is_by_newer,
    is_check_of,
    number_in,
    seal_in,
    usd_in,
)
from review_advisor.core.pull_request.money.counting import PaidSoFar
from review_advisor.core.pull_request.money.day_spending import DaySpent, day_of, newest
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.standing import StandingCheck
from review_advisor.core.pull_request.waiting import same_head
from review_advisor.core.pull_request.writes import Check, Conclusion
from review_advisor.ports.forge import ForgeDenied, ForgeError, ForgeMissing, ForgeRejected
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.retries import Retry, retried

Words = TypeVar("Words", bound=Check | None)


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

    def conclude(self, commit: str, name: str, words: Callable[[], Words]) -> Words | StandingCheck:
        """Make the check of that name conclude as ``words`` says; what was written, or None where that says nothing.

        ``words`` is asked again after each wait for a request that nobody answered: meanwhile anything may have
        happened. Once the check passes it is asked a last time, because reads wait by themselves and a check may take
        several writes; if that is no success any more, the check is made to say so, and until then it passes. Where
        another run has the word on the check by then, nothing is written, and that check as it stands is the answer.
        """
        stands = self._conclude(commit, name, words)
        passes = isinstance(stands, Check) and stands.conclusion is Conclusion.SUCCESS
        return self._looked_at_again(commit, name, words, passed=stands) if passes else stands

    @retried
    def _conclude(self, commit: str, name: str, words: Callable[[], Words]) -> Words | StandingCheck:
        check = words()
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
        self, commit: str, name: str, words: Callable[[], Words], *, passed: Words | StandingCheck
    ) -> Words | StandingCheck:
        """``passed``, while it does; otherwise what was written instead, or what another run has written since."""
        check = words()
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
