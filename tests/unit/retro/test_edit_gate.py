"""When an evaluation allows a proposed edit: by exactly these rules, models review as well as by today's."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from review_advisor.lab.edit_gate import RulesToShow, named_set, why_not_shown
from review_advisor.lab.trials import (
    ArmFacts,
    ArmResult,
    CaseShard,
    Condition,
    EvaluationManifest,
    EvaluationResult,
    GateAnswer,
    GateKind,
    GateVerdict,
    Repeated,
    ReviewSums,
    sampled,
)

RULES = RulesToShow("0123456789ab", "ba9876543210", "prompts-of-today")
ARM = ArmFacts("retro-mine", "paired", RULES.settings)
TODAY = ArmFacts("today-mine", "paired", RULES.today)
RIGHT, WRONG, UNTOLD = (
    ReviewSums(reviews=1, decidable=1, correct=1, right=1),
    ReviewSums(reviews=1, decidable=1, missed=1),
    ReviewSums(reviews=1, decidable=1, correct=1),
)


def gate(answer: GateAnswer, kind: GateKind = "cost_of_correct", arm: str = ARM.name) -> GateVerdict:
    return GateVerdict(kind, arm, "executor-only", (Condition("it costs less", answer, "so it came out"),))


def evaluated(*gates: GateVerdict, one: ReviewSums = RIGHT, **facts: object) -> EvaluationResult:
    both = (ARM, TODAY)
    manifest = EvaluationManifest("evaluation.v1", "live", "own", "d" * 64, ("a",), both, prompts=RULES.prompts)
    arms = tuple(ArmResult(each.name, one, {}, Repeated(0, 0)) for each in both)
    return EvaluationResult(replace(manifest, **facts), arms, gates, 40, 2_000, {})  # type: ignore[arg-type]


def why(*gates: GateVerdict, one: ReviewSums = RIGHT, other: ReviewSums = WRONG, **facts: object) -> str:
    """``one``: what each review by the new rules comes to; ``other``: each by today's."""
    groups = [f"group-{number}" for number in range(40)]
    arms = {ARM.name: dict.fromkeys(groups, one), TODAY.name: dict.fromkeys(groups, other)}
    drawn = sampled(arms, 200, Random(17).randrange)
    return why_not_shown(replace(evaluated(*gates, one=one, **facts), sampled=drawn), RULES)


def test_reviews_have_to_stay_as_good_as_by_todays_rules_whatever_the_gate_says() -> None:
    passed = gate("pass")
    assert why(passed, one=WRONG, other=RIGHT) == (
        "That retro-mine has at most 2 points fewer correct reviews than today-mine is not shown: "
        "-100.0 points, 95% from -100.0 points to -82.5 points."
    )
    assert "exactly today's rules" in why(passed, arms=(ARM,))
    assert why(passed, one=UNTOLD).startswith("No case of it has a fault that is known")


@pytest.mark.parametrize("side", ["one", "other"])
def test_rules_of_which_a_review_was_lost_are_not_compared(side: str) -> None:
    lost = ReviewSums(reviews=1, decidable=1, missed=1, lost=1)
    sides = {"one": RIGHT, "other": WRONG} | {side: lost}
    name = ARM.name if side == "one" else TODAY.name
    assert why(gate("pass"), **sides) == (
        f"retro-mine and today-mine cannot be compared: 40 of 40 reviews by {name} got no answer."
    )


def test_the_set_is_named_with_nothing_but_plain_letters() -> None:
    assert named_set(evaluated().manifest) == f"own ({'d' * 64})"
    assert named_set(evaluated(set_name="[skip ci]\nx").manifest).startswith("?skip ci??x (")


def test_the_corrected_gate_decides_whatever_the_other_one_says() -> None:
    assert why(gate("fail", "ship"), gate("pass")) == ""
    assert "says fail for retro-mine: so it came out" in why(gate("pass", "ship"), gate("fail"))
    assert "says undecided" in why(gate("undecided"))
    assert "says not applicable" in why(gate("not_applicable"))
    assert "has no gate" in why(gate("pass", arm="paired"))


def test_only_models_that_reviewed_a_whole_set_by_these_rules_and_these_prompts_show_anything() -> None:
    passed = gate("pass")
    assert why(passed, answers="simulated") == "Its answers are simulated: no model was asked to review by these rules."
    assert "embedded" in why(passed, answers="embedded")
    assert "recorded" in why(passed, answers="recorded"), "nobody knows by which rules they were made"
    assert "shard 1/4" in why(passed, shard=CaseShard(1, 4))
    assert "other prompts" in why(passed, prompts="older")
    assert "exactly these rules" in why(passed, arms=(replace(ARM, settings="another"), TODAY))
