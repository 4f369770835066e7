"""When an evaluation allows a proposed edit: models reviewed by exactly these rules, and the corrected gate passed."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.core.evaluation.trials.gates import Condition, GateAnswer, GateKind, GateVerdict
from review_advisor.core.evaluation.trials.manifest import ArmFacts, CaseShard, EvaluationManifest
from review_advisor.core.evaluation.trials.results import EvaluationResult
from review_advisor.core.retro.edit_gate import why_not_shown

SETTINGS, PROMPTS = "0123456789ab", "prompts-of-today"
ARM = ArmFacts("retro-mine", "paired", SETTINGS)


def gate(answer: GateAnswer, kind: GateKind = "cost_of_correct", arm: str = ARM.name) -> GateVerdict:
    return GateVerdict(kind, arm, "executor-only", (Condition("it costs less", answer, "so it came out"),))


def evaluated(*gates: GateVerdict, **facts: object) -> EvaluationResult:
    manifest = EvaluationManifest("evaluation.v1", "live", "own", "d" * 64, ("a",), (ARM,), prompts=PROMPTS)
    return EvaluationResult(replace(manifest, **facts), (), gates, 40, 2_000)  # type: ignore[arg-type]


def why(*gates: GateVerdict, **facts: object) -> str:
    return why_not_shown(evaluated(*gates, **facts), SETTINGS, PROMPTS)


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
    assert "exactly these rules" in why(passed, arms=(replace(ARM, settings="another"),))
