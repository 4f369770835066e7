"""Publishing in shadow mode: one check of its own name, and nothing else is written on the pull request."""

from __future__ import annotations

from collections.abc import Callable

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.forge_text.check import check_did_not_run, check_mode_changed, check_superseded, shadow_check
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.pull_request.markers import begun_by
from review_advisor.core.pull_request.memory import with_estimate
from review_advisor.core.pull_request.money.counting import with_cost
from review_advisor.core.pull_request.money.day_spending import DaySpent
from review_advisor.core.pull_request.standing import StandingCheck
from review_advisor.core.pull_request.writes import Check
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.check_run import CheckRunWriter
from review_advisor.pull_request.publish import DidNotRun, Published, is_of, left_to_another
from review_advisor.pull_request.writer import PullRequestWriter


class ShadowPublishPhase:
    """Publishes reviews of one repository in shadow mode. Nothing of it is remembered but what it cost.

    ``stands`` is called as soon as the check does.
    """

    def __init__(self, bot: Bot, stands: Callable[[], None] = lambda: None) -> None:
        self._bot = bot
        self._stands = stands

    def publish(
        self, number: int, outcome: OutcomeDocument | DidNotRun, *, asked: bool = False, notes: tuple[str, ...] = ()
    ) -> Published:
        """Make the shadow check of the reviewed head say what the review would have come to. Raises ``ForgeError``.

        A review that did not run fails this check. A head or a base branch that is another now gets a superseded one. A
        check that another run has begun anew since is left to that run, and only says what this review cost. ``asked``:
        a person wanted this review, so that it is not the author's bill. ``notes`` are said on the check's page.
        """
        writer = PullRequestWriter(self._bot, number)
        head, name = outcome.head_sha or "", self._bot.rules.check_name
        left = writer.checks.left_to_another(head, name)
        self._count(writer.checks, outcome, asked=asked)
        if left is not None:
            self._carry_on(writer, head)
            return left_to_another(left)
        now = writer.pull_request_at(head)

        def words() -> Check:
            nonlocal now
            now = writer.pull_request()
            return self._check(outcome, now, notes)

        stands = writer.checks.conclude(head, name, words)
        self._stands()
        if isinstance(stands, StandingCheck):
            self._carry_on(writer, head)
            return left_to_another(stands)
        if now.head_sha != head:
            self._carry_on(writer, head)
        return Published(stands)

    def _carry_on(self, writer: PullRequestWriter, head: str) -> None:
        """Have the checks that others conclude say what the reviews have cost: of ``head``, and of the present one."""
        for commit in dict.fromkeys((head, writer.pull_request().head_sha)):
            writer.checks.mark(commit, self._bot.rules.check_name, "")

    def _check(self, outcome: OutcomeDocument | DidNotRun, now: PullRequest, notes: tuple[str, ...]) -> Check:
        rules = self._bot.rules
        if not is_of(outcome, now, self._bot.redactor):
            return check_superseded(rules, now, outcome.head_sha or "", self._bot.redactor)
        if isinstance(outcome, DidNotRun):
            return check_did_not_run(rules, now.number, outcome.reason)
        return shadow_check(outcome, rules, now.number, notes, self._bot.details_url)

    def _count(self, checks: CheckRunWriter, outcome: OutcomeDocument | DidNotRun, *, asked: bool) -> None:
        """Have the check say what the reviews have cost, with this one, unless this run has published it already."""
        standing = checks.standing(outcome.head_sha or "", self._bot.rules.check_name)
        ended_by = {None if each.conclusion is None else begun_by(each.external_id) for each in standing}
        if ended_by == {self._bot.run}:
            return
        if isinstance(outcome, OutcomeDocument):
            counted = with_cost(None, outcome, checks.spent, asked=asked)
            checks.has_cost(counted["spent_usd"], DaySpent(counted["day"], counted["day_usd"]))
        elif outcome.may_have_asked:
            why = (outcome.run_id, outcome.head_sha, outcome.reason)
            state = with_estimate(None, *why, spent=checks.spent, asked=asked)
            checks.has_cost(state.spent_usd, DaySpent(state.day, state.day_usd))


def drop_check_of_other_mode(bot: Bot, number: int, head: str) -> None:
    """Conclude the check that this run began on ``head`` before the mode was changed: it says nothing any more."""
    other = bot.rules.of_mode("enforce" if bot.rules.is_shadow else "shadow")
    checks = PullRequestWriter(bot, number).checks
    if checks.in_progress(head, other.check_name) is not None:
        checks.conclude(head, other.check_name, lambda: check_mode_changed(other, number))


def take_back_borrowed(bot: Bot, pull_request: PullRequest, *, retargeted: bool) -> None:
    """In shadow mode, let no review of the same head against another base branch pass a required check here.

    In mode ``enforce`` the check that an event begins does that; shadow mode begins another one. Raises ``ForgeError``.
    """
    if not bot.rules.is_shadow or pull_request.state != "open":
        return
    rules = bot.rules.of_mode("enforce")
    own = check_superseded(rules, pull_request, pull_request.head_sha, bot.redactor) if retargeted else None
    PullRequestWriter(bot, pull_request.number).checks.take_back(pull_request.head_sha, rules, own)
