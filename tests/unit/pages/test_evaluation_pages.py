"""The dashboard's page of evaluations."""

from random import Random

from review_advisor.core.evaluation.trials.manifest import ArmFacts, EvaluationManifest
from review_advisor.core.evaluation.trials.measures import ReviewSums
from review_advisor.core.evaluation.trials.results import evaluation_result
from review_advisor.core.evaluation.trials.trial import CountedTrial, Trial
from review_advisor.core.pages.evaluation_pages import evaluations_json


def test_it_tells_the_table_the_gates_and_that_no_model_answered() -> None:
    arms = (ArmFacts("small", "executor"), ArmFacts("paired\u202e", "paired"))
    manifest = EvaluationManifest("evaluation.v1", "embedded", "ours\u202e", "d", ("a", "b"), arms)
    trials = [
        CountedTrial(
            Trial(case, arm.name, 1, "approved", "complete"), case, ReviewSums(reviews=1, decidable=1, usd=0.1)
        )
        for case in manifest.cases
        for arm in arms
    ]

    (told,) = evaluations_json([evaluation_result(manifest, trials, 20, Random(1).randrange)])["evaluations"]

    assert told["answers"] == "the embedded agent, with static checks. No model answered."
    assert told["rows"][1] == ["reviewed correctly", "0.000 [0.000, 0.658]", "0.000 [0.000, 0.658]"]
    assert [gate["answer"] for gate in told["gates"]] == ["not applicable", "undecided"]
    assert "\u202e" not in str(told)
