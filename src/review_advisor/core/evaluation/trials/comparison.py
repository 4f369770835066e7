"""Several evaluations of the same cases as one, and in what else they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from review_advisor.core.evaluation.trials.manifest import ArmFacts, EvaluationManifest
from review_advisor.core.evaluation.trials.trial import CountedTrial

TrialsOf = tuple[EvaluationManifest, Sequence[CountedTrial]]


@dataclass(frozen=True, slots=True)
class BesideArm:
    """An arm under the name that it has beside others, what it is called in its own evaluation, and which that is."""

    facts: ArmFacts
    own_name: str
    evaluation: int


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All arms as if they were of one evaluation. ``differs``: in what the evaluations differ, a line each."""

    manifest: EvaluationManifest
    trials: tuple[CountedTrial, ...]
    arms: tuple[BesideArm, ...]
    differs: tuple[str, ...]


def side_by_side(evaluations: Sequence[TrialsOf]) -> SideBySide:
    """Evaluations that can be compared, beside one another.

    Arms of one name, as before and after a change of prompts, get the number of their evaluation before it.
    """
    times = Counter(arm.name for manifest, _ in evaluations for arm in manifest.arms)
    arms: list[BesideArm] = []
    trials: list[CountedTrial] = []
    for number, (manifest, told) in enumerate(evaluations, 1):
        names = {arm.name: f"{number}:{arm.name}" if times[arm.name] > 1 else arm.name for arm in manifest.arms}
        arms += [BesideArm(replace(arm, name=names[arm.name]), arm.name, number) for arm in manifest.arms]
        trials += [replace(each, trial=replace(each.trial, arm=names[each.trial.arm])) for each in told]
    together = replace(evaluations[0][0], arms=tuple(arm.facts for arm in arms))
    return SideBySide(together, tuple(trials), tuple(arms), tuple(_differs([each for each, _ in evaluations])))


def _differs(manifests: Sequence[EvaluationManifest]) -> Iterator[str]:
    told = [{"prompts": each.prompts, "prices of": each.prices, "version": each.version} for each in manifests]
    differing = [name for name in told[0] if len({each[name] for each in told}) > 1]
    for number, (manifest, facts) in enumerate(zip(manifests, told, strict=True), 1):
        yield ", ".join((f"{number}: {manifest.id}", *(f"{name} {facts[name] or 'none'}" for name in differing)))
    settings: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
    for arm in (arm for manifest in manifests for arm in manifest.arms):
        settings.setdefault(arm.name, set()).add((arm.settings, arm.models))
    yield from (f"The settings of {name} differ." for name, of_it in sorted(settings.items()) if len(of_it) > 1)
