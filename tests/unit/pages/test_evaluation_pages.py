"""The dashboard's page of evaluations."""

from random import Random

from review_advisor.lab.manifests import ArmFacts, EvaluationManifest
from review_advisor.lab.pages import evaluations_json
from review_advisor.lab.results import besides, evaluation_result
from review_advisor.lab.trials import CountedTrial, ReviewSums, Trial


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


def test_it_tells_which_reviews_were_lost_or_not_judged() -> None:
    manifest = EvaluationManifest("evaluation.v1", "live", "ours", "d", ("a", "b"), (ArmFacts("paired", "paired"),))
    trials = [
        CountedTrial(
            Trial("a", "paired", 1, "none", "lost"), "a", ReviewSums(reviews=1, decidable=1, lost=1, unpriced=1)
        ),
        CountedTrial(Trial("b", "paired", 1, "approved", "degraded"), "b", ReviewSums(reviews=1, decidable=1)),
    ]
    result = evaluation_result(manifest, trials, 20, Random(1).randrange)

    (told,) = evaluations_json([result])["evaluations"]

    assert told["besides"] == list(besides(result.arms[0]))
    assert [line.partition(" of 2 ")[0] for line in told["besides"]] == ["paired: 1 review", "paired: 1 review"]
