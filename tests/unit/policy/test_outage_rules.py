"""The brake that all calls of a review share."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from review_advisor.policy.outage_rules import Brake

FREE = Brake(most=4, places=4)


def test_a_rate_limit_halves_the_calls_at_a_time_and_pauses_all() -> None:
    pulled = FREE.pulled(began=0, now=10)
    assert (pulled.places, pulled.not_before) == (2, 25)
    assert [pulled.delay(now, running=0) for now in (10, 24, 25)] == [15, 1, 0]
    assert [pulled.delay(30, running) for running in (0, 1, 2, 3)] == [0, 0, 1, 1]


def test_calls_of_one_burst_pull_it_once() -> None:
    once = FREE.pulled(began=0, now=10)
    assert once.pulled(began=0, now=11) == once
    assert once.pulled(began=24, now=40) == once


def test_pauses_grow_while_the_limit_lasts_and_never_without_end() -> None:
    brake, now, pauses = FREE, 0.0, []
    for _ in range(7):
        brake = brake.pulled(began=now, now=now)
        pauses.append(brake.not_before - now)
        now = brake.not_before
    assert pauses == [15, 30, 60, 120, 240, 240, 240]
    assert brake.places == 1


def test_each_answer_lets_one_more_call_run_and_makes_the_next_pause_short() -> None:
    slow = replace(FREE, places=1, not_before=100, pause=120)
    assert slow.eased(began=100) == replace(slow, places=2, pause=15)
    assert slow.eased(began=99) == slow, "an answer to a call from before the pause says nothing of the limit"
    assert FREE.eased(began=0) is FREE


@pytest.mark.parametrize("seed", range(50))
def test_whatever_happens_some_call_may_run_and_never_more_than_may(seed: int) -> None:
    dice, now = random.Random(seed), 0.0
    brake = Brake(most=dice.randint(1, 16), places=1)
    for _ in range(200):
        now += dice.uniform(0, 60)
        began = now - dice.uniform(0, 60)
        brake = brake.pulled(began, now) if dice.random() < 0.5 else brake.eased(began)
        assert 1 <= brake.places <= brake.most
        assert brake.delay(brake.not_before, running=0) == 0
        assert brake.delay(now, running=0) <= 240 + 1e-6
