"""What an event begins: a review, an answer to a comment, or the check of a merge queue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from review_advisor.change.kinds import PYPROJECT, may_configure
from review_advisor.change.pull_request import (
    ActionsEvent,
    CommentEvent,
    MergeGroupEvent,
    Permission,
    PullRequest,
    PullRequestEvent,
)
from review_advisor.github import answers
from review_advisor.github.beginning import (
    LEFT_OUT,
    OPENING_ACTIONS,
    approval_fell,
    beginning,
    is_untouched,
    left_out_by_author,
    left_out_by_base,
    left_out_by_paths,
    queued_pull_request,
    same_head,
)
from review_advisor.github.check_text import (
    check_dismissed_by,
    check_in_progress,
    check_left_out,
    check_of_queue,
    check_overridden_by,
    check_superseded,
    check_waiting,
)
from review_advisor.github.commands import (
    Command,
    Dismiss,
    Explain,
    Help,
    Misspelt,
    Override,
    Present,
    ReviewAgain,
    leave,
    may_settle,
    read_command,
    still_blocking,
    why_not_settled,
)
from review_advisor.github.comment_text import amended
from review_advisor.github.forge import ForgeDenied, ForgeMissing, ForgeRejected
from review_advisor.github.money import SpentToday, alert_about, changed_since, day_of, spent_today
from review_advisor.github.publish import take_back_borrowed
from review_advisor.github.state import KnownFinding, State, not_against, sealed_on, with_dismissed
from review_advisor.github.threads import about
from review_advisor.github.writer import Bot, PullRequestWriter
from review_advisor.github.writes import Check, Conclusion
from review_advisor.review.rulings import Outcome

TRIES = 3
"""So often a dismissal is written, if each time a review that is published meanwhile takes its place."""


SETTLE_SECONDS = 60
"""So long a push waits while the previous head is under review: who pushes twice in a minute pays for one review."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as it was created; an edit is none. ``author`` is its account."""

    id: int
    author: str
    body: str


@dataclass(frozen=True, slots=True)
class CommentResult:
    """The result of a comment.

    ``review``: a person asks for one; ``because`` says what was done, or why nothing; ``consult``: the review is to
    consult the advisor.
    """

    review: bool
    because: str
    consult: bool = False


@dataclass(frozen=True, slots=True)
class _NotPassed:
    """Why a head does not pass in a person's name. ``may_begin``: nothing keeps a review of it from beginning."""

    because: str
    may_begin: bool


