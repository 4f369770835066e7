"""What a check run concludes from a review (the table of DESIGN section 7), and the verdict in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from review_advisor.core.answers.answers import SEVERITIES, Severity
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pull_request.writes import Conclusion
from review_advisor.core.report.report_text import (
    HEADLINES,
    PASSED_STATIC_CHECKS,
    headline,
    unread_words,
    unverified_words,
    verdict_words,
)
from review_advisor.core.safety.markdown import phrase, plain_line

MOST_TITLE = 255

SUPERSEDED = Conclusion.CANCELLED
"""The head moved while the review ran: it says nothing about what is there now."""
DID_NOT_RUN = Conclusion.FAILURE
"""There is no outcome at all."""
PASSED_SIGN = "\u2705"
NOT_RUN_SIGN = "\u26d4"
_EMPTY_SIGN = "\u26aa"

_CONCLUSIONS = {
    Outcome.NOTHING_TO_REVIEW: Conclusion.SUCCESS,
    Outcome.APPROVED: Conclusion.SUCCESS,
    Outcome.CHANGES_REQUESTED: Conclusion.FAILURE,
    Outcome.ESCALATED: Conclusion.ACTION_REQUIRED,
    Outcome.STOPPED: Conclusion.FAILURE,
}
_VERDICTS = {
    HEADLINES[Outcome.NOTHING_TO_REVIEW]: "Nothing to review: the change is empty",
    HEADLINES[Outcome.APPROVED]: "Approved",
    HEADLINES[Outcome.CHANGES_REQUESTED]: "Changes requested",
    HEADLINES[Outcome.ESCALATED]: "A person has to decide",
    HEADLINES[Outcome.STOPPED]: "The review did not run to its end",
    PASSED_STATIC_CHECKS: "No objection",
}
"""From the verdict as a terminal shows it."""
_SIGNS = {
    Conclusion.SUCCESS: PASSED_SIGN,
    Conclusion.FAILURE: "\u274c",
    Conclusion.ACTION_REQUIRED: "\u270b",
}
_SWITCHED_OFF = re.compile(r"(advisor switched off): [^;)]*")
"""Which roles those are, ``stake`` says."""
_UNVERIFIED_SIGN = "\U0001f7e1"


def conclusion_of(document: OutcomeDocument) -> Conclusion:
    """The conclusion. An approval whose exit code calls a human (``fail_on``) is none here either."""
    if document.outcome is Outcome.APPROVED and document.exit_code:
        return Conclusion.ACTION_REQUIRED
    return _CONCLUSIONS[document.outcome]


def title_of(document: OutcomeDocument, found: Iterable[Severity] | None = None) -> str:
    """The verdict in one line of plain text: how much was found, and everything that must not be overlooked.

    ``found`` are the findings that count; without it those of this review.
    """
    counts = Counter(each.severity for each in document.findings) if found is None else Counter(found)
    told = ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity])
    verdict = _VERDICTS[verdict_words(document)]
    if told and document.outcome is Outcome.APPROVED:
        verdict += f", with findings: {told}"
    elif told and document.outcome is Outcome.CHANGES_REQUESTED:
        verdict += f": {told}"
    notes = headline(document).removeprefix(verdict_words(document)).lower()
    for names in (unread_words(document), unverified_words(document)):
        notes = notes.replace(names.lower(), names)
    return plain_line(verdict + _SWITCHED_OFF.sub(r"\1", notes), MOST_TITLE)


def heading_of(document: OutcomeDocument, found: Iterable[Severity] | None = None) -> str:
    """The same as safe Markdown, behind a sign that is seen before it is read."""
    sign = _SIGNS[conclusion_of(document)]
    if document.outcome is Outcome.STOPPED:
        sign = NOT_RUN_SIGN
    elif document.outcome is Outcome.NOTHING_TO_REVIEW:
        sign = _EMPTY_SIGN
    elif sign == PASSED_SIGN and (document.flags.degraded or document.flags.advisor_disabled):
        sign = _UNVERIFIED_SIGN
    return f"{sign} {phrase(title_of(document, found))}"
