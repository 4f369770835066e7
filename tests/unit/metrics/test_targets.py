"""The thresholds of rollups and alerts, as the record of decisions and the guide for operators state them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from review_advisor.ledger.kpis import (
    CONSULT_RATE,
    CONSULT_SHARE,
    DEGRADED,
    MISSED_ESCALATIONS,
    NO_TARGET,
    RULES,
    SELF_REPAIR,
    VALIDATED,
    WALL_CLOCK,
    Target,
    Unit,
    format_value,
)


def test_every_alert_has_its_window_its_limit_and_its_least_number_of_cases() -> None:
    day, week = timedelta(days=1), timedelta(days=7)
    assert [(rule.name, rule.kpi, rule.window, rule.allowed, rule.least) for rule in RULES] == [
        ("consult-share", "consult_share", day, Target(high=0.3), 10),
        ("consult-flood", "consult_rate", day, Target(high=0.3), 10),
        ("consult-collapse", "consult_rate", week, Target(low=0.01), 100),
        ("degraded", "degraded_share", day, Target(high=0.1), 10),
        ("self-repair", "self_repair", week, Target(low=0.7), 10),
    ]
    assert all(rule.means.endswith(".") for rule in RULES)


@pytest.mark.parametrize(
    "target, unit, words",
    [
        (SELF_REPAIR, "share", ">= 70.0%"),
        (VALIDATED, "share", "> 0.0%"),
        (WALL_CLOCK, "times", "< 1.50 x"),
        (CONSULT_SHARE, "share", "8.0% to 15.0%"),
        (CONSULT_RATE, "share", "8.0% to 15.0%"),
        (DEGRADED, "share", "<= 10.0%"),
        (MISSED_ESCALATIONS, "share", "< 5.0%"),
        (NO_TARGET, "number", "-"),
    ],
)
def test_a_target_is_told_in_one_form(target: Target, unit: Unit, words: str) -> None:
    assert target.words(unit) == words


@pytest.mark.parametrize(
    "target, holding",
    [
        (Target(1, 3), {1, 2, 3}),
        (Target(1, 3, strictly=True), {2}),
        (Target(low=1), {1, 2, 3, 4}),
        (Target(low=1, strictly=True), {2, 3, 4}),
        (Target(high=3), {0, 1, 2, 3}),
        (Target(high=3, strictly=True), {0, 1, 2}),
        (Target(), {0, 1, 2, 3, 4}),
    ],
)
def test_the_ends_of_a_target_belong_to_it_unless_it_is_strict(target: Target, holding: set[int]) -> None:
    assert {value for value in range(5) if target.holds(value)} == holding


def test_a_value_is_shown_with_its_unit() -> None:
    told = [format_value(1.25, unit) for unit in ("share", "times", "per 1,000", "number")]
    assert told == ["125.0%", "1.25 x", "1.2 per 1,000", "1.25"]
