"""What the events say of each surface, whatever the order in which its parts were worked on."""

from tests.unit.outcome.altered import reviewed

from review_advisor.policy.surfaces import Surface
from review_advisor.review.document import surface_records


def test_parts_stand_in_their_order_whichever_was_worked_on_first() -> None:
    document = reviewed("in three parts")
    events = sorted(document.events, key=lambda event: -getattr(event, "shard", 0))
    (surface,) = surface_records(document.policy, events)
    assert [part.shard for part in surface.parts] == [0, 1, 2]
    assert surface_records(document.policy, document.events)[0].parts == surface.parts


def test_a_surface_of_which_nothing_is_told_has_not_ended() -> None:
    (surface,) = surface_records(reviewed("approved").policy, ())
    assert (surface.surface, surface.outcome, surface.because) == (Surface.PR_REVIEW, None, ())
    assert (surface.plan, surface.skipped, surface.parts, surface.stored) == (None, (), (), ())
