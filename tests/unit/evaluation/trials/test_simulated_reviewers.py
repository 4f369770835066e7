"""Simulated reviewers: what is scored of them lies around a truth that is known."""

from collections import Counter
from random import Random

import pytest

from review_advisor.core.evaluation.trials.group_samples import FEW_GROUPS, estimate, sampled
from review_advisor.core.evaluation.trials.measures import MEASURES, ReviewSums, total
from review_advisor.core.evaluation.trials.simulated_reviewers import (
    SIMULATED,
    SimulatedReviewer,
    difficulties,
    simulated_set,
    simulated_trial,
    true_sums,
)
from review_advisor.core.evaluation.trials.trial import count

REVIEWERS = (SIMULATED[0], SIMULATED[2])


def drawn(reviewer: SimulatedReviewer, seed: int, groups: int) -> dict[str, ReviewSums]:
    """What one reviewer comes to in each group of a set that is drawn anew."""
    draw = Random(seed).randrange
    cases = simulated_set(groups, draw)
    hard = difficulties(cases, draw)
    sums: dict[str, ReviewSums] = {}
    for case in cases.cases:
        trial = count(case, simulated_trial(reviewer, case, 1, hard[case.group], draw))
        sums[case.group] = sums.get(case.group, ReviewSums()) + trial.sums
    return sums


@pytest.mark.parametrize("reviewer", SIMULATED, ids=lambda each: each.name)
@pytest.mark.every_case
def test_of_very_many_cases_every_measure_is_its_truth(reviewer: SimulatedReviewer) -> None:
    """The truth is computed without a draw; this draws 6,000 cases."""
    whole, truth = total(drawn(reviewer, 2, 2_000).values()), true_sums(reviewer)

    for measure in MEASURES:
        assert measure.of(whole) == pytest.approx(measure.of(truth), rel=0.05, abs=0.02), measure.name


def covered_shares(groups: int, seeds: int) -> dict[str, float]:
    """Of each measure: in which share of the samples that give it an interval its truth lies inside."""
    covered: Counter[str] = Counter()
    told: Counter[str] = Counter()
    truth = {each.name: true_sums(each) for each in REVIEWERS}
    for seed in range(seeds):
        arms = {each.name: drawn(each, seed, groups) for each in REVIEWERS}
        for name, arm in sampled(arms, 400, Random(seed).randrange).items():
            for measure in MEASURES:
                found, true = estimate(arm, measure).interval, measure.of(truth[name])
                assert true is not None
                if found is not None:
                    told[measure.name] += 1
                    covered[measure.name] += found.low <= true <= found.high
    return {each.name: round(covered[each.name] / told[each.name], 3) for each in MEASURES}


@pytest.mark.every_case
def test_over_200_seeds_the_intervals_cover_the_truth_in_90_to_98_of_100_cases() -> None:
    shares = covered_shares(40, 200)

    assert all(0.90 <= share <= 0.98 for share in shares.values()), shares


@pytest.mark.every_case
def test_from_as_few_groups_as_decide_a_gate_the_intervals_are_rather_too_wide() -> None:
    shares = covered_shares(FEW_GROUPS, 200)

    assert all(share >= 0.95 for share in shares.values()), shares


def test_the_same_seed_draws_the_same() -> None:
    assert drawn(SIMULATED[0], 5, 10) == drawn(SIMULATED[0], 5, 10)
    assert drawn(SIMULATED[0], 5, 10) != drawn(SIMULATED[0], 6, 10)
