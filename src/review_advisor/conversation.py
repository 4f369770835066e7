"""Answering the commands that people give in comments on a pull request."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.publication import answers
from review_advisor.core.publication.check import check_approved_by
from review_advisor.core.publication.commands import (
    ApproveEscalation,
    Command,
    Dismiss,
    Explain,
    Help,
    Misspelt,
    ReviewAgain,
    leave,
    read_command,
)
from review_advisor.core.publication.rules import PublicationRules
from review_advisor.core.publication.state import KnownFinding, State, amended, read_state
from review_advisor.ports import Clock, Forge
from review_advisor.scribe import Scribe


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


class Conversation:
    """Answers one comment at a time; hearing the same one twice answers once."""

    def __init__(self, forge: Forge, clock: Clock, rules: PublicationRules, details_url: str | None = None) -> None:
        self._forge = forge
        self._clock = clock
        self._rules = rules
        self._details_url = details_url

    def hear(self, number: int, comment: Comment) -> Heard:
        """Do what the comment says, if it is a command and its author may give it. Raises ``ForgeError``.

        Whoever may not is told so only if the pull request is theirs: strangers cannot make the bot talk.
        """
        if comment.author.casefold() == self._rules.login.casefold():
            return Heard(review=False, because="it is the bot's own comment")
        command = read_command(comment.body)
        if command is None:
            return Heard(review=False, because="it holds no command")
        scribe = Scribe(self._forge, self._clock, self._rules, number)
        pull_request = scribe.pull_request()
        permission = self._forge.permission(comment.author)
        asked = Help() if isinstance(command, Misspelt) else command
        granted = leave(asked, comment.author, permission, pull_request)
        if not granted.granted:
            if comment.author.casefold() == pull_request.author.casefold():
                scribe.answer(comment.id, answers.refused(granted.because))
            return Heard(review=False, because=granted.because)
        if isinstance(command, Misspelt):
            scribe.answer(comment.id, answers.helped(command.why))
            return Heard(review=False, because=command.why)
        return self._done(scribe, comment, command)

    def _done(self, scribe: Scribe, comment: Comment, command: Command) -> Heard:
        if isinstance(command, ReviewAgain):
            return Heard(review=True, because=f"{comment.author} asks for a review")
        if isinstance(command, Help):
            said = answers.helped()
        else:
            summaries = scribe.summaries()
            state = read_state(summaries[0], self._rules.login) if summaries else None
            if state is None:
                said = answers.refused(
                    "Nothing is remembered of a review of this pull request; it has to be reviewed first."
                )
            elif isinstance(command, ApproveEscalation):
                said = self._approved(scribe, comment, command, state, summaries[0].body)
            else:
                said = self._about(scribe, comment, command, state, summaries[0].body)
        scribe.answer(comment.id, said)
        return Heard(review=False, because=said)

    def _about(self, scribe: Scribe, comment: Comment, command: Dismiss | Explain, state: State, body: str) -> str:
        finding = next((each for each in state.findings if each.id == command.finding), None)
        if finding is None:
            return answers.unknown(command.finding)
        if isinstance(command, Explain):
            return answers.explained(finding)
        settled = finding.model_copy(update={"status": "dismissed", "reason": command.reason, "by": comment.author})
        now = state.model_copy(update={"findings": _with(state.findings, settled)})
        said = answers.dismissed(settled)
        scribe.summary(amended(body, now, said))
        scribe.resolve([settled.id])
        return said

    def _approved(self, scribe: Scribe, comment: Comment, command: ApproveEscalation, state: State, body: str) -> str:
        pull_request = scribe.pull_request()
        head = pull_request.head_sha
        if not head.startswith(command.sha):
            return answers.refused(f"The head is {head}, not {command.sha}: look at it again.")
        if (state.outcome, state.head_sha) != (Outcome.ESCALATED, head):
            return answers.refused("Only the escalated review of the present head can be approved.")
        if scribe.open_with(head) != (pull_request.number,):
            return answers.refused("Another open pull request has the same head, and a check belongs to a commit.")
        now = state.model_copy(update={"approved_by": comment.author})
        said = answers.approved(now)
        scribe.summary(amended(body, now, said))
        scribe.label(self._rules.escalation_label, wanted=False, present=True)
        about = (self._rules, pull_request.number, comment.author, command.reason)
        check = check_approved_by(*about, details_url=self._details_url)
        if scribe.pull_request().head_sha != head:
            return answers.refused("The head has moved meanwhile: look at it again.")
        scribe.check(head, check)
        return said


def _with(findings: tuple[KnownFinding, ...], changed: KnownFinding) -> tuple[KnownFinding, ...]:
    return tuple(changed if each.id == changed.id else each for each in findings)