class Conversation:
    """Answers one comment at a time; hearing the same one twice answers once."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    def hear(self, number: int, comment: Comment) -> CommentResult:
        """Do what the comment says, if it is a command and its author may give it. Raises ``ForgeError``.

        Whoever may not is told so only if the pull request is theirs: strangers cannot make the bot talk.
        """
        if self._bot.rules.is_ours(comment.author):
            return CommentResult(review=False, because="it is the bot's own comment")
        command = read_command(comment.body)
        if command is None:
            return CommentResult(review=False, because="it holds no command")
        writer = PullRequestWriter(self._bot, number)
        pull_request = writer.pull_request()
        permission = self._bot.forge.permission(comment.author)
        intended = Help() if isinstance(command, Misspelt) else command
        granted = leave(intended, comment.author, permission, pull_request)
        if not granted.granted:
            if comment.author.casefold() == pull_request.author.casefold():
                writer.answer(comment.id, answers.refused(granted.because))
            return CommentResult(review=False, because=granted.because)
        writer.seen(comment.id)
        if self._bot.rules.is_shadow:
            review = isinstance(command, ReviewAgain) and self._can_review(command)
            why_none = answers.NO_PROFILE if isinstance(command, ReviewAgain) and not review else ""
            writer.answer(comment.id, answers.in_shadow(self._bot.rules.check_name, review=review, why_none=why_none))
            consult = isinstance(command, ReviewAgain) and review and command.consult
            return CommentResult(review, "the mode is shadow: no command decides anything", consult)
        if isinstance(command, Misspelt):
            writer.answer(comment.id, answers.helped(command.why))
            return CommentResult(review=False, because=command.why)
        return self._carry_out(writer, comment, command, pull_request, permission)

    def _can_review(self, command: ReviewAgain) -> bool:
        return self._bot.consults or not command.consult

    def _carry_out(
        self,
        writer: PullRequestWriter,
        comment: Comment,
        command: Command,
        pull_request: PullRequest,
        permission: Permission,
    ) -> CommentResult:
        if isinstance(command, ReviewAgain) and self._can_review(command):
            return CommentResult(review=True, because=f"{comment.author} asks for a review", consult=command.consult)
        if isinstance(command, ReviewAgain):
            done = CommentResult(review=False, because=answers.refused(answers.NO_PROFILE))
        elif isinstance(command, Help):
            done = CommentResult(review=False, because=answers.helped())
        else:
            done = self._about_a_review(writer, comment, command, pull_request, permission)
        writer.answer(comment.id, done.because)
        return done

    def _about_a_review(
        self,
        writer: PullRequestWriter,
        comment: Comment,
        command: Explain | Dismiss | Override,
        seen: PullRequest,
        permission: Permission,
    ) -> CommentResult:
        state = writer.remembered()
        if state is None:
            why = "Nothing is remembered of a review of this pull request; it has to be reviewed first."
            return CommentResult(review=False, because=answers.refused(why))
        if isinstance(command, Explain):
            finding = _known(state, command.finding)
            text = answers.unknown(command.finding) if finding is None else answers.explained(finding)
            return CommentResult(review=False, because=text)
        rule = self._bot.rules.self_settle
        granted = may_settle(comment.author, permission, seen, writer.makers(seen), rule)
        if not granted.granted:
            return CommentResult(review=False, because=answers.refused(granted.because))
        if isinstance(command, Dismiss):
            return self._dismissed(writer, comment, command, seen)
        return CommentResult(review=False, because=self._overridden(writer, comment, command, seen, state))

    def _dismissed(
        self, writer: PullRequestWriter, comment: Comment, command: Dismiss, seen: PullRequest
    ) -> CommentResult:
        """Remember it, and say so only once it is read back: a review may be published at the same time."""

        def summary(body: str, state: State | None) -> str:
            if state is None or _known(state, command.finding) is None:
                return body
            return amended(body, with_dismissed(state, command.finding, by=comment.author, reason=command.reason))

        for _ in range(TRIES):
            writer.summary(summary)
            state = writer.remembered()
            finding = _known(state, command.finding)
            if finding is None or state is None:
                return CommentResult(review=False, because=answers.unknown(command.finding))
            if (finding.status, finding.by, finding.reason) == ("dismissed", comment.author, command.reason):
                writer.reseal()
                writer.resolve(about(writer.reviews.threads(), {finding.id}))
                return self._after_dismissal(writer, comment, command, seen, state)
        why = "A review was published at the same time, again and again: say it once more."
        return CommentResult(review=False, because=answers.refused(why))

    def _after_dismissal(
        self, writer: PullRequestWriter, comment: Comment, command: Dismiss, seen: PullRequest, state: State
    ) -> CommentResult:
        """The last dismissal of what blocks lets the head pass, or else begins the review that decides."""

        def result(follows: str, *, review: bool = False) -> CommentResult:
            text = answers.dismissed(command.finding, command.reason, follows)
            return CommentResult(review=review, because=text)

        left = still_blocking(state)
        if left:
            return result(answers.some_still_block(len(left)))
        check = check_dismissed_by(self._bot.rules, seen.number, comment.author, command.reason)
        passed = self._let_pass(writer, comment, command, (seen, state), check)
        if isinstance(passed, State):
            return result(answers.approved(passed))
        if state.head_sha == seen.head_sha and passed.may_begin:
            return result(answers.a_review_decides(passed.because), review=True)
        return result(answers.verdict_stays(passed.because))

    def _overridden(
        self, writer: PullRequestWriter, comment: Comment, command: Override, seen: PullRequest, state: State
    ) -> str:
        check = check_overridden_by(self._bot.rules, seen.number, comment.author, command.reason)
        passed = self._let_pass(writer, comment, command, (seen, state), check)
        if not isinstance(passed, State):
            return answers.refused(passed.because)
        writer.label(self._bot.rules.escalation_label, wanted=False, present=True)
        return answers.approved(passed)

    def _let_pass(
        self,
        writer: PullRequestWriter,
        comment: Comment,
        command: Override | Dismiss,
        reviewed: tuple[PullRequest, State],
        check: Check,
    ) -> State | _NotPassed:
        """Let the head pass, and only then say so: whatever ends this in between, nothing claims what is not so.

        ``reviewed`` is what stood there when the command came. All is asked again after each wait, and once more when
        the check passes: where the person's decision did not hold until then, the check is made to say that.
        """
        seen, _ = reviewed
        present: Present | None = None
        refused: str | None = None
        begun = False

        def check_now() -> Check | None:
            nonlocal present, refused, begun
            present = self._present(writer, *reviewed)
            refused = why_not_settled(command, present, self._bot.redactor)
            if refused is None:
                begun = True
                return check
            if not (begun and Conclusion.SUCCESS in present.conclusions):
                return None
            return check_waiting(self._bot.rules, seen.number, approval_fell(refused))

        stands = writer.checks.conclude(seen.head_sha, self._bot.rules.check_name, check_now)
        state = present.state if present is not None else None
        if refused is not None or state is None or present is None:
            running = present is None or None in present.conclusions or present.now.head_sha != seen.head_sha
            return _NotPassed(refused or "", may_begin=not running)
        if stands != check:
            return _NotPassed("A review of this head has begun meanwhile: wait for its result.", may_begin=False)
        now: dict[str, object] = {"approved_by": comment.author}
        if state.outcome is Outcome.STOPPED:
            now["base_ref"] = self._bot.redactor.redact(seen.base_ref)

        def summary(body: str, standing: State | None) -> str:
            same = standing is not None and standing.run_id == state.run_id
            return amended(body, standing.model_copy(update=now)) if standing is not None and same else body

        writer.summary(summary)
        writer.reseal()
        return state.model_copy(update={**now, "head_sha": seen.head_sha})

    def _present(self, writer: PullRequestWriter, seen: PullRequest, then: State) -> Present:
        """How things stand now. The check is read before the state: a review changes the state before its check."""
        head = seen.head_sha
        alone = writer.open_with(head) == (seen.number,)
        conclusions = writer.checks.conclusions(head, self._bot.rules.check_name)
        state = writer.remembered()
        return Present(seen, then.run_id, writer.pull_request(), state, conclusions, alone)


def _known(state: State | None, finding: str) -> KnownFinding | None:
    return next((each for each in state.findings if each.id == finding), None) if state is not None else None


@dataclass(frozen=True, slots=True)
class Begun:
    """The result of an event."""

    review: bool
    """``pull_request`` is to be reviewed now."""
    because: str
    pull_request: PullRequest | None = None
    asked: bool = False
    """A person asked for the review."""
    memory: str = ""
    """How far the review is to believe which state; empty for not at all."""
    settle_seconds: int = 0
    """How long the review waits for a newer push before it asks anybody."""
    most_usd: float | None = None
    """What the review may spend at most."""
    consult: bool = False
    """The review consults the advisor, because a person asked for that."""
    alert: str = ""
    """A sentence for the maintainers about the money of all reviews; empty for none."""


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
                return self._on_pull_request(event)
            case CommentEvent():
                return self._on_comment(event)
            case MergeGroupEvent():
                return self._on_merge_group(event)
            case _:
                assert_never(event)

    def _on_pull_request(self, event: PullRequestEvent) -> Begun:
        writer = PullRequestWriter(self._bot, event.number)
        if event.action == "labeled" and event.label != self._bot.rules.fork_label:
            return Begun(review=False, because=f"the label {event.label!r} asks for nothing")
        pull_request = writer.pull_request_at(event.head_sha)
        if event.head_sha != pull_request.head_sha:
            return Begun(review=False, because="the head has moved since: that push is an event of its own")
        if event.action != "labeled":
            # Looked at first: the check there says what was spent.
            superseding = bool(event.before) and writer.checks.in_progress_on(event.before, self._bot.rules.check_name)
            begun = self._decided(writer, pull_request, asked=False, action=event.action)
            seconds = SETTLE_SECONDS if superseding else 0
            return replace(begun, settle_seconds=seconds) if begun.review else begun
        if self._bot.forge.permission(event.sender).may_write:
            return self._decided(writer, pull_request, asked=True)
        writer.label(self._bot.rules.fork_label, wanted=False, present=True)  # the check stays: theirs is no word on it
        return Begun(review=False, because=f"{event.sender} may not write to the repository, so their label is none")

    def _on_comment(self, event: CommentEvent) -> Begun:
        if event.action != "created" or not event.on_pull_request:
            return Begun(review=False, because="only a new comment on a pull request is heard")
        reply = Conversation(self._bot).hear(event.number, Comment(event.comment_id, event.author, event.body))
        if not reply.review:
            return Begun(review=False, because=reply.because)
        writer = PullRequestWriter(self._bot, event.number)
        return replace(self._decided(writer, writer.pull_request(), asked=True), consult=reply.consult)

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
        """What the reviews of all pull requests have cost today, where the configuration bounds it."""
        rules, now = self._bot.rules, self._bot.clock.now()
        if not rules.counts_days or pull_request.state != "open":
            return SpentToday()
        work = self._bot.forge.recent_work(rules.check_name, changed_since(now))
        return spent_today(work, day_of(now), rules.is_ours)

    def _may_leave_out(self) -> bool:
        rules = self._bot.rules
        return bool(rules.skip_paths or rules.skip_bases or rules.skip_authors)

    def _left_out(self, pull_request: PullRequest) -> str | None:
        """Why the configuration leaves it unreviewed, in a few words; None if it does not."""
        rules, forge = self._bot.rules, self._bot.forge
        if pull_request.state != "open":
            return None
        by_base = left_out_by_base(pull_request.base_ref, rules)
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

        def check_now() -> Check | None:
            nonlocal passed
            check = self._left_out_now(writer, seen)
            if check is None:
                return check_in_progress(self._bot.rules, seen.number) if passed else None
            passed = passed or check.conclusion is Conclusion.SUCCESS
            return check

        stands = writer.checks.conclude(seen.head_sha, self._bot.rules.check_name, check_now)
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

    def _on_merge_group(self, event: MergeGroupEvent) -> Begun:
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
