"""The arms that review golden cases: what each is told by switches and configuration, and which part it plays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Literal

from review_advisor.core.evaluation.trials.manifest import ArmFacts, ArmPart
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.policy.switches import DEFAULT_ADVISOR_MODEL, DEFAULT_EXECUTOR_MODEL, MASTER, model_variables

_ANY_SURFACE = next(iter(Surface))
_COUNCIL = '[advisors]\npreset = "release"\n'
"""The shipped preset with the most voters: the ADR's advisor and two specialists, one of whom dissents."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to review. ``config`` is a configuration file's text; ``models`` are the executor's and the advisor's.

    ``files`` are texts by their paths that stand in the place of the base's: what a review reads there beside its
    configuration. An empty one is not there.
    """

    name: str
    part: ArmPart
    environment: Mapping[str, str] = field(default_factory=dict)
    config: str = ""
    models: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def facts(self) -> ArmFacts:
        """As the manifest tells it."""
        files = [sorted(self.files.items())] if self.files else []
        told = json.dumps([sorted(self.environment.items()), self.config, *files])
        return ArmFacts(self.name, self.part, hashlib.sha256(told.encode()).hexdigest()[:12], self.models)


def _model(who: Literal["ADVISOR", "EXECUTOR"], model: str) -> dict[str, str]:
    return {model_variables(_ANY_SURFACE, who)[1]: model}


def single(name: str, part: ArmPart, model: str) -> Arm:
    """One model alone, without an advisor."""
    return Arm(name, part, {MASTER: "false", **_model("EXECUTOR", model)}, "", (model,))


def pair(name: str, executor: str, advisor: str, config: str = "", part: ArmPart = "paired") -> Arm:
    """An executor that its advisor advises."""
    return Arm(name, part, _model("EXECUTOR", executor) | _model("ADVISOR", advisor), config, (executor, advisor))


USUAL_ARMS = (
    single("executor-only", "executor", DEFAULT_EXECUTOR_MODEL),
    single("advisor-only", "advisor", DEFAULT_ADVISOR_MODEL),
    pair("paired", DEFAULT_EXECUTOR_MODEL, DEFAULT_ADVISOR_MODEL),
    pair("council", DEFAULT_EXECUTOR_MODEL, DEFAULT_ADVISOR_MODEL, _COUNCIL, "council"),
)


def configured(name: str, config: str, files: Mapping[str, str] | None = None) -> Arm:
    """The usual models under a configuration of one's own, and with ``files`` of one's own at the base."""
    return replace(pair(name, DEFAULT_EXECUTOR_MODEL, DEFAULT_ADVISOR_MODEL, config), files=files or {})


def modelled(arm: Arm, executor: str, advisor: str) -> Arm:
    """The same arm with other models."""
    other = pair(arm.name, executor, advisor)
    return replace(arm, environment={**arm.environment, **other.environment}, models=other.models)


def matrix(models: Sequence[str]) -> tuple[Arm, ...]:
    """Each model alone, and each as the executor of each other."""
    return (
        *(single(model, "executor", model) for model in models),
        *(pair(f"{executor}+{advisor}", executor, advisor) for executor, advisor in permutations(models, 2)),
    )
