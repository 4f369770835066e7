"""What is asked for again, what it has cost, and who did not answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.lab.golden_cases import FilesChange, GoldenCase
from review_advisor.lab.manifests import (
    AnswerSource,
    ArmFacts,
    EvaluationManifest,
    is_settled,
    spent_on,
    unanswered_arms,
)
from review_advisor.lab.trials import CountedTrial, Trial, TrialStatus, count

CASE = GoldenCase(id="a", group="g", kind="clean", change=FilesChange(()))
MANIFEST = EvaluationManifest(
    schema="evaluation.v1",
    answers="live",
    set_name="ours",
    set_digest="d" * 64,
    cases=("a",),
    arms=(ArmFacts("paired", "paired"), ArmFacts("alone", "executor")),
)


def kept(status: TrialStatus, usd: float | None = 0.1, arm: str = "paired", why: str = "") -> CountedTrial:
    return count(CASE, Trial("a", arm, 1, "approved", status, usd=usd, why=why))


@pytest.mark.parametrize("status", ["lost", "refused"])
@pytest.mark.parametrize(
    "answers,settled", [("live", False), ("embedded", False), ("recorded", True), ("simulated", True)]
)
def test_what_got_no_answer_is_asked_for_again_where_it_may_get_one(
    status: TrialStatus, answers: AnswerSource, *, settled: bool
) -> None:
    assert is_settled(replace(MANIFEST, answers=answers), kept(status)) is settled


@pytest.mark.parametrize("status", ["complete", "degraded", "escalated"])
def test_an_answer_of_any_kind_is_not_asked_for_again(status: TrialStatus) -> None:
    assert is_settled(MANIFEST, kept(status))


def test_every_try_has_cost_something_and_an_unknown_cost_is_not_nothing() -> None:
    tries = [kept("lost", None), kept("refused", 0.0), kept("complete", 0.25)]

    assert spent_on(tries, 2.0) == pytest.approx(2.25)


def test_an_arm_that_answered_nothing_is_told_with_its_most_frequent_reason() -> None:
    slow = [kept("lost", arm="alone", why="It took too long.")] * 2
    trials = [*slow, kept("refused", arm="alone", why="No money."), kept("lost", why="x"), kept("complete")]

    some, none = unanswered_arms(MANIFEST, trials)

    assert (some.arm, some.unanswered, some.reviews, some.is_silent) == ("paired", 1, 2, False)
    assert (none.arm, none.is_silent, none.why) == ("alone", True, "It took too long.")
