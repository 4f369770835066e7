"""What people said on a pull request in their own comments, as far as it may settle anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from review_advisor.core.pull_request.commands import ApproveEscalation, Dismiss, read_command
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.seals import Dismissal, PeoplesWord
from review_advisor.core.pull_request.standing import StandingComment
from review_advisor.core.pull_request.state import State
from review_advisor.ports.forge import Forge


def peoples_word(
    forge: Forge, rules: PublicationRules, number: int, comments: Iterable[StandingComment], state: State
) -> PeoplesWord:
    """Who dismissed what the state calls dismissed, and who approved its head. Raises ``ForgeError``.

    A comment counts that nobody edited, by somebody who may write, by the forge's present word, and who is neither the
    bot nor the author. Whoever made the head commit is not looked for: a commit's names are its pusher's own word.
    """
    said = list(_said(comments, rules, state))
    if not said:
        return PeoplesWord()
    author = forge.pull_request(number).author.casefold()
    logins = {each.author.casefold(): each.author for each, _ in said if each.author.casefold() != author}
    people = {name for name, login in logins.items() if forge.permission(login).may_write}
    heard = [(each.author, command) for each, command in said if each.author.casefold() in people]
    return PeoplesWord(
        dismissed={
            command.finding: Dismissal(login, command.reason)
            for login, command in heard
            if isinstance(command, Dismiss)
        },
        approved=frozenset(login.casefold() for login, command in heard if isinstance(command, ApproveEscalation)),
    )


def _said(
    comments: Iterable[StandingComment], rules: PublicationRules, state: State
) -> Iterator[tuple[StandingComment, Dismiss | ApproveEscalation]]:
    """The comments whose command is about what the state says; the oldest first."""
    dismissed = {each.id for each in state.findings if each.status == "dismissed"}
    for each in comments:
        if each.edited_by or rules.is_ours(each.author):
            continue
        command = read_command(each.body)
        if isinstance(command, Dismiss) and command.finding in dismissed:
            yield each, command
        if isinstance(command, ApproveEscalation) and command.sha == state.head_sha and state.approved_by:
            yield each, command
