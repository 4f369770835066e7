"""Answering the commands that people give in comments on a pull request."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.facts.pull_request import Permission, PullRequest
from review_advisor.core.forge_text import command_answers as answers
from review_advisor.core.forge_text.check import check_dismissed_by, check_overridden_by, check_waiting
from review_advisor.core.forge_text.summary import amended
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pull_request.commands import (
    Command,
    Dismiss,
    Explain,
    Help,
    Misspelt,
    Override,
    ReviewAgain,
    leave,
    read_command,
)
from review_advisor.core.pull_request.settling import Present, may_settle, still_blocking, why_not_settled
from review_advisor.core.pull_request.state import KnownFinding, State, with_dismissed
from review_advisor.core.pull_request.threads import about
from review_advisor.core.pull_request.waiting import approval_fell
from review_advisor.core.pull_request.writes import Check, Conclusion
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.writer import PullRequestWriter

TRIES = 3
"""So often a dismissal is written, if each time a review that is published meanwhile takes its place."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as it was created; an edit is none. ``author`` is its account."""

    id: int
    author: str
    body: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a comment. ``review``: a person asks for one; ``because`` says what was done, or why nothing.

    ``consult``: they ask that it consults the advisor.
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

    def hear(self, number: int, comment: Comment) -> Heard:
        """Do what the comment says, if it is a command and its author may give it. Raises ``ForgeError``.

        Whoever may not is told so only if the pull request is theirs: strangers cannot make the bot talk.
        """
        if self._bot.rules.is_ours(comment.author):
            return Heard(review=False, because="it is the bot's own comment")
        command = read_command(comment.body)
        if command is None:
            return Heard(review=False, because="it holds no command")
        writer = PullRequestWriter(self._bot, number)
        pull_request = writer.pull_request()
        permission = self._bot.forge.permission(comment.author)
        asked = Help() if isinstance(command, Misspelt) else command
        granted = leave(asked, comment.author, permission, pull_request)
        if not granted.granted:
            if comment.author.casefold() == pull_request.author.casefold():
                writer.answer(comment.id, answers.refused(granted.because))
            return Heard(review=False, because=granted.because)
        writer.seen(comment.id)
        if self._bot.rules.is_shadow:
            review = isinstance(command, ReviewAgain) and self._can_review(command)
            why_none = answers.NO_PROFILE if isinstance(command, ReviewAgain) and not review else ""
            writer.answer(comment.id, answers.in_shadow(self._bot.rules.check_name, review=review, why_none=why_none))
            consult = isinstance(command, ReviewAgain) and review and command.consult
            return Heard(review, "the mode is shadow: no command decides anything", consult)
        if isinstance(command, Misspelt):
            writer.answer(comment.id, answers.helped(command.why))
            return Heard(review=False, because=command.why)
        return self._done(writer, comment, command, pull_request, permission)

    def _can_review(self, command: ReviewAgain) -> bool:
        return self._bot.consults or not command.consult

    def _done(
        self,
        writer: PullRequestWriter,
        comment: Comment,
        command: Command,
        pull_request: PullRequest,
        permission: Permission,
    ) -> Heard:
        if isinstance(command, ReviewAgain) and self._can_review(command):
            return Heard(review=True, because=f"{comment.author} asks for a review", consult=command.consult)
        if isinstance(command, ReviewAgain):
            done = Heard(review=False, because=answers.refused(answers.NO_PROFILE))
        elif isinstance(command, Help):
            done = Heard(review=False, because=answers.helped())
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
    ) -> Heard:
        state = writer.remembered()
        if state is None:
            why = "Nothing is remembered of a review of this pull request; it has to be reviewed first."
            return Heard(review=False, because=answers.refused(why))
        if isinstance(command, Explain):
            finding = _known(state, command.finding)
            said = answers.unknown(command.finding) if finding is None else answers.explained(finding)
            return Heard(review=False, because=said)
        rule = self._bot.rules.self_settle
        granted = may_settle(comment.author, permission, seen, writer.makers(seen), rule)
        if not granted.granted:
            return Heard(review=False, because=answers.refused(granted.because))
        if isinstance(command, Dismiss):
            return self._dismissed(writer, comment, command, seen)
        return Heard(review=False, because=self._overridden(writer, comment, command, seen, state))

    def _dismissed(self, writer: PullRequestWriter, comment: Comment, command: Dismiss, seen: PullRequest) -> Heard:
        """Remember it, and say so only once it is read back: a review may be published at the same time."""

        def words(body: str, state: State | None) -> str:
            if state is None or _known(state, command.finding) is None:
                return body
            return amended(body, with_dismissed(state, command.finding, by=comment.author, reason=command.reason))

        for _ in range(TRIES):
            writer.summary(words)
            state = writer.remembered()
            finding = _known(state, command.finding)
            if finding is None or state is None:
                return Heard(review=False, because=answers.unknown(command.finding))
            if (finding.status, finding.by, finding.reason) == ("dismissed", comment.author, command.reason):
                writer.reseal()
                writer.resolve(about(writer.reviews.threads(), {finding.id}))
                return self._after_dismissal(writer, comment, command, seen, state)
        why = "A review was published at the same time, again and again: say it once more."
        return Heard(review=False, because=answers.refused(why))

    def _after_dismissal(
        self, writer: PullRequestWriter, comment: Comment, command: Dismiss, seen: PullRequest, state: State
    ) -> Heard:
        """The last dismissal of what blocks lets the head pass, or else begins the review that decides."""

        def told(follows: str, *, review: bool = False) -> Heard:
            said = answers.dismissed(command.finding, command.reason, follows)
            return Heard(review=review, because=said)

        left = still_blocking(state)
        if left:
            return told(answers.some_still_block(len(left)))
        check = check_dismissed_by(self._bot.rules, seen.number, comment.author, command.reason)
        passed = self._let_pass(writer, comment, command, (seen, state), check)
        if isinstance(passed, State):
            return told(answers.approved(passed))
        if state.head_sha == seen.head_sha and passed.may_begin:
            return told(answers.a_review_decides(passed.because), review=True)
        return told(answers.verdict_stays(passed.because))

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
        heard: tuple[PullRequest, State],
        check: Check,
    ) -> State | _NotPassed:
        """Let the head pass, and only then say so: whatever ends this in between, nothing claims what is not so.

        ``heard`` is what stood there when the command came. All is asked again after each wait, and once more when the
        check passes: where the person's decision did not hold until then, the check is made to say that.
        """
        seen, _ = heard
        present: Present | None = None
        refused: str | None = None
        begun = False

        def words_of_check() -> Check | None:
            nonlocal present, refused, begun
            present = self._present(writer, *heard)
            refused = why_not_settled(command, present, self._bot.redactor)
            if refused is None:
                begun = True
                return check
            if not (begun and Conclusion.SUCCESS in present.conclusions):
                return None
            return check_waiting(self._bot.rules, seen.number, approval_fell(refused))

        stands = writer.checks.conclude(seen.head_sha, self._bot.rules.check_name, words_of_check)
        state = present.state if present is not None else None
        if refused is not None or state is None or present is None:
            running = present is None or None in present.conclusions or present.now.head_sha != seen.head_sha
            return _NotPassed(refused or "", may_begin=not running)
        if stands != check:
            return _NotPassed("A review of this head has begun meanwhile: wait for its result.", may_begin=False)
        now: dict[str, object] = {"approved_by": comment.author}
        if state.outcome is Outcome.STOPPED:
            now["base_ref"] = self._bot.redactor.redact(seen.base_ref)

        def words(body: str, standing: State | None) -> str:
            same = standing is not None and standing.run_id == state.run_id
            return amended(body, standing.model_copy(update=now)) if standing is not None and same else body

        writer.summary(words)
        writer.reseal()
        return state.model_copy(update={**now, "head_sha": seen.head_sha})

    def _present(self, writer: PullRequestWriter, seen: PullRequest, heard: State) -> Present:
        """How things stand now. The check is read before the state: a review changes the state before its check."""
        head = seen.head_sha
        alone = writer.open_with(head) == (seen.number,)
        conclusions = writer.checks.conclusions(head, self._bot.rules.check_name)
        state = writer.remembered()
        return Present(seen, heard.run_id, writer.pull_request(), state, conclusions, alone)


def _known(state: State | None, finding: str) -> KnownFinding | None:
    return next((each for each in state.findings if each.id == finding), None) if state is not None else None
