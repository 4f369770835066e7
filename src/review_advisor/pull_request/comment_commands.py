"""Answering the commands that people give in comments on a pull request."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.forge_text import command_answers as answers
from review_advisor.core.forge_text.check import check_approved_by, check_waiting
from review_advisor.core.forge_text.summary import amended
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pull_request.base_branch import not_against
from review_advisor.core.pull_request.commands import (
    ApproveEscalation,
    Command,
    Dismiss,
    Explain,
    Help,
    Misspelt,
    ReviewAgain,
    leave,
    may_settle,
    read_command,
)
from review_advisor.core.pull_request.dismissals import with_dismissed
from review_advisor.core.pull_request.state import KnownFinding, State
from review_advisor.core.pull_request.threads import about
from review_advisor.core.pull_request.waiting import approval_fell
from review_advisor.core.pull_request.writes import Check, Conclusion
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.writer import PullRequestWriter

APPROVABLE: frozenset[str | None] = frozenset((Conclusion.ACTION_REQUIRED, Conclusion.SUCCESS))
"""What the check of an escalated head may conclude: the same command heard again finds it passed."""
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
    """What came of a comment. ``review``: a person asks for one; ``because`` says what was done, or why nothing."""

    review: bool
    because: str


@dataclass(frozen=True, slots=True)
class _Approvable:
    """Whether an escalation can be approved. ``state`` is the summary's; ``refused`` says why not, None if it can.

    ``passes``: the check of its head does, by whatever.
    """

    state: State | None
    refused: str | None
    passes: bool


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
        writer = self._bot.writer(number)
        pull_request = writer.pull_request()
        permission = self._bot.forge.permission(comment.author)
        asked = Help() if isinstance(command, Misspelt) else command
        granted = leave(asked, comment.author, permission, pull_request)
        if not granted.granted:
            if comment.author.casefold() == pull_request.author.casefold():
                writer.answer(comment.id, answers.refused(granted.because))
            return Heard(review=False, because=granted.because)
        if isinstance(command, Misspelt):
            writer.answer(comment.id, answers.helped(command.why))
            return Heard(review=False, because=command.why)
        return self._done(writer, comment, command, pull_request)

    def _done(self, writer: PullRequestWriter, comment: Comment, command: Command, pull_request: PullRequest) -> Heard:
        if isinstance(command, ReviewAgain):
            return Heard(review=True, because=f"{comment.author} asks for a review")
        if isinstance(command, Help):
            said = answers.helped()
        else:
            state = writer.remembered()
            if state is None:
                said = answers.refused(
                    "Nothing is remembered of a review of this pull request; it has to be reviewed first."
                )
            elif isinstance(command, Explain):
                finding = _known(state, command.finding)
                said = answers.unknown(command.finding) if finding is None else answers.explained(finding)
            else:
                said = self._settled(writer, comment, command, pull_request)
        writer.answer(comment.id, said)
        return Heard(review=False, because=said)

    def _settled(
        self, writer: PullRequestWriter, comment: Comment, command: Dismiss | ApproveEscalation, seen: PullRequest
    ) -> str:
        granted = may_settle(comment.author, seen, writer.makers(seen.head_sha))
        if not granted.granted:
            return answers.refused(granted.because)
        if isinstance(command, Dismiss):
            return self._dismissed(writer, comment, command)
        return self._approved(writer, comment, command, seen)

    def _dismissed(self, writer: PullRequestWriter, comment: Comment, command: Dismiss) -> str:
        """Remember it, and say so only once it is read back: a review may be published at the same time."""

        def words(body: str, state: State | None) -> str:
            if state is None or _known(state, command.finding) is None:
                return body
            return amended(body, with_dismissed(state, command.finding, by=comment.author, reason=command.reason))

        for _ in range(TRIES):
            writer.summary(words)
            finding = _known(writer.remembered(), command.finding)
            if finding is None:
                return answers.unknown(command.finding)
            if (finding.status, finding.by, finding.reason) == ("dismissed", comment.author, command.reason):
                writer.reseal()
                writer.resolve(about(writer.reviews.threads(), {finding.id}))
                return answers.dismissed(finding.id, command.reason)
        return answers.refused("A review was published at the same time, again and again: say it once more.")

    def _approved(
        self, writer: PullRequestWriter, comment: Comment, command: ApproveEscalation, seen: PullRequest
    ) -> str:
        """Let the head pass, and only then say so: whatever ends this in between, nothing claims what is not so.

        All of it is asked again after each wait, and once more when the check passes: where the approval did not hold
        until then, the check is made to say that.
        """
        told = (self._bot.rules, seen.number, comment.author, command.reason)
        approved = check_approved_by(*told, details_url=self._bot.details_url)
        asked, begun = _Approvable(None, None, passes=False), False

        def words_of_check() -> Check | None:
            nonlocal asked, begun
            asked = self._to_approve(writer, command, seen)
            if asked.refused is None:
                begun = True
                return approved
            if not (begun and asked.passes):
                return None
            return check_waiting(self._bot.rules, seen.number, approval_fell(asked.refused), self._bot.details_url)

        stands = writer.checks.conclude(seen.head_sha, self._bot.rules.check_name, words_of_check)
        state = asked.state
        if asked.refused is not None or state is None:
            return answers.refused(asked.refused or "")
        if stands != approved:
            return answers.refused("A review of this head has begun meanwhile: wait for what it says.")
        now = {"approved_by": comment.author}

        def words(body: str, standing: State | None) -> str:
            same = standing is not None and standing.run_id == state.run_id
            return amended(body, standing.model_copy(update=now)) if standing is not None and same else body

        writer.summary(words)
        writer.reseal()
        writer.label(self._bot.rules.escalation_label, wanted=False, present=True)
        return answers.approved(state.model_copy(update=now))

    def _to_approve(self, writer: PullRequestWriter, command: ApproveEscalation, seen: PullRequest) -> _Approvable:
        """Whether the head that was ``seen`` can be approved, all as it is now.

        ``seen`` is the pull request as it was when the command was heard. The check is read before the state: a review
        that ended in between has changed the state before its check.
        """
        head = seen.head_sha
        alone = writer.open_with(head) == (seen.number,)
        conclusions = writer.checks.conclusions(head, self._bot.rules.check_name)
        state = writer.remembered()
        reviewed = (state.outcome, state.head_sha) if state is not None else None
        now = writer.pull_request()
        another = not_against(state, now.base_ref, self._bot.redactor)
        reasons = (
            (head != command.sha, f"The head is {head}, not {command.sha}: look at it again."),
            (now.head_sha != head, "The head has moved meanwhile: look at it again."),
            (now.base_ref != seen.base_ref, "The base branch has changed meanwhile: look at it again."),
            (not alone, "Another open pull request has the same head, and a check belongs to a commit."),
            (None in conclusions, "A review of this head is under way: wait for what it says."),
            (another is not None, another),
            (reviewed != (Outcome.ESCALATED, head), "Only the escalated review of the present head can be approved."),
            (not conclusions <= APPROVABLE, "The check of this head does not ask for a person's decision."),
        )
        refused = next((why for holds, why in reasons if holds), None)
        return _Approvable(state, refused, Conclusion.SUCCESS in conclusions)


def _known(state: State | None, finding: str) -> KnownFinding | None:
    return next((each for each in state.findings if each.id == finding), None) if state is not None else None
