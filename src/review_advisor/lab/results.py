"""What a whole evaluation comes to: a result for each arm, as a table and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import isfinite
from typing import Any, Literal

from review_advisor.lab.gates import (
    COST_SHARE,
    POINTS,
    Estimate,
    GateVerdict,
    Sampled,
    cost_gate,
    estimate,
    sampled,
    ship_gate,
)
from review_advisor.lab.manifests import ArmFacts, EvaluationManifest
from review_advisor.lab.sampling import Draw
from review_advisor.lab.simulated_reviewers import LABEL
from review_advisor.lab.trials import MEASURES, CountedTrial, Measure, ReviewSums
from review_advisor.safety.wording import counted, printable_line, table

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
                turned(trials, arm, _alone_of(arm, "executor", manifest.arms, evaluations or {})),
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
    named = [each.name for each in arms if each.part == part]
    own = evaluations.get(arm.name)
    return min((*alike, *named), key=lambda name: evaluations.get(name) != own, default=None)


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


GATE_WORDS = {
    "ship": f"ship gate of advisor-pattern-v2 (within {POINTS * 100:.0f} points, under {COST_SHARE:.0%} of the cost)",
    "cost_of_correct": "corrected gate (dollars for a correct review, against the cheapest single model)",
}


ANSWER_WORDS = {"not_applicable": "NOT APPLICABLE", "pass": "PASS", "fail": "FAIL", "undecided": "UNDECIDED"}


def result_text(result: EvaluationResult) -> str:
    """The table of all arms, then the gates, each line with its reason."""
    manifest = result.manifest
    of = f"{counted(len(manifest.cases), 'case')} in {counted(result.groups, 'group')}"
    times = f"each reviewed {counted(manifest.repetitions, 'time')} by an arm"
    lines = [
        f"{manifest.id}: {printable_line(manifest.set_name)}, {of}, {times}",
        f"Answers: {answers_words(result)}",
        *map(printable_line, result.differs),
        "",
        *table(table_rows(result.arms)).splitlines(),
        "",
        *_by_chance(manifest.chance),
        *(line for arm in result.arms for line in besides(arm)),
        *(line for gate in result.gates for line in _gate_lines(gate)),
        f"Brackets: the middle 95% of {result.samples:,} samples of whole groups, the same for all arms.",
    ]
    return "\n".join(lines) + "\n"


def answers_words(result: EvaluationResult) -> str:
    """Where the answers come from, in words that nobody can take for a measurement of models."""
    match result.manifest.answers:
        case "simulated":
            return f"{LABEL}. No model answered: this is a test of the scoring."
        case "embedded":
            return "the embedded agent, with static checks. No model answered."
        case "recorded":
            return "recorded."
        case "live":
            return "models."


def table_rows(arms: Sequence[ArmResult]) -> list[list[str]]:
    """The cells: first the names of the arms, then a row for each measure, and where it is known its truth."""
    rows = [["", *(printable_line(arm.name) for arm in arms)]]
    for measure in MEASURES:
        rows.append([measure.words, *(_cell(arm.measures[measure.name], measure) for arm in arms)])
        if any(arm.truth for arm in arms):
            truths = [_value(arm.truth.get(measure.name), measure) for arm in arms]
            rows.append(["  its truth", *truths])
    return rows


def _cell(found: Estimate, measure: Measure) -> str:
    value = _value(found.value, measure)
    if found.interval is None:
        return value
    return f"{value} [{_value(found.interval.low, measure)}, {_value(found.interval.high, measure)}]"


def _value(value: float | None, measure: Measure) -> str:
    if value is None:
        return "-"
    if not isfinite(value):
        return "none correct"
    return f"{value:.4f}" if measure.is_usd else f"{value:.3f}"


def besides(arm: ArmResult) -> Iterator[str]:
    """What its measures do not say: which reviews were lost, what nobody can tell, and how much is noise."""
    sums, name = arm.sums, printable_line(arm.name)
    if sums.lost:
        lost = f"{counted(int(sums.lost), 'review')} of {int(sums.reviews)}"
        yield f"{name}: {lost} got no answer and count as not found."
    if arm.degraded:
        degraded = f"{counted(arm.degraded, 'review')} of {int(sums.reviews)}"
        yield f"{name}: {degraded} ended without a judgement that was due, and count as they are."
    if sums.unknown:
        yield f"{name}: nobody can tell of {counted(int(sums.unknown), 'finding')} whether they are right."
    if sums.refuted:
        yield f"{name}: people found {counted(int(sums.refuted), 'finding')} wrong before."
    if sums.decidable < sums.reviews:
        undecidable = f"{counted(int(sums.reviews - sums.decidable), 'review')} of {int(sums.reviews)}"
        yield f"{name}: nobody can tell of {undecidable} what is correct: their cases have no label."
    if arm.turned is not None and arm.turned.pairs:
        turned, of = arm.turned, counted(arm.turned.pairs, "review")
        yield (
            f"{name}: advice turned {turned.right} wrong right and {turned.wrong} right wrong, of {of} that "
            f"{printable_line(turned.alone)} answered as well."
        )
    if arm.repeated.pairs:
        word = "at" if arm.repeated.is_quiet else "BELOW"
        yield (
            f"{name}: {arm.repeated.alike} of {arm.repeated.pairs} repetitions agree with the one before, {word} the "
            f"noise floor of {AGREEMENT:.0%}."
        )


def _by_chance(sums: ReviewSums | None) -> Iterator[str]:
    """What an arm has to beat before it says anything."""
    if sums is not None:
        measured = ", ".join(f"{each.words} {_value(each.of(sums), each)}" for each in MEASURES if not each.is_usd)
        yield f"By chance (one remark on any new line of each case, and changes requested): {measured}."


def _gate_lines(gate: GateVerdict) -> Iterator[str]:
    yield f"{ANSWER_WORDS[gate.answer]}: {printable_line(gate.arm)}, {GATE_WORDS[gate.gate]}"
    for each in gate.conditions:
        yield f"    {ANSWER_WORDS[each.answer].lower()}: {printable_line(each.asks)}: {printable_line(each.why)}"
    if gate.advice:
        yield f"    {printable_line(gate.advice)}"


def result_json(result: EvaluationResult) -> dict[str, Any]:
    """Every number of the table. A value that cannot be told is null."""
    manifest = result.manifest
    return {
        "schema": "evaluation-result.v1",
        "id": manifest.id,
        "answers": manifest.answers,
        "label": answers_words(result),
        "set": {"name": manifest.set_name, "digest": manifest.set_digest, "cases": len(manifest.cases)},
        "groups": result.groups,
        "samples": result.samples,
        **({"differs": list(result.differs)} if result.differs else {}),
        "arms": [
            {
                "name": arm.name,
                "reviews": arm.sums.reviews,
                "lost": arm.sums.lost,
                "degraded": arm.degraded,
                "unknown": arm.sums.unknown,
                "refuted": arm.sums.refuted,
                "decidable": arm.sums.decidable,
                "measures": {each.name: _estimate_json(arm, each.name) for each in MEASURES},
                "turned": None if arm.turned is None else asdict(arm.turned),
                "repeated": {"alike": arm.repeated.alike, "pairs": arm.repeated.pairs},
            }
            for arm in result.arms
        ],
        **(
            {}
            if manifest.chance is None
            else {"chance": {each.name: _number(each.of(manifest.chance)) for each in MEASURES if not each.is_usd}}
        ),
        "gates": [
            {
                "gate": gate.gate,
                "arm": gate.arm,
                "against": gate.against,
                "answer": gate.answer,
                "conditions": [{"asks": c.asks, "answer": c.answer, "why": c.why} for c in gate.conditions],
                "advice": gate.advice,
            }
            for gate in result.gates
        ],
    }


def _estimate_json(arm: ArmResult, name: str) -> dict[str, Any]:
    found = arm.measures[name]
    form: dict[str, Any] = {"value": _number(found.value), "low": None, "high": None}
    if found.interval is not None:
        form |= {"low": _number(found.interval.low), "high": _number(found.interval.high)}
    return form | ({"truth": _number(arm.truth[name])} if name in arm.truth else {})


def _number(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else round(value, 6)
