"""A map of confidence has to earn its place on pull requests that it was not fitted on."""

from random import Random

import pytest
from tests.unit.evaluation.calibration.streams import Truth, flat, honest, overconfident, stream, timid

from review_advisor.lab.calibration import earned_map, ece


@pytest.mark.one_in(5)
@pytest.mark.parametrize("truth", [overconfident, flat, timid], ids=lambda each: each.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_a_map_of_confidence_that_misleads_recovers_the_truth(truth: Truth, seed: int) -> None:
    earned = earned_map(stream(seed, truth, 400), 400, Random(seed).randrange)

    assert earned.map is not None
    assert earned.interval is not None
    assert 0 < earned.interval.low < earned.interval.high
    fresh = stream(seed + 1_000, truth, 2_000)
    mapped = [(earned.map.of(each.confidence), bool(each.right)) for each in fresh]
    assert ece(mapped) <= 0.05
    wrong = [abs(earned.map.of(each.confidence) - truth(each.confidence)) for each in fresh]
    assert sum(wrong) / len(wrong) <= 0.10


@pytest.mark.every_case
def test_a_map_of_honest_confidence_is_refused_in_95_of_100_seeds() -> None:
    refused = sum(earned_map(stream(seed, honest, 150), 400, Random(seed).randrange).map is None for seed in range(100))

    assert refused >= 95, refused


def test_a_refusal_says_why() -> None:
    few, honestly = stream(1, overconfident, 20), stream(1, honest, 150)
    one_pull = [*stream(1, overconfident, 1)] * 200
    draw = Random(1).randrange

    assert earned_map(few, 400, draw).because == f"{len(few)} labels are fewer than 200"
    assert earned_map(one_pull, 400, draw).because == "1 pull requests are fewer than 10"
    assert earned_map(honestly, 400, draw).because == "its gain on held-out pull requests does not exclude 0"


def test_findings_of_one_pull_request_are_one_case() -> None:
    """Ten pull requests that are each wholly right or wholly wrong prove little, however many findings they have."""
    one_each = stream(3, overconfident, 60)
    repeated = [each for each in one_each[:12] for _ in range(40)]

    assert earned_map(repeated, 400, Random(1).randrange).map is None


def test_the_same_seed_earns_the_same() -> None:
    one, other = (earned_map(stream(4, overconfident, 100), 400, Random(2).randrange) for _ in range(2))

    assert one == other
