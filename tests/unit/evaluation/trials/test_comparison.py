"""Several evaluations of the same cases as one."""

from dataclasses import replace

from review_advisor.lab.manifests import ArmFacts, EvaluationManifest, TrialsOf, side_by_side
from review_advisor.lab.trials import CountedTrial, ReviewSums, Trial

BEFORE = EvaluationManifest(
    schema="evaluation.v1",
    answers="recorded",
    set_name="ours",
    set_digest="d" * 64,
    cases=("a",),
    arms=(ArmFacts("paired", "paired", "s1"), ArmFacts("executor-only", "executor", "s2")),
    prompts="p1",
    prices="2026-01-01",
    version="1",
)
AFTER = replace(BEFORE, prompts="p2", version="2")


def reviewed(manifest: EvaluationManifest) -> TrialsOf:
    return manifest, [
        CountedTrial(Trial("a", arm.name, 1, "approved", "complete"), "g", ReviewSums(reviews=1))
        for arm in manifest.arms
    ]


def test_before_and_after_a_change_of_prompts_are_put_beside_one_another() -> None:
    beside = side_by_side([reviewed(BEFORE), reviewed(AFTER)])

    assert [arm.name for arm in beside.manifest.arms] == [
        *("1:paired", "1:executor-only"),
        *("2:paired", "2:executor-only"),
    ]
    assert [each.trial.arm for each in beside.trials] == [arm.name for arm in beside.manifest.arms]
    assert [arm.own_name for arm in beside.arms] == ["paired", "executor-only", "paired", "executor-only"]
    assert beside.differs == (
        f"1: {BEFORE.id}, prompts p1, version 1",
        f"2: {AFTER.id}, prompts p2, version 2",
    )


def test_arms_whose_names_differ_keep_them() -> None:
    one, other = (replace(BEFORE, arms=(arm,)) for arm in BEFORE.arms)

    beside = side_by_side([reviewed(one), reviewed(other)])

    assert [arm.name for arm in beside.manifest.arms] == ["paired", "executor-only"]
    assert beside.differs == (f"1: {one.id}", f"2: {other.id}")


def test_one_name_for_two_settings_is_told() -> None:
    other = replace(BEFORE, arms=(ArmFacts("paired", "paired", "s9"),))

    assert side_by_side([reviewed(BEFORE), reviewed(other)]).differs[-1] == "The settings of paired differ."
