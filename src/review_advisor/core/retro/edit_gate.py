"""Whether an evaluation shows that reviews stay worth their money under the rules that a proposal would bring."""

from __future__ import annotations

from review_advisor.core.evaluation.trials.gates import GateKind
from review_advisor.core.evaluation.trials.manifest import CaseShard
from review_advisor.core.evaluation.trials.results import EvaluationResult

GATE: GateKind = "cost_of_correct"
"""The gate that decides; the other one says more about list prices than about advice."""


def why_not_shown(result: EvaluationResult, settings: str, prompts: str) -> str:
    """Why an evaluation does not show it, in a sentence; empty if it does.

    Models must have reviewed a whole golden set by an arm with exactly these ``settings``, asked by the ``prompts`` of
    today, and the corrected gate must have passed for that arm.
    """
    manifest = result.manifest
    if manifest.answers != "live":
        return f"Its answers are {manifest.answers}: no model was asked to review by these rules."
    if manifest.shard != CaseShard():
        return f"It is shard {manifest.shard.words} only: merge all of them first."
    if manifest.prompts != prompts:
        return "It was made with other prompts than those of today: evaluate again."
    names = [each.name for each in manifest.arms if each.settings == settings]
    if not names:
        return "None of its arms reviewed by exactly these rules."
    verdict = next((each for each in result.gates if each.gate == GATE and each.arm == names[0]), None)
    if verdict is None:
        return f"It has no gate {GATE} for {names[0]}."
    if verdict.answer != "pass":
        why = next((each.why for each in verdict.conditions if each.answer == verdict.answer), "nothing was compared")
        return f"Its gate {GATE} says {verdict.answer.replace('_', ' ')} for {names[0]}: {why}."
    return ""
