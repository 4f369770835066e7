"""What an evaluation asks: arms, cases, shards, and which reviews are still missing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from review_advisor.lab.golden_cases import WIDEST
from review_advisor.lab.matching import ALIKE, LONGEST, NEAR_ALIKE, NEAR_LINES
from review_advisor.lab.trials import CountedTrial, ReviewSums, Trial, TrialKey
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.switches import DEFAULT_ADVISOR_MODEL, DEFAULT_EXECUTOR_MODEL, MASTER, model_variables
from review_advisor.safety.stop import Refusal

AnswerSource = Literal["simulated", "embedded", "recorded", "live"]


ArmPart = Literal["executor", "advisor", "paired", "council", "other"]
"""``executor`` and ``advisor`` are one model alone, the cheap and the dear one; ``other`` takes no part in a gate."""


MATCHING = (
    f"3: one to one, {NEAR_LINES} lines near with words alike from {NEAR_ALIKE}, of {WIDEST} at most,"
    f" words of {LONGEST} signs alike from {ALIKE}"
)
"""The rules by which findings are held against labels. A change of the rules is a change of this text."""


_Repetitions = Annotated[int, Field(ge=1, le=20)]


_Shards = Annotated[int, Field(ge=1, le=9_999)]


@dataclass(frozen=True, slots=True)
class ArmFacts:
    """One arm: ``settings`` are the digest of its configuration, ``models`` whom it asks."""

    name: str
    part: ArmPart
    settings: str = ""
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseShard:
    """Part ``number`` of ``of``, from 1: every ``of``-th case."""

    number: _Shards = 1
    of: _Shards = 1

    @property
    def words(self) -> str:
        """As ``--shard`` takes it."""
        return f"{self.number}/{self.of}"


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class EvaluationManifest:
    """What was evaluated. ``cases`` are the ids of the whole set; ``prices`` is the date of the list of prices.

    ``recordings`` is a digest of recorded answers, ``chance`` what a reviewer gets on the whole set by chance.
    """

    schema: Literal["evaluation.v1"]
    answers: AnswerSource
    set_name: str
    set_digest: str
    cases: tuple[str, ...]
    arms: tuple[ArmFacts, ...]
    repetitions: _Repetitions = 1
    seed: int = 17
    prompts: str = ""
    prices: str = ""
    version: str = ""
    matching: str = MATCHING
    shard: CaseShard = CaseShard()
    recordings: str = ""
    chance: ReviewSums | None = None

    @property
    def id(self) -> str:
        """The same for the same question: an evaluation that is asked again goes on where it was."""
        return f"eval_{hashlib.sha256(manifest_json(self)).hexdigest()[:12]}"


_MANIFEST = TypeAdapter(EvaluationManifest)


def manifest_json(manifest: EvaluationManifest) -> bytes:
    """For ``manifest.json``."""
    return _MANIFEST.dump_json(manifest, indent=2) + b"\n"


def read_manifest(text: bytes) -> EvaluationManifest | None:
    """The manifest in a file; None if it holds none, or one that no evaluation can have."""
    try:
        manifest = _MANIFEST.validate_json(text)
    except ValidationError:
        return None
    names = [arm.name for arm in manifest.arms]
    is_unique = len(set(manifest.cases)) == len(manifest.cases) and len(set(names)) == len(names)
    return manifest if is_unique and names and manifest.shard.number <= manifest.shard.of else None


def wanted_trials(manifest: EvaluationManifest) -> Iterator[TrialKey]:
    """Every review that its shard is made of, case by case."""
    for case in manifest.cases[manifest.shard.number - 1 :: manifest.shard.of]:
        for arm in manifest.arms:
            for repetition in range(1, manifest.repetitions + 1):
                yield TrialKey(case, arm.name, repetition)


def in_order(manifest: EvaluationManifest, trials: Mapping[TrialKey, CountedTrial]) -> list[CountedTrial]:
    """The reviews that are wanted and there, in the order in which they are wanted."""
    return [trials[key] for key in wanted_trials(manifest) if key in trials]


def why_not_comparable(one: EvaluationManifest, other: EvaluationManifest) -> str | None:
    """Why two evaluations cannot be compared, in one sentence; None if they can."""
    if (one.set_digest, one.cases) != (other.set_digest, other.cases):
        sets = [f"{each.set_name} ({each.set_digest[:12]})" for each in (one, other)]
        return f"They are of different golden sets: {' and '.join(sets)}."
    if one.matching != other.matching:
        return f"Their findings were matched by different rules: {one.matching!r} and {other.matching!r}."
    if one.answers != other.answers:
        return f"Their answers are {one.answers} and {other.answers}."
    if one.repetitions != other.repetitions:
        return f"Each case was reviewed {one.repetitions} and {other.repetitions} times by an arm."
    if one.shard != other.shard:
        return f"They are of different parts of the cases: shards {one.shard.words} and {other.shard.words}."
    return None


class ShardError(Refusal, ValueError):
    """Parts that are no whole. One sentence."""


def merged_manifest(parts: Sequence[EvaluationManifest]) -> EvaluationManifest:
    """The manifest of all parts as one. Raises ``ShardError``: it names what is missing, twice or of another whole."""
    if not parts:
        raise ShardError("There is nothing to merge.")
    whole = replace(parts[0], shard=CaseShard())
    for each in parts[1:]:
        if replace(each, shard=CaseShard()) != whole:
            raise ShardError(f"Shard {each.shard.words} is of another evaluation than shard {parts[0].shard.words}.")
        if each.shard.of != parts[0].shard.of:
            raise ShardError(f"Shard {each.shard.words} is cut otherwise than shard {parts[0].shard.words}.")
    numbers = [each.shard.number for each in parts]
    twice = sorted({each for each in numbers if numbers.count(each) > 1})
    missing = sorted(set(range(1, parts[0].shard.of + 1)) - set(numbers))
    if twice:
        raise ShardError(f"There twice: {_shards(twice, parts[0].shard.of)}.")
    if missing:
        raise ShardError(f"Missing: {_shards(missing, parts[0].shard.of)}.")
    return whole


def _shards(numbers: Iterable[int], of: int) -> str:
    return ", ".join(f"shard {number}/{of}" for number in numbers)


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
        settings = json.dumps([sorted(self.environment.items()), self.config, *files])
        return ArmFacts(self.name, self.part, hashlib.sha256(settings.encode()).hexdigest()[:12], self.models)


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
    for number, (manifest, of_it) in enumerate(evaluations, 1):
        names = {arm.name: f"{number}:{arm.name}" if times[arm.name] > 1 else arm.name for arm in manifest.arms}
        arms += [BesideArm(replace(arm, name=names[arm.name]), arm.name, number) for arm in manifest.arms]
        trials += [replace(each, trial=replace(each.trial, arm=names[each.trial.arm])) for each in of_it]
    together = replace(evaluations[0][0], arms=tuple(arm.facts for arm in arms))
    return SideBySide(together, tuple(trials), tuple(arms), tuple(_differs([each for each, _ in evaluations])))


def _differs(manifests: Sequence[EvaluationManifest]) -> Iterator[str]:
    every = [{"prompts": each.prompts, "prices of": each.prices, "version": each.version} for each in manifests]
    differing = [name for name in every[0] if len({each[name] for each in every}) > 1]
    for number, (manifest, facts) in enumerate(zip(manifests, every, strict=True), 1):
        yield ", ".join((f"{number}: {manifest.id}", *(f"{name} {facts[name] or 'none'}" for name in differing)))
    settings: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
    for arm in (arm for manifest in manifests for arm in manifest.arms):
        settings.setdefault(arm.name, set()).add((arm.settings, arm.models))
    yield from (f"The settings of {name} differ." for name, of_it in sorted(settings.items()) if len(of_it) > 1)


_NO_ANSWER = ("lost", "refused")


def is_settled(manifest: EvaluationManifest, kept: CountedTrial) -> bool:
    """Whether a result is not asked for again. A review without an answer may get one; a recorded one cannot change."""
    return manifest.answers in ("recorded", "simulated") or kept.trial.status not in _NO_ANSWER


def interrupted(key: TrialKey) -> Trial:
    """A review that was begun and did not come to its end: nobody knows what it cost."""
    return Trial(*key, "none", "lost", why="It was interrupted.")


def spent_on(tries: Iterable[CountedTrial], unknown_usd: float) -> float:
    """US dollars of all tries. One whose cost nobody knows counts as ``unknown_usd``."""
    return sum(unknown_usd if each.trial.usd is None else each.trial.usd for each in tries)


@dataclass(frozen=True, slots=True)
class UnansweredArm:
    """An arm of whose ``reviews`` some got no answer, and the most frequent reason."""

    arm: str
    unanswered: int
    reviews: int
    why: str

    @property
    def is_silent(self) -> bool:
        """Whether it answered nothing at all: its measures say nothing of it."""
        return self.unanswered == self.reviews


def unanswered_arms(manifest: EvaluationManifest, trials: Sequence[CountedTrial]) -> tuple[UnansweredArm, ...]:
    """The arms that lack an answer, in their order."""
    found = []
    for arm in manifest.arms:
        its = [each.trial for each in trials if each.trial.arm == arm.name]
        reasons = Counter(each.why for each in its if each.status in _NO_ANSWER)
        if reasons:
            found.append(UnansweredArm(arm.name, reasons.total(), len(its), reasons.most_common(1)[0][0]))
    return tuple(found)
