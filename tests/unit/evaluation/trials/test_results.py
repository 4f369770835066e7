"""What an evaluation comes to."""

from dataclasses import replace
from random import Random

from review_advisor.lab.manifests import ArmFacts, ArmPart, EvaluationManifest
from review_advisor.lab.results import Turned, besides, evaluation_result, repeated
from review_advisor.lab.trials import CountedTrial, ReviewSums, Trial


def counted(case: str, arm: str = "paired", repetition: int = 1, *found: str, usd: float = 0.1) -> CountedTrial:
    trial = Trial(case, arm, repetition, "changes_requested" if found else "approved", "complete", usd=usd)
    return CountedTrial(trial, case[0], ReviewSums(reviews=1, decidable=1, correct=bool(found), usd=usd), found)


def manifest(**parts: ArmPart) -> EvaluationManifest:
    arms = tuple(ArmFacts(name, part) for name, part in parts.items())
    return EvaluationManifest("evaluation.v1", "recorded", "ours", "d", ("a1", "b1"), arms)


def test_the_noise_is_how_often_the_same_review_comes_again() -> None:
    told = repeated(
        [
            counted("a1", "paired", 2, "x"),
            counted("a1", "paired", 1, "x"),
            counted("b1", "paired", 1, "x"),
            counted("b1", "paired", 2, "y"),
            counted("c1"),
        ]
    )

    assert (told.alike, told.pairs, told.is_quiet) == (1, 2, False)


def test_without_a_repetition_nothing_is_known_of_the_noise() -> None:
    assert not repeated([counted("a1")]).is_quiet


def test_paired_arms_and_councils_have_both_gates_and_single_models_none() -> None:
    arms = manifest(small="executor", large="advisor", paired="paired", council="council", mine="other")
    trials = [counted(case, arm.name, 1, "x") for case in ("a1", "b1") for arm in arms.arms]

    result = evaluation_result(arms, trials, 50, Random(1).randrange)

    assert [(each.gate, each.arm) for each in result.gates] == [
        ("ship", "paired"),
        ("cost_of_correct", "paired"),
        ("ship", "council"),
        ("cost_of_correct", "council"),
    ]
    assert {each.answer for each in result.gates} == {"undecided"}, "two groups decide nothing"


def test_an_arm_is_held_against_the_advisor_of_its_own_evaluation() -> None:
    """Two evaluations beside one another, as before and after a change of prompts."""
    parts: tuple[ArmPart, ...] = ("advisor", "paired")
    models = {"advisor": ("opus",), "paired": ("haiku", "opus")}
    arms = tuple(ArmFacts(f"{number}:{part}", part, "", models[part]) for number in (1, 2) for part in parts)
    asked = replace(manifest(), arms=arms)
    trials = [counted(case, arm.name, 1, "x") for case in ("a1", "b1") for arm in arms]
    evaluations = {arm.name: int(arm.name[0]) for arm in arms}

    for order in (arms, arms[::-1], (arms[1], arms[2], arms[3])):
        told = evaluation_result(
            replace(asked, arms=order),
            [each for each in trials if each.trial.arm in {arm.name for arm in order}],
            50,
            Random(1).randrange,
            evaluations=evaluations,
        )
        against = {each.arm: each.against for each in told.gates if each.gate == "ship"}
        one = "1:advisor" if arms[0] in order else "2:advisor"
        assert against == {"1:paired": one, "2:paired": "2:advisor"}


def test_advice_turns_wrong_reviews_right_and_right_ones_wrong() -> None:
    arms = manifest(small="executor", large="advisor", paired="paired")
    told = {"a1": ("", "x"), "a2": ("", "x"), "b1": ("x", ""), "b2": ("x", "x"), "b3": ("", "")}
    trials = [
        counted(case, arm, 1, *filter(None, [found]))
        for case, both in told.items()
        for arm, found in zip(("small", "paired"), both, strict=True)
    ]
    lost = counted("c1", "paired", 1, "x")
    trials += [counted("c1", "small"), replace(lost, sums=replace(lost.sums, correct=0, lost=1))]

    small, large, paired = evaluation_result(arms, trials, 50, Random(1).randrange).arms

    assert paired.turned == Turned("small", right=2, wrong=1, pairs=5)
    assert (small.turned, large.turned) == (None, None)
    told_line = "paired: advice turned 2 wrong right and 1 right wrong, of 5 reviews that small answered as well."
    assert told_line in list(besides(paired))


def test_measures_are_of_all_groups_and_a_truth_stands_only_where_there_is_one() -> None:
    arms = manifest(paired="paired")
    result = evaluation_result(arms, [counted("a1", "paired", 1, "x"), counted("b1")], 50, Random(1).randrange)

    (arm,) = result.arms
    assert arm.measures["correct"].value == 0.5
    assert arm.measures["usd_per_correct"].value == 0.2
    assert arm.truth == {}
    assert result.groups == 2
