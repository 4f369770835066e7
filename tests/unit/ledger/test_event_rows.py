"""What the ledger's tables say of one event, whole row by whole row."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from review_advisor.agents.answers import Consult, DisagreementAnswer, Guidance
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.ledger.rows import event_rows, rows_of_events
from review_advisor.mockworld.agents import approve, confirm, finding, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, Consulted, Reported, SurfaceEnded, Verified
from review_advisor.review.rulings import Outcome
from review_advisor.safety.stop import Usage

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
POLICY = MockWorld().review().policy
STEP: dict[str, Any] = {"at": AT, "surface": Surface.PR_REVIEW, "attempt": 1, "shard": 2}
CALL = CallEnded(
    **STEP,
    number=6,
    asks_again=5,
    role=Role.POST_VERIFY,
    advisor="security",
    ended="lost",
    reason="timeout",
    requested_model="opus",
    resolved_model="opus-4",
    session_id="s-1",
    usage=Usage(input_tokens=3, output_tokens=5, cache_read_tokens=7, cache_write_tokens=11, cost_usd=0.25),
    duration_seconds=1.25,
    turns=6,
    prompt_characters=900,
    prompt_sha256="ab" * 32,
    reply="r-1",
)
PLACE = {"surface": "pr_review", "attempt": 1, "shard": 2}


def call(**more: Any) -> CallEnded:
    return replace(CALL, **more)


def test_a_call_is_told_with_all_that_it_used() -> None:
    told = {
        **PLACE,
        "number": 4,
        "call": 6,
        "asks_again": 5,
        "role": "post_verify",
        "advisor": "security",
        "ended": "lost",
        "reason": "timeout",
        "requested_model": "opus",
        "resolved_model": "opus-4",
        "input_tokens": 3,
        "output_tokens": 5,
        "cache_read_tokens": 7,
        "cache_write_tokens": 11,
        "cost_usd": 0.25,
        "duration_ms": 1_250,
        "turns": 6,
        "prompt_characters": 900,
        "prompt_sha256": "ab" * 32,
        "session_id": "s-1",
        "kept": 0,
        "reply": "r-1",
    }
    assert event_rows(POLICY, 4, CALL) == {"calls": (told,), "kept": (), "unreported": ()}


@pytest.mark.parametrize(
    "role, cost_usd, tokens, known",
    [
        (Role.POST_VERIFY, 0.25, (0, 26), 0.25),
        (Role.EXECUTOR, 0.25, (26, 0), 0.25),
        (Role.EXECUTOR, None, (26, 0), 0.0),
        (Role.EXECUTOR, float("inf"), (26, 0), 0.0),
    ],
)
def test_what_an_earlier_run_paid_for_is_told_beside_the_call(
    role: Role, cost_usd: float | None, tokens: tuple[int, int], known: float
) -> None:
    kept = call(role=role, kept=True, paid_by="run-0", usage=Usage(3, 5, 7, 11, cost_usd))
    rows = event_rows(POLICY, 4, kept)
    executor, advisor = tokens
    assert rows["calls"][0]["kept"] == 1
    assert rows["kept"] == (
        {
            "number": 4,
            "paid_by": "run-0",
            "reply": "r-1",
            "cost_usd": known,
            "executor_tokens": executor,
            "advisor_tokens": advisor,
            "consult_tokens": 0,
        },
    )


def test_a_call_without_a_word_about_its_cost_is_told_among_the_unreported() -> None:
    rows = event_rows(POLICY, 4, call(ended="answered", reason="", usage=Usage(3, 5, 7, 11, None)))
    used = {"input_tokens": 3, "output_tokens": 5, "cache_read_tokens": 7, "cache_write_tokens": 11}
    assert rows["unreported"] == ({"number": 4, "role": "post_verify", "model": "opus-4", **used},)


@pytest.mark.parametrize(
    "guidance, said",
    [
        (
            Guidance(action="look again", stop_signal=True, confidence=0.5),
            {"action": "look again", "stop_signal": 1, "confidence": 0.5},
        ),
        (Guidance(action="go on"), {"action": "go on", "stop_signal": 0, "confidence": None}),
        (None, {"action": "", "stop_signal": 0, "confidence": None}),
    ],
)
def test_a_consult_is_told_with_what_the_advisor_said(guidance: Guidance | None, said: dict[str, Any]) -> None:
    note = ConsultNote(
        Consult(question="which one?", urgency="high"),
        "answered" if guidance else "failed",
        guidance,
        reason="" if guidance else "timeout",
        resolved_model="opus-4",
        tokens=26,
        duration_ms=1_250,
    )
    told = {
        **PLACE,
        **said,
        "number": 4,
        "status": note.status,
        "urgency": "high",
        "question": "which one?",
        "reason": note.reason,
        "model": "opus-4",
        "tokens": 26,
        "duration_ms": 1_250,
    }
    assert event_rows(POLICY, 4, Consulted(**STEP, advisor="mid_flight", note=note)) == {"consults": (told,)}


def judged_twice() -> OutcomeDocument:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/app.py", 7, "value = 7")))
    world.agents.script(Role.POST_VERIFY, veto("seven is taken", "so is eight"), confirm())
    return world.review()


def test_a_judgement_is_a_vote_with_the_authority_of_its_surface() -> None:
    document = judged_twice()
    numbered = [(number, event) for number, event in enumerate(document.events) if isinstance(event, Verified)]
    rows = [event_rows(document.policy, number, event) for number, event in numbered]
    common = {"surface": "pr_review", "shard": 0, "role": "post_verify", "authority": "veto"}
    assert rows == [
        {"votes": ({**common, "number": numbered[0][0], "attempt": 0, "verdict": "VETO", "disagreements": 2},)},
        {"votes": ({**common, "number": numbered[1][0], "attempt": 1, "verdict": "APPROVE", "disagreements": 0},)},
    ]


@pytest.mark.parametrize("settled", [True, False])
def test_the_last_answer_to_a_disagreement_counts_and_whether_it_is_settled(*, settled: bool) -> None:
    answers = (
        DisagreementAnswer(disagreement="d-1", position="accepted", path="src/app.py", evidence="value = 6"),
        DisagreementAnswer(disagreement="d-1", position="contested", path="src/app.py", evidence="value = 7"),
    )
    made = next(event.report for event in judged_twice().events if isinstance(event, Reported))
    report = replace(made, answers=answers, settled=("d-1",) if settled else ())
    told = {
        "number": 9,
        "surface": "pr_review",
        "shard": 2,
        "disagreement": "d-1",
        "disposition": "contested",
        "settled": int(settled),
        "reason": "value = 7",
    }
    assert event_rows(POLICY, 9, Reported(**STEP, report=report)) == {"dispositions": (told,)}


@pytest.mark.parametrize("outcome", [Outcome.APPROVED, Outcome.CHANGES_REQUESTED, Outcome.STOPPED])
def test_a_surface_asks_a_person_only_where_it_escalates(outcome: Outcome) -> None:
    because = ("the advisor was lost", "and so was the executor")
    asked = SurfaceEnded(at=AT, surface=Surface.PR_REVIEW, outcome=Outcome.ESCALATED, because=because)
    question = "the advisor was lost; and so was the executor"
    assert event_rows(POLICY, 4, asked) == {"questions": ({"number": 4, "surface": "pr_review", "question": question},)}
    assert event_rows(POLICY, 4, SurfaceEnded(at=AT, surface=Surface.PR_REVIEW, outcome=outcome, because=because)) == {}


def test_the_rows_of_a_review_are_those_of_its_events_in_their_order() -> None:
    rows = rows_of_events(POLICY, [CALL, call(role=Role.EXECUTOR)])
    assert [(row["number"], row["role"]) for row in rows["calls"]] == [(0, "post_verify"), (1, "executor")]
    assert rows["kept"] == ()
