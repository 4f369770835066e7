"""Which reviews of one pull request begin under other rules, and what they post, as far as their events tell it.

What people did with the comments meanwhile is not in the events: each comment is taken to stand. Nor is who asked for a
review: where its own caps let no push begin it, a person did, and would again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from review_advisor.core.outcome.blocking import blocking_findings
from review_advisor.core.outcome.council_records import council_findings
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pull_request.beginning import used_up_of
from review_advisor.core.pull_request.memory import remembered, round_of
from review_advisor.core.pull_request.rounds import postings
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.state import State


def posted_anew(
    documents: Iterable[OutcomeDocument | None], rules: PublicationRules
) -> tuple[frozenset[str] | None, ...]:
    """The ids of the findings that each review gets a new comment for; None from the first unknown review on."""
    before: State | None = None
    said: set[str] = set()
    found: list[frozenset[str] | None] = []
    known = True
    for document in documents:
        known = known and document is not None
        if document is None or not known:
            found.append(None)
            continue
        narrowing = replace(rules.narrowing(round_of(before, document)), few=council_findings(document.events).few)
        decided = postings(document.findings, blocking_findings(document), said, narrowing)
        shown = document.outcome is not Outcome.STOPPED
        fresh = frozenset(each.finding.id for each in decided if each.allowed and shown)
        said |= fresh
        found.append(fresh)
        before = remembered(before, document, asked=False)
    return tuple(found)


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
