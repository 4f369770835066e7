"""The promises about shadows: they are asked apart, within their own caps, and nobody acts on a word of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.review.document import outcome_document

SHADOW_CANARY = "SHADOWCANARY"
"""In every word that a seeded world gives to a judge in shadow."""


def a_call_of_the_review_is_no_shadows(reading: Reading) -> Iterator[str]:
    """The agents of a review are asked by the review alone, and those in shadow by the shadows of the configuration."""
    known = {each.rule.id for each in reading.review.shadows}
    yield from (f"{each.call.role} was asked in shadow" for each in reading.review.asked if each.call.shadow)
    asked = (each.call for each in reading.review.asked_in_shadow)
    yield from (
        f"{call.role} was asked for {call.shadow!r}, which is none" for call in asked if call.shadow not in known
    )


def no_word_of_a_shadow_is_heard(reading: Reading) -> Iterator[str]:
    """Nothing that is said in shadow stands in a prompt, in an artefact, in an event or in the outcome of a review."""
    review = reading.review
    for each in review.asked:
        if SHADOW_CANARY in each.call.prompt:
            yield f"{each.call.role} was shown what is said in shadow"
    yield from (f"{name} holds what is said in shadow" for name, text in review.files.items() if SHADOW_CANARY in text)
    if not any(each.asked_in_shadow for each in (*reading.earlier, review)):
        return  # nothing has been said in shadow so far
    if SHADOW_CANARY in repr(review.events) or SHADOW_CANARY in repr(review.because):
        yield "the review's own record holds what is said in shadow"


def a_shadow_stays_within_its_caps(reading: Reading) -> Iterator[str]:
    """No shadow is asked more often on a review than its cap of calls says, nor with more money than its own."""
    calls = Counter(each.call.shadow for each in reading.review.asked_in_shadow)
    for shadow in reading.review.shadows:
        if calls[shadow.rule.id] > shadow.rule.max_calls:
            yield f"{shadow.rule.id} was asked {calls[shadow.rule.id]} times, its cap is {shadow.rule.max_calls}"
    most = {each.rule.id: each.rule.max_usd for each in reading.review.shadows}
    for each in reading.review.asked_in_shadow:
        if each.call.max_usd > most.get(each.call.shadow, 0.0) + 1e-9:
            yield f"{each.call.shadow} may spend {each.call.max_usd} on one call, its cap is {most[each.call.shadow]}"


def an_outcome_is_what_its_own_events_say(reading: Reading) -> Iterator[str]:
    """With or without shadows, the outcome follows from the review's events, which were over before a shadow began."""
    document = reading.review.document
    if document is None or not reading.review.shadows:
        return
    alone = outcome_document(document.events)
    if (alone.outcome, alone.flags, alone.findings) != (document.outcome, document.flags, document.findings):
        yield f"the outcome is {document.outcome}, its events say {alone.outcome}"
    first = min((each.at for each in reading.review.asked_in_shadow), default=None)
    last = max((each.at for each in reading.review.asked), default=None)
    if first is not None and last is not None and first < last:
        yield "a shadow was asked before the review was over"
