"""What an evaluation comes to, in the words and the numbers that people and programs read."""

from random import Random

from review_advisor.lab.golden_cases import FilesChange, GoldenCase
from review_advisor.lab.manifests import ArmFacts, EvaluationManifest
from review_advisor.lab.results import EvaluationResult, besides, evaluation_result, result_json, result_text
from review_advisor.lab.trials import Trial, TrialStatus, count

CASES = tuple(GoldenCase(id=f"c{n}", group=f"g{n}", kind="clean", change=FilesChange(())) for n in range(4))


def reviewed(*ends: TrialStatus) -> EvaluationResult:
    """How the reviews of one arm ended; those of the other one are complete."""
    arms = (ArmFacts("paired", "paired"), ArmFacts("alone", "advisor"))
    manifest = EvaluationManifest("evaluation.v1", "live", "ours", "d", tuple(case.id for case in CASES), arms)
    trials = [count(case, Trial(case.id, "paired", 1, "approved", how)) for case, how in zip(CASES, ends, strict=True)]
    trials += [count(case, Trial(case.id, "alone", 1, "approved", "complete")) for case in CASES]
    return evaluation_result(manifest, trials, 20, Random(1).randrange)


def test_reviews_without_their_judge_and_those_without_an_answer_are_told_apart() -> None:
    result = reviewed("degraded", "lost", "degraded", "complete")

    assert list(besides(result.arms[0])) == [
        "paired: 1 review of 4 got no answer and count as not found.",
        "paired: 2 reviews of 4 ended without a judgement that was due, and count as they are.",
    ]
    assert list(besides(result.arms[1])) == []
    assert [(arm["lost"], arm["degraded"]) for arm in result_json(result)["arms"]] == [(1, 2), (0, 0)]
    assert all(line in result_text(result) for line in besides(result.arms[0]))
