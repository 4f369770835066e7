"""The memory in the summary of a pull request, as far as our checks and what people said there vouch for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from review_advisor.core.facts.pull_request import Makers, PullRequest
from review_advisor.core.pull_request.commands import Dismiss, Override, read_command
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.seals import (
    Dismissal,
    PeoplesWord,
    Vouched,
    believed,
    sealed_on,
    vouched_by_word,
)
from review_advisor.core.pull_request.settling import is_settled_by_dismissal, may_settle
from review_advisor.core.pull_request.standing import StandingComment
from review_advisor.core.pull_request.state import State, own_summaries, read_state
from review_advisor.ports.forge import Forge


def believed_memory(forge: Forge, rules: PublicationRules, number: int, word: str) -> State | None:
    """What a review is told of earlier ones, as far as ``begin``, by its ``word``, and people vouch for it.

    The job that reviews holds no key. None where there is no summary, or none that can be read, and in shadow mode.
    Raises ``ForgeError``.
    """
    if rules.is_shadow:
        return None
    comments = forge.comments(number)
    for summary in own_summaries(comments, rules.login)[:1]:
        state = read_state(summary, rules.login)
        if state is not None:
            return as_vouched(forge, rules, number, comments, state, found=vouched_by_word(word, summary.body))
    return None


def as_vouched(
    forge: Forge,
    rules: PublicationRules,
    number: int,
    comments: Iterable[StandingComment],
    state: State,
    *,
    found: Vouched,
) -> State:
    """The state, as far as it counts. People are asked unless ``found`` vouches for all. Raises ``ForgeError``."""
    is_asked = found != "signed"
    people = peoples_word(forge, rules, number, comments, state) if is_asked else PeoplesWord()
    return believed(state, found, people)


def peoples_word(
    forge: Forge, rules: PublicationRules, number: int, comments: Iterable[StandingComment], state: State
) -> PeoplesWord:
    """Who dismissed what the state calls dismissed, and who approved its head. Raises ``ForgeError``.

    A comment counts that nobody edited, by somebody who may write, by the forge's present word, and who is not the bot.
    The author's counts only where the configuration lets them settle their own work. Whoever made a commit is not
    looked for: a commit's names are its pusher's own word.
    """
    said = list(_said(comments, rules, state))
    if not said:
        return PeoplesWord()
    pull_request = forge.pull_request(number)
    logins = {each.author.casefold(): each.author for each, _ in said}
    people = {name for name, login in logins.items() if _may_settle(forge, rules, pull_request, login)}
    heard = [(each.author, command) for each, command in said if each.author.casefold() in people]
    return PeoplesWord(
        dismissed={
            command.finding: Dismissal(login, command.reason)
            for login, command in heard
            if isinstance(command, Dismiss)
        },
        approved=frozenset(
            login.casefold()
            for login, command in heard
            if isinstance(command, Override) or is_settled_by_dismissal(state)
        ),
    )


def _may_settle(forge: Forge, rules: PublicationRules, pull_request: PullRequest, login: str) -> bool:
    permission = forge.permission(login)
    return permission.may_write and may_settle(login, permission, pull_request, Makers(()), rules.self_settle).granted


def _said(
    comments: Iterable[StandingComment], rules: PublicationRules, state: State
) -> Iterator[tuple[StandingComment, Dismiss | Override]]:
    """The comments whose command is about what the state says; the oldest first."""
    dismissed = {each.id for each in state.findings if each.status == "dismissed"}
    if not dismissed and not state.approved_by:
        return  # a comment may be long, and there may be thousands
    for each in comments:
        if each.edited_by or rules.is_ours(each.author):
            continue
        command = read_command(each.body)
        if isinstance(command, Dismiss) and command.finding in dismissed:
            yield each, command
        if isinstance(command, Override) and command.sha == sealed_on(state) and state.approved_by:
            yield each, command
