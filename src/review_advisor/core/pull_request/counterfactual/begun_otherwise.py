"""Which reviews of one pull request pushes would have begun under other caps of its rounds and its money.

Events do not say who asked for a review. Where its own caps let no push begin it, a person did, and would again.
"""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.pull_request.beginning import used_up_of
from review_advisor.core.pull_request.memory import remembered
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.state import State


def begun_otherwise(
    reviews: Sequence[tuple[OutcomeDocument, OutcomeDocument | None]], was: PublicationRules, now: PublicationRules
) -> tuple[bool | None, ...]:
    """Whether each review would have begun; None once that hangs on one whose result nobody knows.

    Each is told as it was recorded and as it would have been, in their order.
    """
    before: State | None = None
    after: State | None = None
    known = True
    begun: list[bool | None] = []
    for recorded, otherwise in reviews:
        asked = _used_up(before, was)
        begins = asked or not _used_up(after, now)
        begun.append(begins if known or asked else None)
        before = remembered(before, recorded, asked=asked)
        if otherwise is not None:
            after = remembered(after, otherwise, asked=asked)
        known = known and (otherwise is not None or not begins)
    return tuple(begun)


def _used_up(state: State | None, rules: PublicationRules) -> bool:
    return state is not None and used_up_of(state.rounds, state.spent_usd, rules) is not None
