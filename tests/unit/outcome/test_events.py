"""Where in a review an event belongs."""

from datetime import UTC, datetime

from tests.unit.outcome.altered import reviewed

from review_advisor.policy.surfaces import Surface
from review_advisor.review.document import outcome_document
from review_advisor.review.events import Event, PartEnded, Step

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def test_a_step_belongs_to_one_attempt_on_one_part_of_one_surface() -> None:
    assert Step(at=NOON, surface=Surface.PR_REVIEW).place == (Surface.PR_REVIEW, 0, 0)
    assert Step(at=NOON, surface=Surface.ADR_REVIEW, attempt=1, shard=2).place == (Surface.ADR_REVIEW, 1, 2)


def plain(event: Event) -> Event:
    """The end of a part of which nothing special is said; any other event as it is."""
    if not isinstance(event, PartEnded):
        return event
    return PartEnded(
        at=event.at,
        surface=event.surface,
        attempt=event.attempt,
        shard=event.shard,
        outcome=event.outcome,
        because=event.because,
    )


def test_a_part_of_which_nothing_special_is_said_was_read_and_judged_once() -> None:
    document = reviewed("approved")
    again = outcome_document([plain(event) for event in document.events])
    assert again == document
    assert [file.read for file in again.coverage] == ["read"]
    assert (again.flags.degraded, again.flags.recovered) == (False, False)
