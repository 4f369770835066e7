"""What an event on the forge begins: a review, an answer to a comment, or the check of a merge queue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from review_advisor.core.facts.actions_event import ActionsEvent, CommentEvent, MergeGroupEvent, PullRequestEvent
from review_advisor.core.facts.files.paths import PYPROJECT, may_configure
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.forge_text.check import (
    check_in_progress,
    check_left_out,
    check_of_queue,
    check_superseded,
    check_waiting,
)
from review_advisor.core.pull_request.beginning import OPENING_ACTIONS, beginning, queued_pull_request
from review_advisor.core.pull_request.money.day_spending import (
    SpentToday,
    alert_about,
    changed_since,
    day_of,
    spent_today,
)
from review_advisor.core.pull_request.seals import sealed_on
from review_advisor.core.pull_request.state import not_against
from review_advisor.core.pull_request.unreviewed import (
    LEFT_OUT,
    is_untouched,
    left_out_by_author,
    left_out_by_base,
    left_out_by_draw,
    left_out_by_paths,
)
from review_advisor.core.pull_request.waiting import same_head
from review_advisor.core.pull_request.writes import Check, Conclusion
from review_advisor.ports.forge import ForgeDenied, ForgeMissing, ForgeRejected
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.comment_commands import Comment, Conversation
from review_advisor.pull_request.shadow_publish import take_back_borrowed
from review_advisor.pull_request.writer import PullRequestWriter


@dataclass(frozen=True, slots=True)
class Begun:
    """What came of an event. ``review``: ``pull_request`` is to be reviewed now; ``asked``: because a person asked.

    ``memory`` says how far the review is to believe which state; empty for not at all. ``settle_seconds`` is how long
    the review waits for a newer push before it asks anybody, ``most_usd`` what it may spend at most. ``consult``: it
    consults the advisor, because a person asked for that. ``alert`` is a sentence for the maintainers about the money
    of all reviews; empty for none.
    """

    review: bool
    because: str
    pull_request: PullRequest | None = None
    asked: bool = False
    memory: str = ""
    settle_seconds: int = 0
    most_usd: float | None = None
    consult: bool = False
    alert: str = ""


class BeginPhase:
    """Decides on events of one repository. The same event twice leaves the same behind."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    def begin(self, event: ActionsEvent) -> Begun:
        """Do what the event asks for. The check stands, in progress or waiting, once this returns.

        Raises ``ForgeError``.
        """
        match event:
            case PullRequestEvent():
                return self._happened(event)
            case CommentEvent():
                return self._said(event)
            case MergeGroupEvent():
                return self._queued(event)
            case _:
                assert_never(event)

    def _happened(self, event: PullRequestEvent) -> Begun:
        writer = PullRequestWriter(self._bot, event.number)
        if event.action == "labeled" and event.label != self._bot.rules.fork_label:
            return Begun(review=False, because=f"the label {event.label!r} asks for nothing")
        pull_request = writer.pull_request_at(event.head_sha)
        if event.head_sha != pull_request.head_sha:
            return Begun(review=False, because="the head has moved since: that push is an event of its own")
        if event.action != "labeled":
            seconds = self._settles(writer, event.before)  # looked at first: the check there says what was spent
            begun = self._decided(writer, pull_request, asked=False, action=event.action)
            return replace(begun, settle_seconds=seconds) if begun.review else begun
        if self._bot.forge.permission(event.sender).may_write:
            return self._decided(writer, pull_request, asked=True)
        writer.label(self._bot.rules.fork_label, wanted=False, present=True)  # the check stays: theirs is no word on it
        return Begun(review=False, because=f"{event.sender} may not write to the repository, so their label is none")

    def _said(self, event: CommentEvent) -> Begun:
        if event.action != "created" or not event.on_pull_request:
            return Begun(review=False, because="only a new comment on a pull request is heard")
        heard = Conversation(self._bot).hear(event.number, Comment(event.comment_id, event.author, event.body))
        if not heard.review:
            return Begun(review=False, because=heard.because)
        writer = PullRequestWriter(self._bot, event.number)
        return replace(self._decided(writer, writer.pull_request(), asked=True), consult=heard.consult)

    def _decided(self, writer: PullRequestWriter, pull_request: PullRequest, *, asked: bool, action: str = "") -> Begun:
        take_back_borrowed(self._bot, pull_request, retargeted=action == "edited")
        number, head = pull_request.number, pull_request.head_sha
        recalled = writer.recalled()
        writer.checks.standing(head, self._bot.rules.check_name)
        if action != "opened" and not writer.checks.has_any:
            self._look_back(writer, pull_request)
        passed_over = None if asked or not self._may_leave_out() else self._passed_over(writer, pull_request)
        if passed_over is not None:
            return passed_over
        today = self._spent_today(pull_request)
        decision = beginning(
            pull_request,
            recalled.state,
            self._bot.rules,
            asked=asked,
            opening=action in OPENING_ACTIONS,
            spent_usd=writer.checks.spent.usd,
            author_usd=today.author_usd + writer.checks.spent.today.usd,
        )
        if decision.drop_fork_label:
            writer.label(self._bot.rules.fork_label, wanted=False, present=True)
        if decision.review:
            writer.checks.stand(head, check_in_progress(self._bot.rules, number))
        elif decision.waiting is not None:
            writer.checks.stand(head, check_waiting(self._bot.rules, number, decision.waiting))
        alert = alert_about(today, self._bot.rules)
        return Begun(
            decision.review,
            decision.because,
            pull_request,
            asked,
            recalled.word,
            most_usd=decision.most_usd,
            alert=alert,
        )

    def _look_back(self, writer: PullRequestWriter, pull_request: PullRequest) -> None:
        """Let the newest check on an earlier head say what the reviews have cost, where the last two heads have none.

        Who deletes the summary and pushes twice before a review begins gets no money back by it.
        """
        if pull_request.from_fork:
            return
        for head in self._bot.forge.pushed_heads(pull_request):
            if head != pull_request.head_sha and writer.checks.externals(head, self._bot.rules.check_name):
                return

    def _spent_today(self, pull_request: PullRequest) -> SpentToday:
        """What reviews have cost today, without this pull request's in the author's sum."""
        rules, now = self._bot.rules, self._bot.clock.now()
        if not rules.counts_days or pull_request.state != "open":
            return SpentToday()
        work = self._bot.forge.recent_work(rules.check_name, changed_since(now))
        number, author = pull_request.number, pull_request.author_id
        return spent_today(work, day_of(now), rules.is_ours, number=number, author_id=author)

    def _settles(self, writer: PullRequestWriter, before: str) -> int:
        """How long the review of a push waits: not at all unless the head ``before`` it is under review."""
        under_review = bool(before) and writer.checks.in_progress_on(before, self._bot.rules.check_name)
        return self._bot.rules.settle_seconds if under_review else 0

    def _may_leave_out(self) -> bool:
        rules = self._bot.rules
        drawn = rules.is_shadow and rules.shadow_percent < 100  # noqa: PLR2004
        return bool(drawn or rules.skip_paths or rules.skip_bases or rules.skip_authors)

    def _left_out(self, pull_request: PullRequest) -> str | None:
        """Why the configuration leaves it unreviewed, in a few words; None if it does not."""
        rules, forge = self._bot.rules, self._bot.forge
        if pull_request.state != "open":
            return None
        by_base = left_out_by_draw(pull_request, rules) or left_out_by_base(pull_request.base_ref, rules)
        if by_base is not None or not (rules.skip_paths or rules.skip_authors):
            return by_base
        if pull_request.base_ref != self._bot.believed_branch:  # its author may have put anything on that base
            return None
        try:
            # By their commits: what is listed by the pull request's number may be that of another push by now.
            found = forge.compared(forge.tip(pull_request.base_ref), pull_request.head_sha)
            configures = PYPROJECT in found.paths and may_configure(forge.file(PYPROJECT, pull_request.head_sha))
        except (ForgeDenied, ForgeMissing, ForgeRejected):
            return None
        if not found.whole or any(map(self._bot.never_left_out.covers, found.paths)):
            return None
        if configures:
            return None
        by_paths = left_out_by_paths(found.paths, rules)
        if by_paths is not None or not rules.skip_authors:
            return by_paths
        pushers = forge.pushers(pull_request, {each.sha for each in found.commits})
        return left_out_by_author(pull_request, found.commits, pushers, rules)

    def _passed_over(self, writer: PullRequestWriter, seen: PullRequest) -> Begun | None:
        """What came of leaving it unreviewed; None where it is to begin as any other does.

        Everything is read anew for the check, and once more when it passes: a push may come in between.
        """
        if self._bot.rules.is_shadow:  # no check: one that says that nobody read it would pass, or fail for nothing
            because = self._left_out(seen)
            return None if because is None else Begun(review=False, because=because, pull_request=seen)
        passed = False

        def words() -> Check | None:
            nonlocal passed
            check = self._left_out_now(writer, seen)
            if check is None:
                return check_in_progress(self._bot.rules, seen.number) if passed else None
            passed = passed or check.conclusion is Conclusion.SUCCESS
            return check

        stands = writer.checks.conclude(seen.head_sha, self._bot.rules.check_name, words)
        if stands is None or (isinstance(stands, Check) and stands.conclusion is None):
            return None
        return Begun(review=False, because=f"the check of its head says: {stands.title}", pull_request=seen)

    def _left_out_now(self, writer: PullRequestWriter, seen: PullRequest) -> Check | None:
        """The check of a head that is left unreviewed; None where it is not left out.

        It passes, unless it would pass for another pull request, too: a check belongs to a commit.
        """
        bot, number, head = self._bot, seen.number, seen.head_sha
        state = writer.remembered()
        if not is_untouched(head, writer.checks.standing(head, bot.rules.check_name), state):
            return None
        because = self._left_out(seen)
        now = writer.pull_request()  # after the files, which may be those of a later push
        if (now.head_sha, now.base_ref) != (head, seen.base_ref):
            return check_superseded(bot.rules, now, head, bot.redactor)
        if because is None:
            return None
        others = [each for each in writer.open_with(head) if each != number]
        if others:
            return check_waiting(bot.rules, number, same_head(others[0]))
        return check_left_out(bot.rules, number, because)

    def _queued(self, event: MergeGroupEvent) -> Begun:
        """A queue's commit passes on the word of its pull request's own check; it is not reviewed again."""
        if self._bot.rules.is_shadow:
            return Begun(review=False, because="in shadow mode a merge queue gets no check")
        number = queued_pull_request(event.head_ref)
        missing = None if number is None else self._missing(number)
        check = check_of_queue(self._bot.rules, number, missing)
        PullRequestWriter(self._bot, number or 0).checks.stand(event.head_sha, check)
        return Begun(review=False, because=f"the merge queue's commit was checked: {check.title}")

    def _missing(self, number: int) -> str | None:
        """Why its head has not passed by the last review, against its present base branch; None if it has."""
        writer = PullRequestWriter(self._bot, number)
        pull_request, state = writer.pull_request(), writer.remembered()
        checks = writer.checks.standing(pull_request.head_sha, self._bot.rules.check_name)
        if {each.conclusion for each in checks} != {Conclusion.SUCCESS}:
            return "Its own head did not pass."
        if any(each.title == LEFT_OUT for each in checks):
            holds = is_untouched(pull_request.head_sha, checks, state) and self._left_out(pull_request) is not None
            return None if holds else "Its head was left unreviewed, which the configuration or a review contradicts."
        if state is not None and sealed_on(state) != pull_request.head_sha:
            return "The last review is of another head."
        return not_against(state, pull_request.base_ref, self._bot.redactor)
