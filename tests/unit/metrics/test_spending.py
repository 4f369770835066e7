"""What calls used, apart by executor and advisors."""

from __future__ import annotations

from datetime import UTC, datetime

from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import Spent, spent, unreported
from review_advisor.review.events import CallEnded
from review_advisor.safety.stop import ModelUsage, Usage

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


def call(role: Role, usage: Usage, by_model: tuple[ModelUsage, ...] = ()) -> CallEnded:
    return CallEnded(
        at=AT,
        surface=Surface.PR_REVIEW,
        number=1,
        role=role,
        advisor=role.advisor,
        ended="answered",
        requested_model="haiku",
        resolved_model="haiku",
        usage=usage,
        by_model=by_model,
    )


def test_tokens_of_every_kind_are_the_executors_or_an_advisors_and_money_is_what_was_reported() -> None:
    calls = [
        call(Role.EXECUTOR, Usage(1, 2, 4, 8, 0.5)),
        call(Role.EXECUTOR, Usage(input_tokens=100)),
        call(Role.POST_VERIFY, Usage(16, 32, 64, 128, 0.25)),
        call(Role.PRE_FLIGHT, Usage(output_tokens=1_000)),
    ]
    assert spent(calls) == Spent(cost_usd=0.75, executor_tokens=115, advisor_tokens=1_240, consult_tokens=0)
    assert spent([]) == Spent(0.0, 0, 0, 0)


def test_what_an_executors_consults_used_is_an_advisors() -> None:
    both = (ModelUsage("haiku", Usage(output_tokens=3)), ModelUsage("opus", Usage(output_tokens=5)))
    assert spent([call(Role.EXECUTOR, Usage(), both)]) == Spent(0.0, 3, 5, 5)


def test_only_what_was_used_without_a_word_about_its_cost_is_unreported() -> None:
    both = (ModelUsage("haiku", Usage(cost_usd=0.5)), ModelUsage("opus", Usage(output_tokens=5)))
    assert [(each.role, each.model) for each in unreported(call(Role.EXECUTOR, Usage(), both))] == [
        (Role.MID_FLIGHT, "opus"),
    ]
    assert list(unreported(call(Role.EXECUTOR, Usage(cost_usd=0.0)))) == []
