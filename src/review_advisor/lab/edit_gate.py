"""Whether an evaluation shows that reviews stay as good under a proposal."""

from __future__ import annotations

import re
from dataclasses import dataclass

from review_advisor.lab.trials import CaseShard, EvaluationManifest, EvaluationResult, GateKind, as_good_condition

GATE: GateKind = "cost_of_correct"
"""The gate that decides; the other one says more about list prices than about advice."""


_NO_PART_OF_A_NAME = re.compile(r"[^A-Za-z0-9._/ -]", re.ASCII)


_LONGEST = 100


@dataclass(frozen=True, slots=True)
class RulesToShow:
    """What has to be evaluated: ``settings`` with the edit, beside those of ``today``; both with these ``prompts``."""

    settings: str
    today: str
    prompts: str


def why_not_shown(result: EvaluationResult, rules: RulesToShow) -> str:
    """Why an evaluation does not show it, in a sentence; empty if it does.

    Models must have reviewed a whole golden set with known faults by an arm with exactly these rules and by one with
    today's, asked by the prompts of today. The new one must be as good as today's, and pass the corrected gate.
    """
    manifest = result.manifest
    if manifest.answers != "live":
        return f"Its answers are {manifest.answers}: no model was asked to review by these rules."
    if manifest.shard != CaseShard():
        return f"It is shard {manifest.shard.words} only: merge all of them first."
    if manifest.prompts != rules.prompts:
        return "It was made with other prompts than those of today: evaluate again."
    arm, today = (_arm_with(manifest, settings) for settings in (rules.settings, rules.today))
    if arm is None:
        return "None of its arms reviewed by exactly these rules."
    if today is None:
        return "None of its arms reviewed by exactly today's rules, so nobody can tell what the edit changes."
    if not all(each.sums.right + each.sums.missed for each in result.arms if each.name in (arm, today)):
        return "No case of it has a fault that is known, so nobody can tell what a review misses."
    return _why_not_as_good(result, arm, today) or _why_no_pass(result, arm)


def named_set(manifest: EvaluationManifest) -> str:
    """The golden set and its digest, as a commit may hold them."""
    name, digest = (_NO_PART_OF_A_NAME.sub("?", each)[:_LONGEST] for each in (manifest.set_name, manifest.set_digest))
    return f"{name} ({digest})"


def _arm_with(manifest: EvaluationManifest, settings: str) -> str | None:
    return next((each.name for each in manifest.arms if each.settings == settings), None)


def _why_not_as_good(result: EvaluationResult, arm: str, today: str) -> str:
    as_good = as_good_condition(result.sampled, arm, today)
    match as_good.answer:
        case "pass":
            return ""
        case "not_applicable":
            return f"{arm} and {today} cannot be compared: {as_good.why}."
        case "fail" | "undecided":
            return f"That {arm} has {as_good.asks} is not shown: {as_good.why}."


def _why_no_pass(result: EvaluationResult, arm: str) -> str:
    verdict = next((each for each in result.gates if each.gate == GATE and each.arm == arm), None)
    if verdict is None:
        return f"It has no gate {GATE} for {arm}."
    if verdict.answer != "pass":
        why = next((each.why for each in verdict.conditions if each.answer == verdict.answer), "nothing was compared")
        return f"Its gate {GATE} says {verdict.answer.replace('_', ' ')} for {arm}: {why}."
    return ""
