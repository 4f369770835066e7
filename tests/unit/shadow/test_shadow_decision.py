"""What a shadow would have changed in a review."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Literal

import pytest

from review_advisor.ledger.shadow_rollup import (
    MOST_TOLD,
    ShadowDecision,
    decision_on,
    readings_of_shadow,
    shadow_cost,
    shadow_decision,
)
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome
from review_advisor.review.shadow import ShadowBegan, ShadowCalled, ShadowDecided, ShadowEnded, ShadowReviewed
from review_advisor.safety.stop import Usage

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
BEGAN = ShadowBegan(
    at=AT, run_id="run_1-shadow-1", shadow="opusJudge", part="judge", setup="judge", of_run="run_1", because="10%"
)
AGREED = ShadowDecided(
    at=AT,
    surface=Surface.PR_REVIEW,
    shard=0,
    verdict="approve",
    real_objects=False,
    shadow_objects=False,
    because="approved",
)
WOULD_VETO = replace(AGREED, shadow_objects=True)
WOULD_PASS = replace(AGREED, real_objects=True)
LOST = replace(AGREED, shadow_objects=None)
DIFFERS = replace(AGREED, verdict="reject", shadow_objects=True)
CALL = ShadowCalled(
    at=AT,
    call=CallEnded(
        at=AT,
        surface=Surface.PR_REVIEW,
        number=1,
        role=Role.POST_VERIFY,
        advisor="post_verify",
        ended="answered",
        requested_model="opus",
        usage=Usage(cost_usd=0.5),
    ),
)


@pytest.mark.parametrize("verdict", ["approve", "reject"])
@pytest.mark.parametrize("real, shadow", list(product((True, False), (True, False, None))))
def test_every_pair_of_decisions_has_one_name(
    verdict: Literal["approve", "reject"], real: bool, shadow: bool | None
) -> None:
    told = replace(AGREED, verdict=verdict, real_objects=real, shadow_objects=shadow)
    expected: dict[tuple[bool, bool | None], ShadowDecision] = {
        (False, True): "would_veto" if verdict == "approve" else "differs",
        (True, False): "would_pass" if verdict == "approve" else "differs",
    }
    assert decision_on(told) == ("lost" if shadow is None else expected.get((real, shadow), "agreed"))


ENDS = (Outcome.APPROVED, Outcome.CHANGES_REQUESTED, Outcome.ESCALATED)


@pytest.mark.parametrize("real, other", list(product(ENDS, (*ENDS, None))))
def test_every_pair_of_outcomes_has_one_name(real: Outcome, other: Outcome | None) -> None:
    told = ShadowReviewed(at=AT, real=real, outcome=other, because="")
    approved = (real is Outcome.APPROVED, other is Outcome.APPROVED)
    expected: dict[tuple[bool, bool], ShadowDecision] = {(True, False): "would_veto", (False, True): "would_pass"}
    if other is None or other is real:
        assert decision_on(told) == ("lost" if other is None else "agreed")
    else:
        assert decision_on(told) == expected.get(approved, "differs")


def test_the_row_of_a_whole_review_says_what_it_came_to_and_what_only_it_found() -> None:
    found = tuple(f"high src/app.py:{line} It loses data" for line in range(MOST_TOLD + 2))
    told = ShadowReviewed(
        at=AT, real=Outcome.APPROVED, outcome=Outcome.ESCALATED, because="", missed=("f1",), besides=found
    )
    (row,) = readings_of_shadow([BEGAN, CALL, told, ShadowEnded(at=AT, status="finished")])["shadows"]
    assert (row["outcome"], row["decision"], row["missed"]) == ("escalated", "would_veto", 1)
    assert (row["found"], str(row["besides"]).splitlines()) == (MOST_TOLD + 2, list(found[:MOST_TOLD]))


def test_the_weightiest_part_decides_for_the_review_in_any_order() -> None:
    parts = [WOULD_VETO, WOULD_PASS, DIFFERS, LOST, AGREED]
    names = ["would_veto", "would_pass", "differs", "lost", "agreed"]
    for place, name in enumerate(names):
        assert shadow_decision(parts[place:], finished=True) == name
        assert shadow_decision(reversed(parts[place:]), finished=True) == name


def test_what_did_not_come_to_its_end_never_counts_as_agreement() -> None:
    assert shadow_decision([AGREED], finished=False) == "lost"
    assert shadow_decision([], finished=True) == "lost"
    assert shadow_decision([WOULD_VETO], finished=False) == "would_veto"


def test_a_row_adds_up_the_calls_that_were_made() -> None:
    refused = replace(CALL, call=replace(CALL.call, ended="refused", usage=Usage()))
    untold = replace(CALL, call=replace(CALL.call, usage=Usage()))
    (row,) = readings_of_shadow([BEGAN, CALL, untold, refused, AGREED, ShadowEnded(at=AT, status="capped")])["shadows"]
    assert (row["calls"], row["unpriced"], row["cost_usd"]) == (2, 1, 0.5)
    assert (row["status"], row["decision"]) == ("capped", "lost")


def test_calls_that_told_no_cost_count_in_a_shadow() -> None:
    """By their estimate; where nobody can tell, the shadow counts with all that it may spend."""
    ended = ShadowEnded(at=AT, status="finished")
    began = replace(BEGAN, max_usd=2.0)
    killed = replace(CALL, call=replace(CALL.call, usage=Usage(), estimated_usd=0.25))
    untold = replace(CALL, call=replace(CALL.call, usage=Usage()))
    assert (shadow_cost([began, CALL, killed, ended]).usd, shadow_cost([began, CALL, killed, ended]).unpriced) == (
        0.75,
        1,
    )
    assert shadow_cost([began, CALL, untold, ended]).usd == 2.0
    assert shadow_cost([began, *[CALL] * 5, untold, ended]).usd == 2.5
    assert shadow_cost([began, CALL]).usd == 2.0


def test_a_killed_shadow_is_unfinished() -> None:
    (row,) = readings_of_shadow([BEGAN, CALL])["shadows"]
    assert (row["status"], row["decision"], row["cost_usd"]) == ("unfinished", "lost", 0.5)


def test_the_row_of_something_else_is_refused() -> None:
    with pytest.raises(TypeError):
        readings_of_shadow([CALL])
