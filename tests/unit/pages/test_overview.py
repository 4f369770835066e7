"""What the dashboard's first page and its list tell, and how a time is cut for plots."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.ledger.test_runs import other

from review_advisor.ledger.kpis import Rollup, Sums, alarms, kpis, windows
from review_advisor.ledger.page_entries import cost_json
from review_advisor.ledger.pages import CHUNK, STATUSES, Stretch, alerts_json, kpi_json, list_json, overview_json
from review_advisor.ledger.queries import MOST_PERIODS, Period, periods
from review_advisor.ledger.rows import Participant
from review_advisor.policy.prices import Money
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import role_costs, together
from review_advisor.review.events import CallEnded
from review_advisor.safety.stop import Usage

MADE = datetime(2026, 7, 1, tzinfo=UTC)
SUMS = Sums(
    runs=3,
    judged=2,
    advised=2,
    consulting=1,
    executor_tokens=90,
    advisor_tokens=10,
    consult_tokens=10,
    timed=2,
    wall_ms=2_000.0,
)
ROLLUP = Rollup(SUMS, Money(1.0, 0.5, 2, ("new<model>",)), kpis(SUMS))
moments = st.datetimes(datetime(1970, 1, 1), datetime(8000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 (its zone is given)


@given(moments, moments)
def test_periods_hold_every_moment_once(one: datetime, other_one: datetime) -> None:
    first, last = sorted((one, other_one))
    cut = periods(first, last, Period())
    assert 1 <= len(cut) <= MOST_PERIODS
    assert cut[0].since is not None
    assert cut[0].since <= first
    assert first - cut[0].since < timedelta(days=1)
    assert [each.until for each in cut[:-1]] == [each.since for each in cut[1:]]
    assert cut[-1].until is None
    assert cut[-1].since is not None
    assert cut[-1].since <= last


@pytest.mark.parametrize("days, length", [(1, 1), (100, 1), (101, 7), (700, 7), (701, 28), (2_801, 364)])
def test_a_longer_time_has_longer_periods(days: int, length: int) -> None:
    cut = periods(MADE, MADE + timedelta(days=days - 1), Period())
    assert cut[0].since == MADE
    if len(cut) > 1:
        assert cut[1].since == MADE + timedelta(days=length)


def test_the_periods_lie_within_the_one_that_is_asked_for() -> None:
    noon, end = MADE + timedelta(hours=12), MADE + timedelta(days=2, hours=9)
    cut = periods(MADE + timedelta(hours=13), MADE + timedelta(days=2), Period(noon, end))
    assert (cut[0].since, cut[-1].until) == (noon, end)


def test_a_kpi_is_told_in_the_words_of_rollup() -> None:
    told = {kpi.name: kpi_json(kpi) for kpi in ROLLUP.kpis}
    assert (told["consult_share"]["shown"], told["consult_share"]["wanted"]) == ("10.0%", "8.0% to 15.0%")
    assert told["consult_share"]["judgement"] == "met"
    assert told["self_repair"]["shown"] == "not measured"
    assert told["self_repair"]["because"] == "there is no case of it"


def test_what_a_kpi_counts_is_named_where_it_is_no_case() -> None:
    told = {kpi.name: (kpi.counted, kpi_json(kpi)["case"]) for kpi in ROLLUP.kpis}
    of_runs = [told.pop(name) for name in ("consult_share", "assurance_share", "cached_share")]
    assert of_runs == [("3 runs", "run")] * 3
    assert told["consult_rate"] == ("2", "case")
    assert {case for _, case in told.values()} == {"case"}


def test_the_first_page_adds_up_what_its_plots_show() -> None:
    days = [Stretch(Period(MADE + timedelta(days=n)), ROLLUP, {"approved": n, "stopped": 1}) for n in range(3)]
    told = overview_json(ROLLUP, days, [], None, MADE)
    assert told["ends"] == dict.fromkeys(STATUSES, 0) | {"approved": 3, "stopped": 3}
    plots = told["plots"]
    assert plots["ends"]["approved"] == [0, 1, 2]
    assert plots["reported_usd"] == [1.0, 1.0, 1.0]
    assert plots["by_price_usd"] == [0.5, 0.5, 0.5], "never added up: one is measured, the other is not"
    assert plots["consult_share"] == [0.1, 0.1, 0.1]
    assert plots["wall_s"] == [2.0, 2.0, 2.0]
    assert plots["executor_s"] == [None, None, None]
    columns = [plots["starts"], *plots["ends"].values(), *(plots[name] for name in ("unknown_calls", "consult_rate"))]
    assert {len(column) for column in columns} == {3}
    assert set(plots["ends"]) == set(STATUSES)


def test_what_many_runs_used_is_one_line_a_role_and_model_and_an_unknown_cost_is_no_zero() -> None:
    def call(model: str, usd: float | None) -> CallEnded:
        usage = Usage(input_tokens=5, cost_usd=usd)
        about = {"role": Role.EXECUTOR, "ended": "answered", "requested_model": model, "usage": usage}
        return CallEnded(at=MADE, surface=Surface.PR_REVIEW, number=1, advisor="executor", **about)  # type: ignore[arg-type]

    first = role_costs([call("sonnet", 0.5), call("sonnet", None), call("mystery", None)])
    mystery, sonnet = map(cost_json, together([*first, *role_costs([call("sonnet", 1.5)])]))
    assert (sonnet["calls"], sonnet["unpriced"], sonnet["input_tokens"]) == (3, 1, 15)
    assert (sonnet["cost_usd"], sonnet["per_call_usd"]) == (2.0, 1.0)
    assert (mystery["model"], mystery["cost_usd"], mystery["per_call_usd"]) == ("mystery", None, None)
    assert together([]) == ()


def test_the_list_comes_in_chunks_of_columns_that_share_their_castings() -> None:
    lines = [other(run_id=f"run-{n}", title=f"<b>{n}") for n in range(CHUNK + 2)]
    one, two = (
        (Participant("pr_review", "executor", "sonnet"),),
        (Participant("pr_review", "executor", "opus", "timeout"),),
    )
    castings = {line.run_id: one if n % 2 else two for n, line in enumerate(lines)}
    first, second = list_json(lines, castings, {line.run_id: f"file of {line.run_id}" for line in lines})
    assert [len(each["columns"]["run_id"]) for each in (first, second)] == [CHUNK, 2]
    assert {len(column) for column in first["columns"].values()} == {CHUNK}
    assert first["castings"] == [
        [["pr_review", "executor", "opus", "timeout"]],
        [["pr_review", "executor", "sonnet", ""]],
    ]
    assert first["columns"]["casting"][:3] == [0, 1, 0]
    assert first["columns"]["flags"][0] == ["degraded", "disabled", "recovered"]
    assert first["columns"]["file"][0] == "file of run-0"


def test_the_first_page_tells_when_it_was_made_since_when_it_counts_and_what_it_cost() -> None:
    since = MADE.replace(microsecond=5)
    page = overview_json(ROLLUP, [], [], since, since)
    assert (page["made"], page["since"]) == ("2026-07-01T00:00:00+00:00", "2026-07-01T00:00:00+00:00")
    assert page["money"] == {
        "reported_usd": 1.0,
        "by_price_usd": 0.5,
        "unknown_calls": 2,
        "unknown_models": ["new<model>"],
    }
    assert page["sums"] == ROLLUP.as_json()["sums"]
    assert [kpi["name"] for kpi in page["kpis"]] == [kpi.name for kpi in ROLLUP.kpis]
    assert page["plots"]["bands"] == {"consult_share": [0.08, 0.15], "consult_rate": [0.08, 0.15]}
    assert overview_json(ROLLUP, [], [], None, MADE)["since"] is None
    assert list(page["ends"]) == list(STATUSES)


def test_the_list_has_each_column_that_the_page_shows() -> None:
    line = other(run_id="run-1", unpriced=3)
    (chunk,) = list_json([line], {}, {"run-1": "1.js"})
    assert chunk["columns"] == {
        "run_id": ["run-1"],
        "started_at": [line.started_at],
        "status": ["approved"],
        "like": ["approved"],
        "kind": ["review"],
        "repository": ["acme/shop"],
        "pull_request": [7],
        "label": ["pr-7"],
        "title": [line.title],
        "cost_usd": [0.25],
        "unpriced": [3],
        "consults": [2],
        "findings": [1],
        "vetoes": [1],
        "wall_ms": [61_500],
        "executor_tokens": [12_000],
        "advisor_tokens": [1_500],
        "file": ["1.js"],
        "flags": [["degraded", "disabled", "recovered"]],
        "casting": [0],
    }
    assert chunk["castings"] == [[]]
    (chunk,) = list_json([other(run_id="run-1", exhausted=True)], {}, {"run-1": "1.js"})
    assert chunk["columns"]["flags"] == [["degraded", "disabled", "recovered", "exhausted"]]


def test_raised_alerts_are_told_in_words_and_quiet_ones_are_not() -> None:
    quiet = alarms({window: Sums() for window in windows()})
    assert alerts_json(quiet) == {"alerts": []}
    raised = [replace(each, state="raised") for each in quiet[:1]]
    (words,) = alerts_json(raised)["alerts"]
    assert words.startswith(f"{quiet[0].rule.name}: ")
    assert words.endswith(quiet[0].rule.means)
