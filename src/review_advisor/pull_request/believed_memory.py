"""What a review is told of the pull request's earlier reviews: the state in the summary, as far as it is believed."""

from __future__ import annotations

from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.seals import PeoplesWord, believed, needs_people, vouched_by_word
from review_advisor.core.pull_request.state import State, own_summaries, read_state
from review_advisor.ports.forge import Forge
from review_advisor.pull_request.peoples_word import peoples_word


def believed_memory(forge: Forge, rules: PublicationRules, number: int, word: str) -> State | None:
    """The state, as far as ``begin`` (by its ``word``) and people vouch for it: the job that reviews holds no key.

    None where there is no summary, or none that can be read, and in shadow mode. Raises ``ForgeError``.
    """
    if rules.is_shadow:
        return None
    comments = forge.comments(number)
    for summary in own_summaries(comments, rules.login)[:1]:
        state = read_state(summary, rules.login)
        if state is not None:
            found = vouched_by_word(word, summary.body)
            needed = needs_people(state, found)
            people = peoples_word(forge, rules, number, comments, state) if needed else PeoplesWord()
            return believed(state, found, people)
    return None
