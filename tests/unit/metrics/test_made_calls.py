"""Which beginning, which consults and which answer belong to a call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from review_advisor.agents.answers import ReviewPlan
from review_advisor.ledger.telemetry import made_calls
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded, CallStarted, Ended, Planned


def at(second: int) -> datetime:
    return datetime(2026, 1, 5, 9, tzinfo=UTC) + timedelta(seconds=second)


def began(second: int, number: int) -> CallStarted:
    return CallStarted(
        at=at(second),
        surface=Surface.PR_REVIEW,
        number=number,
        role=Role.EXECUTOR,
        advisor="executor",
        requested_model="m",
    )


def ended(second: int, number: int, role: Role = Role.EXECUTOR, *, end: Ended = "answered") -> CallEnded:
    return CallEnded(
        at=at(second),
        surface=Surface.PR_REVIEW,
        number=number,
        role=role,
        advisor=role.advisor,
        ended=end,
        requested_model="m",
    )


def test_calls_that_are_under_way_together_each_have_their_own_beginning() -> None:
    starts = [began(number, number) for number in range(1, 7)]
    ends = [ended(9, number) for number in range(6, 0, -1)]
    assert [call.began for call in made_calls([*starts, *ends])] == [at(6), at(5), at(4), at(3), at(2), at(1)]


def test_a_call_without_a_recorded_beginning_began_at_its_end() -> None:
    assert [call.began for call in made_calls([began(0, 1), ended(1, 1), ended(4, 2)])] == [at(0), at(4)]


def test_a_call_that_was_refused_was_not_made() -> None:
    assert made_calls([ended(1, 1, end="refused")]) == []


def test_an_answer_belongs_to_the_call_that_it_names() -> None:
    plan = ReviewPlan(risk_summary="a risk")
    planned = Planned(at=at(3), surface=Surface.PR_REVIEW, number=2, plan=plan)
    calls = made_calls([ended(1, 1), ended(1, 2, Role.PRE_FLIGHT), ended(2, 3, Role.PRE_FLIGHT), planned])
    assert [call.answer for call in calls] == ["", plan.model_dump_json(), ""]
    assert made_calls([planned]) == []
