"""``make eval`` fails where the scoring of simulated reviewers is not what it has to be."""

import copy
from typing import Any

from check_evaluation import SURE, problems

AS_DUE: dict[str, Any] = {
    "arms": [{"measures": {f"m{n}": {"low": 0.2, "high": 0.4, "truth": 0.3} for n in range(20)}}],
    "gates": [{"arm": arm, "gate": gate, "answer": min(may)} for (arm, gate), may in SURE.items()],
}


def test_a_score_as_it_has_to_be_has_no_problem() -> None:
    assert list(problems(AS_DUE)) == []


def test_truths_outside_of_their_intervals_are_a_problem() -> None:
    missed = copy.deepcopy(AS_DUE)
    for number in range(6):
        missed["arms"][0]["measures"][f"m{number}"]["truth"] = 0.5

    assert list(problems(missed)) == ["Only 14 of 20 intervals hold their truth."]
    assert list(problems({**AS_DUE, "arms": []})) == ["Only 0 of 0 intervals hold their truth."]


def test_a_gate_that_says_otherwise_is_a_problem() -> None:
    otherwise = copy.deepcopy(AS_DUE)
    otherwise["gates"][0]["answer"] = "fail"

    assert list(problems(otherwise)) == ["The gate cost_of_correct of paired is fail: it has to be pass."]
    assert len(list(problems({**AS_DUE, "gates": []}))) == len(SURE)
