"""The promises about what a review is called: its check's conclusion, title and sign, and its flags."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.github.sections import conclusion_of, heading_of
from review_advisor.mockworld.promises.on_verdicts import has_veto
from review_advisor.mockworld.promises.played_review import PartKey, Reading, answer_of
from review_advisor.mockworld.stage import PlayedReview
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import PartEnded

CONCLUSIONS = {
    "nothing_to_review": "success",
    "approved": "success",
    "changes_requested": "failure",
    "escalated": "action_required",
    "stopped": "failure",
}
VERDICTS = {
    "nothing_to_review": "Nothing to review",
    "approved": "Approved",
    "changes_requested": "Changes requested",
    "escalated": "A person has to decide",
    "stopped": "The review did not run to its end",
}
DID_NOT_RUN = "The review did not run"
GREEN = "\u2705"


def title_due(review: PlayedReview) -> str:
    """How the title of the review's check must begin."""
    return VERDICTS.get(review.ended, DID_NOT_RUN)


def a_check_concludes_as_its_review_did(reading: Reading) -> Iterator[str]:
    """Success is an approval whose exit code is 0, and the title begins with the verdict or says: nothing to review."""
    document = reading.review.document
    if document is None:
        return
    ended = reading.review.ended
    wanted = "action_required" if ended == "approved" and reading.review.exit_code else CONCLUSIONS[ended]
    if conclusion_of(document) != wanted:
        yield f"{ended} with exit code {reading.review.exit_code} concludes as {conclusion_of(document)}"
    if not reading.title.startswith(title_due(reading.review)):
        yield f"{ended}, and the check's title is {reading.title!r}"


def what_was_not_verified_is_seen_on_the_check(reading: Reading) -> Iterator[str]:
    """What is degraded, or was reviewed with an advisor switched off, says so in the title and has no green sign."""
    document = reading.review.document
    if document is None:
        return
    off = bool(document.flags.advisor_disabled and reading.review.change.files)
    if not off and not document.flags.degraded:
        return
    title = reading.title.lower()
    if off and "advisor switched off" not in title:
        yield f"{', '.join(document.flags.advisor_disabled)} is off, and the title is {title!r}"
    if document.flags.degraded and "degraded" not in title:
        yield f"degraded, and the title is {title!r}"
    if heading_of(document).startswith(GREEN):
        yield f"{reading.review.ended}, degraded: {document.flags.degraded}, switched off: {off}, and the sign is green"


def recovered_is_an_approval_that_answered_a_veto(reading: Reading) -> Iterator[str]:
    """A part recovered if and only if its approval, or its repair, was vetoed before and is confirmed now."""
    document = reading.review.document
    ended = list(reading.events(PartEnded))
    for event in ended:
        key = (event.surface, event.shard)
        said = _judged(reading, key)
        answered = "VETO" in said[:-1] and reading.judgements.get(key) == "APPROVE"
        if event.recovered != ((event.outcome == "approved" or event.repaired) and answered):
            yield f"{event.surface}, part {event.shard + 1}, ended as {event.outcome} after {said}: {event.recovered=}"
    if document is not None and document.flags.recovered != any(event.recovered for event in ended):
        yield f"the review's flag is {document.flags.recovered=}"


def exhausted_is_a_veto_that_outlasted_the_retries(reading: Reading) -> Iterator[str]:
    """A part is called exhausted only where a veto was handed back, or could be, and went to a human in the end."""
    document = reading.review.document
    ended = list(reading.events(PartEnded))
    for event in ended:
        said = _judged(reading, (event.surface, event.shard))
        vetoed = event.outcome == "escalated" and said[-1:] == ["VETO"] and has_veto(reading, event.surface)
        if event.exhausted and not vetoed:
            yield f"{event.surface}, part {event.shard + 1}, is exhausted: {event.outcome} after {said}"
    if document is not None and document.flags.exhausted != any(event.exhausted for event in ended):
        yield f"the review's flag is {document.flags.exhausted=}"


def _judged(reading: Reading, key: PartKey) -> list[str]:
    """What post-verify said of a part, in order."""
    asked = reading.parts.get(key, ())
    return [str(said["verdict"]) for each in asked if each.call.role is Role.POST_VERIFY and (said := answer_of(each))]
