"""Where in a review an event belongs."""

from datetime import UTC, datetime

from review_advisor.core.outcome.events import Step
from review_advisor.core.policy.surfaces import Surface

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def test_a_step_belongs_to_one_attempt_on_one_part_of_one_surface() -> None:
    assert Step(at=NOON, surface=Surface.PR_REVIEW).place == (Surface.PR_REVIEW, 0, 0)
    assert Step(at=NOON, surface=Surface.ADR_REVIEW, attempt=1, shard=2).place == (Surface.ADR_REVIEW, 1, 2)
