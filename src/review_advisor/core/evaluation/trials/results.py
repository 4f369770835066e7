"""What an evaluation comes to: each arm's measures with their intervals, its gates, and how far a repetition agrees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

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
class ArmResult:
    """One arm. ``truth``: the true measures where reviewers are simulated.

    ``degraded``: reviews that ended without a judgement that was due.
    """

    name: str
    sums: ReviewSums
    measures: Mapping[str, Estimate]
    repeated: Repeated
    truth: Mapping[str, float | None] = field(default_factory=dict)
    degraded: int = 0


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """All arms in the order of the manifest. ``groups``: how many groups of cases; ``samples``: drawn of them.

    ``differs``: of several evaluations beside one another, in what they differ.
    """

    manifest: EvaluationManifest
    arms: tuple[ArmResult, ...]
    gates: tuple[GateVerdict, ...]
    groups: int
    samples: int
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
            )
            for arm in manifest.arms
        ),
        tuple(gates(manifest, drawn, evaluations or {})),
        len({each.group for each in trials}),
        samples,
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
            ship_gate(drawn, arm.name, _advisor_of(arm, manifest.arms, evaluations)),
            cost_gate(drawn, arm.name, singles),
        )
    ]


def _advisor_of(arm: ArmFacts, arms: Sequence[ArmFacts], evaluations: Mapping[str, int]) -> str | None:
    """The arm that is its advisor alone: the one that asks the same model, or the one that says so.

    One of its own evaluation is taken before one of another.
    """
    alike = [each.name for each in arms if arm.models and each.models == arm.models[-1:]]
    said = [each.name for each in arms if each.part == "advisor"]
    own = evaluations.get(arm.name)
    return min((*alike, *said), key=lambda name: evaluations.get(name) != own, default=None)


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
