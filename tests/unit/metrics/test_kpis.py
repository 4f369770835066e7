"""The KPIs: what they are of which sums, what is said where nothing is known, and when an alert is raised."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import pytest

from review_advisor.ledger.kpis import (
    DAY,
    DEGRADED,
    RULES,
    SELF_REPAIR,
    WEEK,
    Alarm,
    Kpi,
    Rollup,
    Sums,
    Target,
    alarms,
    alarms_text,
    format_value,
    kpis,
    rollup_text,
    windows,
)
from review_advisor.policy.prices import Money, Price, Unpriced, money

RULES_FOR_PROMETHEUS = Path(__file__).parents[3] / "docs" / "observability" / "prometheus-rules.yml"

HEALTHY = Sums(
    runs=1_030,
    unfinished=10,
    stopped=20,
    judged=1_000,
    advised=1_000,
    consulting=100,
    degraded=50,
    vetoed=100,
    recovered=80,
    exhausted=15,
    contested=7,
    executor_tokens=400_000,
    advisor_tokens=600_000,
    consult_tokens=100_000,
    executor_turns=9_000,
    executor_calls=1_200,
    prompt_tokens=80_000_000,
    cached_tokens=60_000_000,
    timed=900,
    wall_ms=60_000,
    executor_ms=50_000,
    labelled=20,
    proved=12,
    merged_approvals=50,
    missed=1,
    escalations=5,
    overridden=2,
    heard=40,
    comments=100,
    acted_on=60,
    dismissed=10,
    thumbs_up=9,
    thumbs_down=3,
)
PRICE = Price("opus", date(2026, 1, 1), input=4, output=20, cache_read=0.2, cache_write=5)
CHEAPER = replace(PRICE, since=date(2026, 2, 1), cache_read=0.1)


def kpi(name: str, sums: Sums) -> Kpi:
    return next(each for each in kpis(sums) if each.name == name)


def alarm(name: str, *, day: Sums = HEALTHY, week: Sums = HEALTHY) -> Alarm:
    return next(each for each in alarms({DAY: day, WEEK: week}) if each.rule.name == name)


def used(model: str = "opus", day: date = date(2026, 1, 15), tokens: int = 1_000_000) -> Unpriced:
    return Unpriced(model, day, 2, tokens, tokens, tokens, tokens)


# --- values and targets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value, judgement, cases",
    [
        ("self_repair", 0.8, "met", 100),
        ("wall_clock", 1.2, "met", 900),
        ("consult_share", 0.1, "met", 1_030),
        ("assurance_share", 0.5, "no target", 1_030),
        ("comments", 2.5, "no target", 40),
        ("acted_on", 0.6, "no target", 100),
        ("dismissed", 0.1, "no target", 100),
        ("thumbs_up", 0.75, "no target", 12),
        ("executor_turns", 7.5, "no target", 1_200),
        ("cached_share", 0.75, "no target", 1_030),
        ("consult_rate", 0.1, "met", 1_000),
        ("degraded_share", 0.05, "met", 1_000),
        ("conflicts", 7.0, "no target", 1_000),
        ("validated", 0.6, "met", 20),
        ("missed_escalations", 0.02, "met", 50),
        ("overrides", 2.0, "no target", 5),
    ],
)
def test_what_a_month_comes_to(name: str, value: float | None, judgement: str, cases: int) -> None:
    found = kpi(name, HEALTHY)
    assert (found.value, found.judgement, found.cases) == (value, judgement, cases)
    assert bool(found.because) is (value is None)


@pytest.mark.parametrize(
    "name, sums, judgement",
    [
        ("self_repair", replace(HEALTHY, vetoed=10, recovered=7), "met"),
        ("self_repair", replace(HEALTHY, vetoed=100, recovered=69), "missed"),
        ("wall_clock", replace(HEALTHY, wall_ms=74_999), "met"),
        ("wall_clock", replace(HEALTHY, wall_ms=75_000), "missed"),
        ("consult_share", replace(HEALTHY, consult_tokens=80_000), "met"),
        ("consult_share", replace(HEALTHY, consult_tokens=79_999), "missed"),
        ("consult_share", replace(HEALTHY, consult_tokens=150_001), "missed"),
        ("consult_rate", replace(HEALTHY, consulting=79), "missed"),
        ("consult_rate", replace(HEALTHY, consulting=150), "met"),
        ("consult_rate", replace(HEALTHY, consulting=151), "missed"),
        ("degraded_share", replace(HEALTHY, degraded=100), "met"),
        ("degraded_share", replace(HEALTHY, degraded=101), "missed"),
        ("validated", replace(HEALTHY, proved=0), "missed"),
        ("missed_escalations", replace(HEALTHY, missed=2), "met"),
        ("missed_escalations", replace(HEALTHY, merged_approvals=20), "missed"),
    ],
)
def test_a_target_ends_where_it_says(name: str, sums: Sums, judgement: str) -> None:
    assert kpi(name, sums).judgement == judgement


def test_of_nothing_nothing_is_measured() -> None:
    for found in kpis(Sums()):
        assert (found.value, found.judgement) == (None, "not measured")
        assert found.because


def test_a_person_reads_the_target_beside_each_value() -> None:
    text = rollup_text(Rollup(HEALTHY, Money(12.5, 0.25, 3, ("mystery",)), kpis(HEALTHY)))
    lines = text.splitlines()
    assert lines[0] == "1,030 runs: 1,000 with a verdict, 20 stopped, 10 unfinished"
    assert lines[1] == "cost: $12.5000 reported, $0.2500 by the list of prices; unknown for 3 calls of mystery"
    told = {line.split()[0]: line for line in lines[4:]}
    assert list(told) == [each.name for each in kpis(HEALTHY)]
    assert told["self_repair"].split()[1:5] == ["80.0%", ">=", "70.0%", "met"]
    assert told["validated"].split()[1:5] == ["60.0%", ">", "0.0%", "met"]
    assert "not measured" in rollup_text(Rollup(Sums(), Money(0.0), kpis(Sums())))
    assert told["conflicts"].split()[1:4] == ["7.0", "per", "1,000"]


def test_json_says_the_same() -> None:
    told = json.loads(json.dumps(Rollup(HEALTHY, Money(1.0), kpis(HEALTHY)).as_json(), allow_nan=False))
    assert told["sums"]["judged"] == 1_000
    assert told["money"] == {"reported_usd": 1.0, "by_price_usd": 0.0, "unknown_calls": 0, "unknown_models": []}
    assert told["kpis"][0]["target"] == {"low": 0.7, "high": None, "strictly": False}
    assert told["kpis"][1]["judgement"] == "met"


# --- alerts ----------------------------------------------------------------------------------------------------------


def test_a_healthy_week_raises_nothing() -> None:
    assert {each.state for each in alarms({DAY: HEALTHY, WEEK: HEALTHY})} == {"quiet"}
    assert windows() == (DAY, WEEK)


def test_ten_clean_approvals_of_the_default_setup_raise_nothing() -> None:
    """Plan and judgement take most of the tokens, and there was nothing to consult about."""
    clean = Sums(runs=10, judged=10, advised=10, executor_tokens=40_000, advisor_tokens=90_000, timed=10)
    assert {each.state for each in alarms({DAY: clean, WEEK: clean})} == {"quiet", "too few"}


def test_what_plans_and_judgements_use_is_no_consult() -> None:
    judged = replace(HEALTHY, advisor_tokens=9_600_000)
    assert kpi("assurance_share", judged).value == 0.95
    assert kpi("assurance_share", judged).judgement == "no target"
    assert alarm("consult-share", day=judged).state == "quiet"


@pytest.mark.parametrize(
    "name, bad",
    [
        ("consult-share", replace(HEALTHY, consult_tokens=300_001)),
        ("consult-flood", replace(HEALTHY, consulting=301)),
        ("consult-collapse", replace(HEALTHY, consulting=9)),
        ("degraded", replace(HEALTHY, degraded=101)),
        ("self-repair", replace(HEALTHY, vetoed=10, recovered=6)),
    ],
)
def test_an_alert_is_raised_over_its_own_window_and_is_the_only_one(name: str, bad: Sums) -> None:
    window = next(rule.window for rule in RULES if rule.name == name)
    found = alarms({DAY: HEALTHY, WEEK: HEALTHY} | {window: bad})
    assert [each.rule.name for each in found if each.state == "raised"] == [name]
    told = alarms_text(found)
    assert told.splitlines()[-1].startswith(f"{name}: ")


def test_each_alert_is_a_line_with_its_value_or_a_dash_where_there_is_none() -> None:
    for found in (alarms({DAY: HEALTHY, WEEK: HEALTHY}), alarms({DAY: Sums(), WEEK: Sums()})):
        _, *lines = alarms_text(found).splitlines()
        assert len(lines) == len(found)
        for line, each in zip(lines, found, strict=True):
            value = "-" if each.kpi.value is None else format_value(each.kpi.value, each.kpi.unit)
            state = each.state.split()
            assert line.split()[: len(state) + 2] == [*state, each.rule.name, value]


def test_a_limit_itself_is_allowed() -> None:
    at_limit = replace(HEALTHY, consult_tokens=300_000, consulting=300, degraded=100)
    assert {each.state for each in alarms({DAY: at_limit, WEEK: replace(HEALTHY, consulting=10)})} == {"quiet"}


def test_a_quiet_day_says_nothing() -> None:
    one_bad_review = replace(HEALTHY, runs=1, judged=1, advised=1, consulting=1, degraded=1, vetoed=1, recovered=0)
    expensive = replace(one_bad_review, executor_tokens=100_000, advisor_tokens=900_000, consult_tokens=900_000)
    assert alarm("consult-share", day=expensive).state == "too few", "however many tokens it used"
    assert alarm("degraded", day=one_bad_review).state == "too few"
    assert alarm("consult-flood", day=one_bad_review).state == "too few"
    assert alarm("self-repair", week=one_bad_review).state == "too few"
    assert alarm("consult-collapse", week=replace(HEALTHY, advised=99, consulting=0)).state == "too few"
    assert {each.state for each in alarms({DAY: Sums(), WEEK: Sums()})} == {"too few"}


def test_the_rules_for_a_metrics_backend_have_the_same_thresholds() -> None:
    text = " ".join(RULES_FOR_PROMETHEUS.read_text(encoding="utf-8").split())
    least = {rule.name: rule.least for rule in RULES}
    repair, judgements = (text.partition(f"alert: {name}")[2].partition("- alert:")[0] for name in ALERTS)
    assert f"< {SELF_REPAIR.low} and" in repair
    assert f">= {least['self-repair']} " in repair
    assert f"> {DEGRADED.high} and" in judgements


ALERTS = ("ReviewAdvisorSelfRepairLow", "ReviewAdvisorJudgementsMissing")


# --- money -----------------------------------------------------------------------------------------------------------


def test_a_price_holds_from_its_day_until_the_next() -> None:
    prices = (CHEAPER, PRICE)
    assert replace(money(1.0, [used()], prices), by_price_usd=0.0) == Money(1.0, 0.0, 0, ())
    assert money(0.0, [used(day=date(2026, 1, 31))], prices).by_price_usd == pytest.approx(29.2)
    assert money(0.0, [used(day=date(2026, 2, 1))], prices).by_price_usd == pytest.approx(29.1)
    assert money(0.0, [used(), used(day=date(2026, 2, 2))], prices).by_price_usd == pytest.approx(58.3)


@pytest.mark.parametrize(
    "what, models",
    [
        (used(model="opus-2"), ("opus-2",)),
        (used(model="Opus"), ("Opus",)),
        (used(day=date(2025, 12, 31)), ("opus",)),
        (used(tokens=0), ()),
    ],
)
def test_what_is_not_listed_is_unknown_and_never_guessed(what: Unpriced, models: tuple[str, ...]) -> None:
    assert money(0.0, [what], (PRICE, CHEAPER)) == Money(0.0, 0.0, 2, models)


def test_a_models_name_moves_no_cursor() -> None:
    told = money(0.0, [used(model="op\x1b[2Jus\n")], ()).words()
    assert told.isprintable()


def test_one_call_of_unknown_cost_is_one() -> None:
    assert Money(1.0, 0.0, 1).words().endswith("; unknown for 1 call")


def test_a_target_says_what_it_is() -> None:
    assert Target(0.08, 0.15).words("share") == "8.0% to 15.0%"
    assert Target(high=1.5, strictly=True).words("times") == "< 1.50 x"
    assert Target(low=0, strictly=True).words("number") == "> 0"
    assert Target().words("number") == "-"


# --- the whole of it -------------------------------------------------------------------------------------------------


def test_a_period_without_runs_adds_up_to_nothing() -> None:
    nothing = asdict(Sums())
    assert {name: value for name, value in nothing.items() if value != 0} == {"wall_ms": None, "executor_ms": None}
    assert {found.cases for found in kpis(Sums())} == {0}


@pytest.mark.parametrize("times", [{"wall_ms": None}, {"wall_ms": 0}, {"executor_ms": None}, {"executor_ms": 0}])
def test_a_ratio_of_times_needs_both(times: dict[str, float | None]) -> None:
    found = kpi("wall_clock", replace(HEALTHY, **times))  # type: ignore[arg-type]
    assert (found.value, found.judgement, found.because) == (None, "not measured", "no such review took any time")


def test_a_kpi_has_all_its_fields_in_json() -> None:
    assert kpi("wall_clock", HEALTHY).as_json() == {
        "name": "wall_clock",
        "value": 1.2,
        "unit": "times",
        "target": {"low": None, "high": 1.5, "strictly": True},
        "judgement": "met",
        "cases": 900,
        "case": "case",
        "because": "",
    }


def test_the_columns_of_a_table_stand_below_one_another() -> None:
    rows = rollup_text(Rollup(HEALTHY, Money(), kpis(HEALTHY))).split("\n\n")[1].splitlines()
    for word, column in (("value", 1), ("target", 2), ("judgement", 3), ("cases", 4), ("what it is", 5)):
        start = rows[0].index(word)
        assert {row[start - 2 : start] for row in rows} == {"  "}, column
        assert all(row[start] != " " for row in rows)


def test_an_alert_needs_its_least_number_of_cases() -> None:
    for cases, state in ((9, "too few"), (10, "raised")):
        sums = replace(HEALTHY, judged=cases, degraded=cases)
        assert alarm("degraded", day=sums).state == state
