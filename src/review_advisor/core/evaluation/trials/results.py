"""What an evaluation comes to: each arm's measures with their intervals, its gates, and how far a repetition agrees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from review_advisor.core.evaluation.judged_change import Draw
from review_advisor.core.evaluation.trials.gates import GateVerdict, cost_gate, ship_gate
from review_advisor.core.evaluation.trials.group_samples import Estimate, Sampled, estimate, sampled
from review_advisor.core.evaluation.trials.manifest import ArmFacts, EvaluationManifest
from review_advisor.core.evaluation.trials.measures import MEASURES, ReviewSums
from review_advisor.core.evaluation.trials.trial import CountedTrial

AGREEMENT = 0.95
"""The noise floor: of the same candidate asked twice, so large a share should agree."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """How often two repetitions of a review agree: in their verdict, and in the labels that they found."""

    alike: int
    pairs: int

    @property
    def is_quiet(self) -> bool:
        """Whether a difference between arms is more than the noise of one."""
        return self.pairs > 0 and self.alike >= AGREEMENT * self.pairs


@dataclass(frozen=True, slots=True)
class Turned:
    """What advice turned, beside the same reviews by the executor alone: ``pairs`` are those that both answered."""

    alone: str
    right: int
    wrong: int
    pairs: int


@dataclass(frozen=True, slots=True)
class ArmResult:
    """One arm. ``truth``: the true measures where reviewers are simulated.

    ``degraded``: reviews that ended without a judgement that was due. ``turned``: None where no executor is alone.
    """

    name: str
    sums: ReviewSums
    measures: Mapping[str, Estimate]
    repeated: Repeated
    truth: Mapping[str, float | None] = field(default_factory=dict)
    degraded: int = 0
    turned: Turned | None = None


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """All arms in the order of the manifest. ``groups``: how many groups of cases; ``samples``: drawn of them.

    ``sampled``: each arm in these samples, by its name. ``differs``: of several evaluations beside one another, in what
    they differ.
    """

    manifest: EvaluationManifest
    arms: tuple[ArmResult, ...]
    gates: tuple[GateVerdict, ...]
    groups: int
    samples: int
    sampled: Mapping[str, Sampled]
    differs: tuple[str, ...] = ()


def evaluation_result(
    manifest: EvaluationManifest,
    trials: Sequence[CountedTrial],
    samples: int,
    draw: Draw,
    truth: Mapping[str, ReviewSums] | None = None,
    *,
    evaluations: Mapping[str, int] | None = None,
) -> EvaluationResult:
    """The measures of all arms over the same samples of groups, and the two gates of each advised arm.

    ``evaluations`` says of which evaluation each arm is, where several are beside one another.
    """
    drawn = sampled(by_group(manifest, trials), samples, draw)
    expected = truth or {}
    return EvaluationResult(
        manifest,
        tuple(
            ArmResult(
                arm.name,
                drawn[arm.name].whole,
                {each.name: estimate(drawn[arm.name], each) for each in MEASURES},
                repeated(each for each in trials if each.trial.arm == arm.name),
                {each.name: each.of(expected[arm.name]) for each in MEASURES} if arm.name in expected else {},
                sum(each.trial.arm == arm.name and each.trial.status == "degraded" for each in trials),
                turned(trials, arm, _alone_of(arm, "executor", manifest.arms, evaluations or {})),
            )
            for arm in manifest.arms
        ),
        tuple(gates(manifest, drawn, evaluations or {})),
        len({each.group for each in trials}),
        samples,
        drawn,
    )


def by_group(manifest: EvaluationManifest, trials: Iterable[CountedTrial]) -> dict[str, dict[str, ReviewSums]]:
    """Of each arm the sums by group."""
    sums: dict[str, dict[str, ReviewSums]] = {arm.name: defaultdict(ReviewSums) for arm in manifest.arms}
    for each in trials:
        sums[each.trial.arm][each.group] += each.sums
    return sums


def gates(
    manifest: EvaluationManifest, drawn: Mapping[str, Sampled], evaluations: Mapping[str, int]
) -> list[GateVerdict]:
    """Both gates of each paired arm and each council, side by side."""
    singles = [arm.name for arm in manifest.arms if arm.part in ("executor", "advisor")]
    return [
        verdict
        for arm in manifest.arms
        if arm.part in ("paired", "council")
        for verdict in (
            ship_gate(drawn, arm.name, _alone_of(arm, "advisor", manifest.arms, evaluations)),
            cost_gate(drawn, arm.name, singles),
        )
    ]


def _alone_of(
    arm: ArmFacts, part: Literal["executor", "advisor"], arms: Sequence[ArmFacts], evaluations: Mapping[str, int]
) -> str | None:
    """The arm that is its executor or its advisor alone: the one that asks the same model, or the one that says so.

    One of its own evaluation is taken before one of another.
    """
    model = arm.models[:1] if part == "executor" else arm.models[-1:]
    alike = [each.name for each in arms if model and each.models == model]
    said = [each.name for each in arms if each.part == part]
    own = evaluations.get(arm.name)
    return min((*alike, *said), key=lambda name: evaluations.get(name) != own, default=None)


def turned(trials: Iterable[CountedTrial], arm: ArmFacts, alone: str | None) -> Turned | None:
    """Of an advised arm, how many reviews are right that the executor ``alone`` has wrong, and the other way round."""
    if alone is None or arm.part not in ("paired", "council"):
        return None
    answered = {each.trial.key: each.sums for each in trials if each.sums.decidable and not each.sums.lost}
    pairs = [
        (sums.correct, answered[key._replace(arm=alone)].correct)
        for key, sums in answered.items()
        if key.arm == arm.name and key._replace(arm=alone) in answered
    ]
    return Turned(
        alone, sum(now > before for now, before in pairs), sum(now < before for now, before in pairs), len(pairs)
    )


def repeated(trials: Iterable[CountedTrial]) -> Repeated:
    """How often the repetitions of one arm agree, each with the one before it."""
    by_case: dict[str, list[CountedTrial]] = defaultdict(list)
    for each in trials:
        by_case[each.trial.case].append(each)
    alike = pairs = 0
    for of_case in by_case.values():
        ordered = sorted(of_case, key=lambda each: each.trial.repetition)
        for one, other in pairwise(ordered):
            pairs += 1
            alike += (one.trial.verdict, one.found) == (other.trial.verdict, other.found)
    return Repeated(alike, pairs)
