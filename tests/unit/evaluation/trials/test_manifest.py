"""What an evaluation was of."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from review_advisor.lab.manifests import (
    ArmFacts,
    CaseShard,
    EvaluationManifest,
    ShardError,
    manifest_json,
    merged_manifest,
    read_manifest,
    why_not_comparable,
)
from review_advisor.lab.manifests import wanted_trials as wanted

WHOLE = EvaluationManifest(
    schema="evaluation.v1",
    answers="recorded",
    set_name="ours",
    set_digest="d" * 64,
    cases=("a", "b", "c", "d", "e"),
    arms=(ArmFacts("paired", "paired"), ArmFacts("executor-only", "executor")),
    repetitions=2,
)


def part(number: int, of: int = 2) -> EvaluationManifest:
    return replace(WHOLE, shard=CaseShard(number, of))


def test_shards_hold_every_review_once() -> None:
    together = [key for number in (1, 2, 3) for key in wanted(part(number, 3))]

    assert sorted(together) == sorted(wanted(WHOLE))
    assert {key.case for key in wanted(part(1, 3))} == {"a", "d"}


def test_it_reads_as_what_was_written_and_is_called_by_what_is_asked() -> None:
    assert read_manifest(manifest_json(WHOLE)) == WHOLE
    assert read_manifest(b"{}") is None
    assert replace(WHOLE, seed=18).id != WHOLE.id == replace(WHOLE, seed=17).id


@pytest.mark.parametrize(
    "other,says",
    [
        (
            replace(WHOLE, set_digest="e" * 64),
            "They are of different golden sets: ours (dddddddddddd) and",
        ),
        (replace(WHOLE, matching="2: by chance"), "Their findings were matched by different rules"),
        (replace(WHOLE, answers="live"), "Their answers are recorded and live."),
        (replace(WHOLE, repetitions=1), "Each case was reviewed 2 and 1 times by an arm."),
        (replace(WHOLE, cases=("a", "b")), "They are of different golden sets"),
        (replace(WHOLE, shard=CaseShard(2, 2)), "They are of different parts of the cases: shards 1/1 and 2/2."),
    ],
)
def test_what_cannot_be_compared_says_why(other: EvaluationManifest, says: str) -> None:
    assert (why_not_comparable(WHOLE, other) or "").startswith(says)


def test_other_arms_prompts_and_seeds_are_what_one_compares() -> None:
    assert why_not_comparable(WHOLE, replace(WHOLE, arms=(), prompts="2", seed=3)) is None


def test_two_disjoint_parts_of_one_set_are_not_compared() -> None:
    assert why_not_comparable(part(1), part(1)) is None
    assert "shards 1/2 and 2/2" in (why_not_comparable(part(1), part(2)) or "")


IMPOSSIBLE: Mapping[str, Mapping[str, object]] = {
    "cut into no part": {"shard": {"number": 1, "of": 0}},
    "the part before the first": {"shard": {"number": 0, "of": 2}},
    "a part beyond the last": {"shard": {"number": 3, "of": 2}},
    "without end": {"repetitions": 100_000_000_000},
    "never reviewed": {"repetitions": 0},
    "a case twice": {"cases": ["a", "a"]},
    "an arm twice": {"arms": [{"name": "x", "part": "other"}] * 2},
    "no arm": {"arms": []},
}


@pytest.mark.parametrize("told", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_no_evaluation_can_be_of_is_no_manifest(told: Mapping[str, object]) -> None:
    foreign = json.loads(manifest_json(WHOLE)) | told

    assert read_manifest(json.dumps(foreign).encode()) is None


def test_all_shards_together_are_the_whole() -> None:
    assert merged_manifest([part(2), part(1)]) == WHOLE


@pytest.mark.parametrize(
    "parts,says",
    [
        ([part(1, 3), part(3, 3)], "Missing: shard 2/3."),
        ([part(1), part(2), part(2)], "There twice: shard 2/2."),
        ([part(1), replace(part(2), seed=9)], "Shard 2/2 is of another evaluation than shard 1/2."),
        ([part(1), part(2, 3)], "Shard 2/3 is cut otherwise than shard 1/2."),
        ([], "There is nothing to merge."),
    ],
)
def test_parts_that_are_no_whole_are_refused_by_name(parts: list[EvaluationManifest], says: str) -> None:
    with pytest.raises(ShardError) as refusal:
        merged_manifest(parts)
    assert str(refusal.value) == says
