"""Simulated answers: drawn cases and drawn reviews, whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from review_advisor import __version__
from review_advisor.app.evaluation.evaluate import Answers
from review_advisor.app.evaluation.reviewed import EvaluationExtent
from review_advisor.core.evaluation.golden.golden_case import GoldenCase, GoldenSet
from review_advisor.core.evaluation.judged_change import Draw
from review_advisor.core.evaluation.trials.arms import USUAL_ARMS
from review_advisor.core.evaluation.trials.manifest import ArmFacts, EvaluationManifest
from review_advisor.core.evaluation.trials.simulated_reviewers import (
    SIMULATED,
    difficulties,
    simulated_set,
    simulated_trial,
)
from review_advisor.core.evaluation.trials.trial import Trial, TrialKey


def simulated(
    arms: Sequence[str], groups: int, extent: EvaluationExtent
) -> tuple[EvaluationManifest, GoldenSet, Answers]:
    """What is asked, of which cases, and by whom: all of it follows from the seed."""
    seed = extent.seed
    parts = {arm.name: arm.part for arm in USUAL_ARMS}
    cases = simulated_set(groups, _chance(seed, "cases"))
    hard = difficulties(cases, _chance(seed, "difficulties"))
    reviewers = {each.name: each for each in SIMULATED}

    def answer(case: GoldenCase, key: TrialKey, _begins: Callable[[], None]) -> Trial:
        chance = _chance(seed, *map(str, key))
        return simulated_trial(reviewers[key.arm], case, key.repetition, hard[case.group], chance)

    manifest = EvaluationManifest(
        schema="evaluation.v1",
        answers="simulated",
        set_name=cases.name,
        set_digest=cases.digest,
        cases=tuple(case.id for case in cases.cases),
        arms=tuple(ArmFacts(name, parts[name]) for name in arms),
        repetitions=extent.repetitions,
        seed=seed,
        version=__version__,
        shard=extent.shard,
    )
    return manifest, cases, answer


def _chance(seed: int, *of: str) -> Draw:
    return Random("/".join((str(seed), *of))).randrange  # noqa: S311 (it wants to be repeated, not secret)
