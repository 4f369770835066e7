"""Why a review did not complete, by its events alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded, PartEnded, ReviewEnded
from review_advisor.review.rulings import Outcome
from review_advisor.tasks.harness_run import status_of

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
STEP: dict[str, Any] = {"at": AT, "surface": Surface.PR_REVIEW}
PART = PartEnded(**STEP, outcome=Outcome.ESCALATED, because="a person must look")
ESCALATED = ReviewEnded(at=AT, outcome=Outcome.ESCALATED, because=("a person must look",))
STOPPED = ReviewEnded(at=AT, outcome=Outcome.STOPPED, because=("no credit",))
LOST = CallEnded(
    **STEP,
    number=1,
    advisor="executor",
    role=Role.EXECUTOR,
    ended="stopped",
    reason="credit_exhausted",
    requested_model="m",
)
ANSWERED = CallEnded(
    **STEP, number=2, advisor="post_verify", role=Role.POST_VERIFY, ended="answered", requested_model="m"
)


@pytest.mark.parametrize(
    "attempt, read, status",
    [
        (0, True, "executor_stopped_without_done"),
        (1, True, "max_turns_reached"),
        (1, False, "executor_stopped_without_done"),
    ],
)
def test_a_retry_that_is_not_judged_was_the_last_turn(attempt: int, status: str, *, read: bool) -> None:
    assert status_of((replace(PART, attempt=attempt, read=read), ESCALATED)) == status


def test_a_part_that_was_approved_does_not_say_why_another_calls_a_person() -> None:
    approved = replace(PART, attempt=1, outcome=Outcome.APPROVED)
    assert status_of((approved, replace(PART, shard=1), ESCALATED)) == "executor_stopped_without_done"


@pytest.mark.parametrize(
    "events, status",
    [
        ((LOST, ANSWERED), "executor_failed"),
        ((ANSWERED,), "executor_stopped_without_done"),
        ((LOST, replace(ANSWERED, ended="stopped")), "advisor_failed"),
        ((replace(LOST, ended="lost", reason="invalid_answer"),), "malformed_block"),
        ((replace(LOST, ended="lost", reason="no_structured_output"),), "malformed_block"),
    ],
)
def test_a_review_that_stopped_names_the_last_call_without_an_answer(
    events: tuple[CallEnded, ...], status: str
) -> None:
    assert status_of((*events, STOPPED)) == status


def test_a_review_without_its_last_event_is_running() -> None:
    assert status_of((LOST, PART)) == "running"
