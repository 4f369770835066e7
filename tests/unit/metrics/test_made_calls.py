"""Which beginning, which consults and which answer belong to a call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from review_advisor.agents.answers import Consult, ReviewPlan
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.ledger.telemetry import made_calls
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded, CallStarted, Consulted, Planned


def at(second: int) -> datetime:
    return datetime(2026, 1, 5, 9, tzinfo=UTC) + timedelta(seconds=second)


def began(second: int, **more: Any) -> CallStarted:
    place = {"surface": Surface.PR_REVIEW, "role": Role.EXECUTOR, **more}
    return CallStarted(at=at(second), requested_model="m", **place)


def ended(second: int, **more: Any) -> CallEnded:
    place = {"surface": Surface.PR_REVIEW, "role": Role.EXECUTOR, "ended": "answered", **more}
    return CallEnded(at=at(second), requested_model="m", **place)


def consulted(shard: int, question: str) -> Consulted:
    note = ConsultNote(Consult(question=question), "failed")
    return Consulted(at=at(9), surface=Surface.PR_REVIEW, shard=shard, note=note)


def test_calls_that_are_under_way_together_each_have_their_own_beginning() -> None:
    apart: list[dict[str, Any]] = [
        {},
        {"shard": 1},
        {"attempt": 1},
        {"blind": True},
        {"role": Role.POST_VERIFY},
        {"surface": Surface.ADR_REVIEW},
    ]
    starts = [began(second, **place) for second, place in enumerate(apart)]
    ends = [ended(9, **place) for place in reversed(apart)]
    assert [call.began for call in made_calls([*starts, *ends])] == [at(5), at(4), at(3), at(2), at(1), at(0)]


def test_a_question_that_is_asked_again_began_again() -> None:
    calls = made_calls([began(0), ended(1), began(2), ended(3), ended(4)])
    assert [call.began for call in calls] == [at(0), at(2), at(4)], "without a recorded beginning: at its end"


def test_a_call_that_was_refused_was_not_made() -> None:
    assert made_calls([ended(1, ended="refused")]) == []


def test_a_consult_belongs_to_the_executor_of_its_own_part() -> None:
    first, second = made_calls(
        [ended(1), ended(2, shard=1), consulted(0, "one?"), consulted(1, "two?"), consulted(2, "x")]
    )
    assert [[each.note.consult.question for each in call.consults] for call in (first, second)] == [["one?"], ["two?"]]


def test_an_answer_belongs_to_the_latest_call_of_its_role() -> None:
    plan = ReviewPlan(risk_summary="a risk")
    planned = Planned(at=at(3), surface=Surface.PR_REVIEW, plan=plan)
    calls = made_calls([ended(1), ended(1, role=Role.PRE_FLIGHT), ended(2, role=Role.PRE_FLIGHT), planned])
    assert [call.answer for call in calls] == ["", "", plan.model_dump_json()]
    assert made_calls([planned]) == []
