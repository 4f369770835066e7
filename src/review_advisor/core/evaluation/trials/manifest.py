"""What an evaluation was of, so that nobody compares two that cannot be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from review_advisor.core.evaluation.golden.golden_case import WIDEST
from review_advisor.core.evaluation.golden.matching import ALIKE, NEAR_ALIKE, NEAR_LINES
from review_advisor.core.evaluation.golden.same_words import LONGEST
from review_advisor.core.evaluation.trials.measures import ReviewSums
from review_advisor.core.evaluation.trials.trial import CountedTrial, TrialKey

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
        told = _MANIFEST.validate_json(text)
    except ValidationError:
        return None
    names = [arm.name for arm in told.arms]
    is_told_once = len(set(told.cases)) == len(told.cases) and len(set(names)) == len(names)
    return told if is_told_once and names and told.shard.number <= told.shard.of else None


def wanted(manifest: EvaluationManifest) -> Iterator[TrialKey]:
    """Every review that its shard is made of, case by case."""
    for case in manifest.cases[manifest.shard.number - 1 :: manifest.shard.of]:
        for arm in manifest.arms:
            for repetition in range(1, manifest.repetitions + 1):
                yield TrialKey(case, arm.name, repetition)


def in_order(manifest: EvaluationManifest, trials: Mapping[TrialKey, CountedTrial]) -> list[CountedTrial]:
    """The reviews that are wanted and there, in the order in which they are wanted."""
    return [trials[key] for key in wanted(manifest) if key in trials]


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


class ShardError(ValueError):
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
