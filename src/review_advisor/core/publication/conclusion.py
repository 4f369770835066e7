"""What a check run concludes from a review (the table of DESIGN section 7), and its title."""

from __future__ import annotations

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.terminal import headline
from review_advisor.core.publication.markdown import plain_line
from review_advisor.core.publication.writes import Conclusion

MOST_TITLE = 255

SUPERSEDED = Conclusion.CANCELLED
"""The head moved while the review ran: it says nothing about what is there now."""
DID_NOT_RUN = Conclusion.FAILURE
"""There is no outcome at all."""

_CONCLUSIONS = {
    Outcome.APPROVED: Conclusion.SUCCESS,
    Outcome.CHANGES_REQUESTED: Conclusion.FAILURE,
    Outcome.ESCALATED: Conclusion.ACTION_REQUIRED,
    Outcome.STOPPED: Conclusion.FAILURE,
}


def conclusion_of(document: OutcomeDocument) -> Conclusion:
    """The conclusion. An approval whose exit code calls a human (``fail_on``) is none here either."""
    if document.outcome is Outcome.APPROVED and document.exit_code:
        return Conclusion.ACTION_REQUIRED
    return _CONCLUSIONS[document.outcome]


def title_of(document: OutcomeDocument) -> str:
    """The verdict in one line of plain text, with everything that must not be overlooked."""
    return plain_line(headline(document).capitalize(), MOST_TITLE)
