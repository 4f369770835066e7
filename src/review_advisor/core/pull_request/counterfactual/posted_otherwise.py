"""What the reviews of one pull request post on its diff, one after the other, as far as their events tell it.

What people did with the comments meanwhile is not in the events: each comment is taken to stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from review_advisor.core.outcome.blocking import blocking_findings
from review_advisor.core.outcome.council_records import council_findings
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
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
