"""One review, six accounts: ledger, ``outcome.json``, metrics, report, rollup and dashboard agree, number by number."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledgers import Story, record, told
from tests.scenarios.five_stories import STORIES

from review_advisor.app.ui import write_dashboard
from review_advisor.github.sections import cost, how
from review_advisor.ledger import telemetry as metrics
from review_advisor.ledger.artifacts import advisor_log
from review_advisor.ledger.kpis import kpis
from review_advisor.ledger.queries import Period, RunRecord
from review_advisor.ledger.run_queries import show_run
from review_advisor.ledger.sums import add_up
from review_advisor.ledger.telemetry import Metric, measurements
from review_advisor.mockworld.agents import approve, confirm, guidance, lost, plan, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.prices import Price, money
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_document, outcome_json
from review_advisor.review.events import CallEnded
from review_advisor.review.report import report_text
from review_advisor.safety.stop import ModelUsage, Usage

ADVISORS = ("pre_flight", "mid_flight", "post_verify")


def a_review_with_a_number_for_everything(world: MockWorld) -> None:
    """Planned, consulted, vetoed and repaired; every call has its tokens and its price."""
    world.agents.script(Role.PRE_FLIGHT, replace(plan(), output_tokens=30).costing(0.02))
    first = replace(approve(), output_tokens=700).costing(0.11).taking(7.0)
    second = replace(approve(), output_tokens=200).costing(0.05).after_asking("Seven?")
    world.agents.script(Role.EXECUTOR, first, second)
    world.agents.script(Role.MID_FLIGHT, replace(guidance("it may"), output_tokens=1_250, seconds=2.5))
    judged = (veto("seven is taken"), confirm("name it"))
    world.agents.script(Role.POST_VERIFY, *(replace(line, output_tokens=35).costing(0.01) for line in judged))


def questions_beyond_the_cap(world: MockWorld) -> None:
    """Two consults are allowed, one of which fails and is refunded; the last two questions come to nobody."""
    world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "2")
    world.agents.script(Role.EXECUTOR, approve().after_asking("one?", "two?", "three?", "four?", "five?"))
    world.agents.script(Role.MID_FLIGHT, guidance("yes").taking(2.0), lost().taking(9.0), guidance("no").taking(3.0))


def one_model_for_both_roles(world: MockWorld) -> None:
    """Five consults in one call, by the executor's own model."""
    world.switch("HYDRAFLOW_REVIEW_EXECUTOR_MODEL", "opus")
    asking = replace(approve(), output_tokens=700).costing(0.11)
    world.agents.script(Role.EXECUTOR, asking.after_asking("one?", "two?", "three?", "four?", "five?"))
    world.agents.script(Role.MID_FLIGHT, *(guidance("yes") for _ in range(5)))


class Account:
    """What each account of one review says."""

    def __init__(self, document: OutcomeDocument, folder: Path) -> None:
        ledger = folder / "ledger.sqlite3"
        record(ledger, document)
        self.document = document
        self.ledger: RunRecord = show_run(ledger, document.run_id)
        self.outcome: dict[str, Any] = json.loads(outcome_json(document))
        self.measured = measurements(document)
        self.report = report_text(document)
        self.added = add_up(ledger, Period())
        write_dashboard(ledger, folder / "site", document.ended_at)
        dashboard = WrittenDashboard(folder / "site")
        self.overview: dict[str, Any] = dashboard.overview
        self.columns: dict[str, Any] = dashboard.columns
        self.page: dict[str, Any] = dashboard.page(document.run_id)

    def metric(self, metric: Metric, **wanted: str) -> float:
        """What the review adds to a metric, with these attributes."""
        return sum(
            each.value
            for each in self.measured
            if each.metric is metric and wanted.items() <= dict(each.attributes).items()
        )

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.outcome["events"] if event["kind"] == kind]

    def reported(self, pattern: str) -> str:
        (found,) = re.findall(pattern, self.report, re.MULTILINE)
        return str(found)


@pytest.fixture(
    params=[
        a_review_with_a_number_for_everything,
        questions_beyond_the_cap,
        one_model_for_both_roles,
        *STORIES,
    ],
    ids=lambda story: story.__name__,
)
def account(request: pytest.FixtureRequest, tmp_path: Path) -> Account:
    story: Story = request.param
    return Account(told(story), tmp_path)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def tokens(costs: Iterable[dict[str, Any]]) -> int:
    kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    return sum(cost["usage"][kind] for cost in costs for kind in kinds)


@pytest.mark.one_in(4)
def test_money_and_tokens(account: Account) -> None:
    line, costs, sums = account.ledger.line, account.outcome["cost"], account.added.sums
    usd = sum(cost["usage"]["cost_usd"] or 0.0 for cost in costs)
    assert line.cost_usd == pytest.approx(usd)
    assert account.added.reported_usd == pytest.approx(usd)
    assert float(account.reported(r"^  total .*\$([\d.]+)$")) == pytest.approx(usd)
    executor = tokens(cost for cost in costs if cost["role"] == "executor")
    advisor = tokens(cost for cost in costs if cost["role"] in ADVISORS)
    assert (line.executor_tokens, line.advisor_tokens) == (executor, advisor)
    assert (sums.executor_tokens, sums.advisor_tokens) == (executor, advisor)
    split = advisor_log(account.document.events).cost_split
    assert (split.sonnet_tokens, split.opus_tokens) == (executor, advisor)
    words = account.reported(r"^  total .*?([\d,]+ in +[\d,]+ cache read +[\d,]+ cache written +[\d,]+ out)")
    assert sum(map(number, re.findall(r"[\d,]+", words))) == executor + advisor


def two_models_and_no_word_of_their_cost(document: OutcomeDocument, first: Usage, second: Usage) -> OutcomeDocument:
    """The same review, whose executor and a subagent of it used this without a word about its cost."""
    used = (ModelUsage("one", first), ModelUsage("two", second))
    return outcome_document(
        [
            replace(event, resolved_model="one", by_model=used, usage=Usage())
            if isinstance(event, CallEnded) and event.role is Role.EXECUTOR
            else event
            for event in document.events
        ]
    )


def one_call_of_the_executor(world: MockWorld) -> None:
    world.agents.script(Role.PRE_FLIGHT, plan().costing(0.02))
    world.agents.script(Role.EXECUTOR, approve())
    world.agents.script(Role.POST_VERIFY, confirm().costing(0.19))


def test_a_call_whose_cost_nobody_told_is_one_call_however_many_models_it_used(tmp_path: Path) -> None:
    review = told(one_call_of_the_executor)
    account = Account(two_models_and_no_word_of_their_cost(review, Usage(7), Usage(9)), tmp_path)
    assert [(row["model"], row["calls"], row["unpriced"]) for row in account.outcome["cost"]] == [
        ("one", 1, 1),
        ("two", 1, 1),
        ("opus", 1, 0),
        ("opus", 1, 0),
    ]
    assert account.outcome["unpriced"] == account.ledger.line.unpriced == account.columns["unpriced"][0] == 1
    assert account.page["run"]["unpriced"] == account.overview["money"]["unknown_calls"] == 1
    said = "$0.2100, and 1 call unknown"
    assert account.reported(r"^  total .* (\$.*)$") == dict(account.page["summary"])["Cost"] == said
    assert ": 0.2100 USD, and 1 call unknown;" in cost(account.document).text
    assert ", 0.21 USD, and 1 call unknown" in how(account.document).text


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "priced, used, unknown",
    [
        ((), (7, 9), 1),
        (("one",), (7, 9), 1),
        (("two",), (7, 9), 1),
        (("one", "two"), (7, 9), 0),
        (("one", "two"), (7, 0), 1),
        (("one", "two"), (0, 9), 1),
        (("one",), (0, 9), 1),
        (("two",), (7, 0), 1),
    ],
)
def test_a_rollup_counts_a_call_once_unless_the_cost_of_all_its_models_is_known(
    tmp_path: Path, priced: tuple[str, ...], used: tuple[int, int], unknown: int
) -> None:
    """Beside a call of post-verify, of which nobody knows it either."""

    def story(world: MockWorld) -> None:
        world.agents.script(Role.POST_VERIFY, confirm().costing(None))

    review = two_models_and_no_word_of_their_cost(told(story), *map(Usage, used))
    added = Account(review, tmp_path).added
    prices = [Price(model, date(2026, 1, 1), 1.0, 1.0, 1.0, 1.0) for model in priced]
    found = money(added.reported_usd, added.unpriced, prices)
    assert found.unknown_calls == unknown + 1
    assert set(found.unknown_models) == {"one", "two", "opus"} - set(priced)
    assert sum(each.tokens for each in added.unpriced) == sum(used)


def with_own_tokens(document: OutcomeDocument, usage: Usage, own: Usage) -> OutcomeDocument:
    """The same review, whose executor used this, and of it that without its consults."""
    return outcome_document(
        [
            replace(event, usage=usage, own=own)
            if isinstance(event, CallEnded) and event.role is Role.EXECUTOR
            else event
            for event in document.events
        ]
    )


def of_consults(row: dict[str, Any]) -> bool:
    return bool(row["role"] == "mid_flight")


def test_five_consults_of_the_executors_own_model_are_told_apart_everywhere(tmp_path: Path) -> None:
    review = with_own_tokens(told(one_model_for_both_roles), Usage(300, 700, cost_usd=0.11), Usage(200, 600))
    account = Account(review, tmp_path)
    (row,) = filter(of_consults, account.outcome["cost"])
    assert (row["model"], row["calls"], row["unpriced"], row["shared"]) == ("opus", 5, 0, True)
    assert tokens([row]) == 200
    assert (account.ledger.line.executor_tokens, account.added.sums.executor_tokens) == (800, 800)
    assert account.ledger.line.cost_usd == pytest.approx(0.11)
    for costs in (account.page["costs"], account.overview["costs"]):
        (consults,) = filter(of_consults, costs)
        assert (consults["calls"], consults["tokens"], consults["cost_usd"], consults["shared"]) == (5, 200, None, True)
    said = account.reported(r"^  mid_flight +opus +(5 consults .*)$")
    assert (
        " ".join(said.split())
        == "5 consults 100 in 0 cache read 0 cache written 100 out cost counted with the executor"
    )
    assert account.reported(r"^  executor +opus +1 call .*(\$.*)$") == "$0.1100, consults included"


def test_consults_whose_tokens_are_not_known_apart_are_counted_all_the_same(tmp_path: Path) -> None:
    account = Account(told(one_model_for_both_roles), tmp_path)
    assert account.reported(r"^  mid_flight +opus +5 consults +(.*)$") == "counted with the executor"
    (consults,) = filter(of_consults, account.page["costs"])
    assert (consults["calls"], consults["tokens"], consults["shared"]) == (5, 0, True)


def test_a_rollup_prices_the_tokens_of_both_roles_where_nobody_told_the_cost(tmp_path: Path) -> None:
    review = with_own_tokens(told(one_model_for_both_roles), Usage(300, 700), Usage(200, 600))
    added = Account(review, tmp_path).added
    found = money(added.reported_usd, added.unpriced, [Price("opus", date(2026, 1, 1), 1.0, 1.0, 1.0, 1.0)])
    assert found.by_price_usd == pytest.approx(1_000 / 1_000_000)
    assert (found.unknown_calls, found.unknown_models) == (0, ())
    assert money(added.reported_usd, added.unpriced, ()).unknown_calls == 1, "one call, with consults inside it"


@pytest.mark.one_in(4)
def test_calls_and_consults(account: Account) -> None:
    rows = account.ledger.tables["calls"]
    made = [row for row in rows if row["ended"] != "refused"]
    assert len(rows) == len(account.events("call_ended"))
    assert number(account.reported(r"^Calls: (\d+)")) == len(made)
    for role in ("pre_flight", "post_verify"):
        of_role = Counter(row["ended"] for row in made if row["role"] == role)
        assert account.metric(metrics.CALLS, role=role) == of_role.total()
        assert account.metric(metrics.CALLS, role=role, outcome="success") == of_role["answered"]
        seconds = sum(row["duration_ms"] for row in made if row["role"] == role) / 1_000
        assert account.metric(metrics.CALL_DURATION, role=role) == pytest.approx(seconds)


@pytest.mark.one_in(4)
def test_consults(account: Account) -> None:
    """A question that the cap denied came to nobody: no account counts it, and none hides it."""
    rows = account.ledger.tables["consults"]
    assert len(rows) == len(account.events("consulted"))
    consults = [row for row in rows if row["status"] != "denied"]
    assert account.ledger.line.consults == len(consults)
    assert account.added.sums.consulting == bool(consults)
    assert account.metric(metrics.CALLS, role="mid_flight") == len(consults)
    seconds = sum(row["duration_ms"] or 0 for row in consults) / 1_000
    assert account.metric(metrics.CALL_DURATION, role="mid_flight") == pytest.approx(seconds)
    asked = re.findall(r"^Calls: \d+, with (\d+) consult", account.report, re.MULTILINE)
    assert sum(map(int, asked)) == len(consults)
    logged = [call.prompt for call in advisor_log(account.document.events).advisor_calls if call.role == "mid_flight"]
    assert logged == [row["question"] for row in consults]


@pytest.mark.one_in(4)
def test_the_part_of_the_input_that_the_cache_had(account: Account) -> None:
    calls = [row for row in account.ledger.tables["calls"] if not row["kept"]]
    read = sum(row["cache_read_tokens"] for row in calls)
    every = read + sum(row["input_tokens"] + row["cache_write_tokens"] for row in calls)
    (told,) = [each for each in kpis(account.added.sums) if each.name == "cached_share"]
    assert told.value == (read / every if every else None)
    shown = account.page["costs"]
    assert sum(cost["cache_read_tokens"] for cost in shown) == sum(
        row["cache_read_tokens"] for row in account.ledger.tables["calls"]
    )


@pytest.mark.one_in(4)
def test_turns(account: Account) -> None:
    rows = account.ledger.tables["calls"]
    known = [row["turns"] for row in rows if row["role"] == "executor" and row["turns"]]
    assert [row["turns"] for row in rows] == [event["turns"] for event in account.events("call_ended")]
    (told,) = [each for each in kpis(account.added.sums) if each.name == "executor_turns"]
    assert (told.value, told.cases) == (sum(known) / len(known) if known else None, len(known))
    calls = [entry["call"]["turns"] for entry in account.page["entries"] if "call" in entry]
    assert calls == [row["turns"] for row in rows]
    asked = re.findall(r"executor: ([\d,]+) turns? in ([\d,]+) calls?$", account.report, re.MULTILINE)
    assert [(number(turns), number(of)) for turns, of in asked] == ([(sum(known), len(known))] if known else [])


def test_the_consults_beyond_the_cap(tmp_path: Path) -> None:
    account = Account(told(questions_beyond_the_cap), tmp_path)
    statuses = [row["status"] for row in account.ledger.tables["consults"]]
    assert statuses == ["answered", "failed", "answered", "denied", "denied"]
    assert account.ledger.line.consults == 3
    assert account.metric(metrics.CALL_DURATION, role="mid_flight") == 5.0


@pytest.mark.one_in(4)
def test_what_each_consult_used_and_how_long_it_took(account: Account) -> None:
    rows = account.ledger.tables["consults"]
    notes = [event["note"] for event in account.events("consulted")]
    assert [row["tokens"] for row in rows] == [note["tokens"] for note in notes]
    assert [row["duration_ms"] for row in rows] == [note["duration_ms"] for note in notes]
    notes = [note for note in notes if note["status"] != "denied"]
    logged = [call for call in advisor_log(account.document.events).advisor_calls if call.role is Role.MID_FLIGHT]
    assert [call.tokens for call in logged] == [note["tokens"] for note in notes]
    told = re.findall(r"^ +used ([\d,]+) tokens$", account.report, re.MULTILINE)
    assert [number(words) for words in told] == [note["tokens"] for note in notes if note["tokens"] is not None]


def test_the_consult_of_the_review_with_a_number_for_everything(tmp_path: Path) -> None:
    (row,) = Account(told(a_review_with_a_number_for_everything), tmp_path).ledger.tables["consults"]
    assert (row["tokens"], row["duration_ms"]) == (1_250, 2_500)


@pytest.mark.one_in(4)
def test_judgements_and_what_they_led_to(account: Account) -> None:
    line, votes, flags = account.ledger.line, account.ledger.tables["votes"], account.outcome["flags"]
    judged = [event["judged"]["result"]["verdict"] for event in account.events("verified")]
    assert [row["verdict"] for row in votes] == judged
    assert line.vetoes == judged.count("VETO")
    assert account.metric(metrics.VERDICTS) == len(judged)
    assert account.metric(metrics.DISAGREEMENTS) == sum(row["disagreements"] for row in votes)
    assert bool(account.metric(metrics.RECOVERED)) is flags["recovered"] is line.recovered
    assert bool(account.metric(metrics.EXHAUSTED)) is flags["exhausted"] is line.exhausted
    assert bool(account.metric(metrics.DEGRADED)) is flags["degraded"] is line.degraded
    sums = account.added.sums
    assert (sums.recovered, sums.exhausted, sums.degraded) == (line.recovered, line.exhausted, line.degraded)
    assert line.recovered + line.exhausted <= sums.vetoed <= line.vetoes
    contested = {
        (row["surface"], row["shard"], row["disagreement"])
        for row in account.ledger.tables["dispositions"]
        if row["disposition"] == "contested"
    }
    assert sums.contested == len(contested)


@pytest.mark.one_in(4)
def test_how_it_ended_and_how_long_it_took(account: Account) -> None:
    line, sums, document = account.ledger.line, account.added.sums, account.document
    assert line.status == account.outcome["outcome"]
    assert (sums.runs, sums.judged) == (1, 1)
    assert line.findings == len(account.outcome["findings"]) == len(account.ledger.tables["findings"])
    assert line.wall_ms == sums.wall_ms == (document.ended_at - document.started_at) / timedelta(milliseconds=1)
    tries = [e for e in account.events("call_ended") if (e["role"], e["attempt"], e["blind"]) == ("executor", 0, False)]
    first = {(each["surface"], each["shard"]): each["duration_seconds"] for each in reversed(tries)}
    assert line.executor_ms == sums.executor_ms == 1_000 * sum(first.values())


@pytest.mark.one_in(4)
def test_what_the_dashboard_shows(account: Account) -> None:
    line, sums, shown = account.ledger.line, account.added.sums, account.page["run"]
    for name, column in account.columns.items():
        if name in {"file", "flags", "casting"}:
            continue
        if name in {"like", "kind"}:
            assert column == [{"like": line.status, "kind": "review"}[name]], name
            continue
        assert column == [shown[name]] == [getattr(line, name)], name
    assert account.columns["flags"] == [
        [flag for flag in ("degraded", "disabled", "recovered", "exhausted") if shown[flag]]
    ]
    calls = [entry["call"] for entry in account.page["entries"] if entry["kind"] == "call_ended"]
    rows = account.ledger.tables["calls"]
    for told_of, row in zip(calls, rows, strict=True):
        same = ("role", "ended", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        assert {name: told_of[name] for name in same} == {name: row[name] for name in same}
        assert told_of.get("cost_usd") == row["cost_usd"]
        assert round(told_of["seconds"] * 1_000) == row["duration_ms"]
    kinds = Counter(entry["kind"] for entry in account.page["entries"])
    tables = account.ledger.tables
    assert (kinds["consulted"], kinds["verified"]) == (len(tables["consults"]), len(tables["votes"]))
    assert len(account.page["findings"]) == line.findings
    for costs in (account.page["costs"], account.overview["costs"]):
        assert sum(cost["cost_usd"] or 0.0 for cost in costs) == pytest.approx(account.added.reported_usd)
        assert sum(cost["tokens"] for cost in costs if cost["role"] == "executor") == line.executor_tokens
        assert sum(cost["tokens"] for cost in costs if cost["role"] != "executor") == line.advisor_tokens
    assert account.overview["sums"] == asdict(sums)
    assert account.overview["ends"][line.status] == account.overview["plots"]["ends"][line.status][0] == 1
    assert account.overview["plots"]["reported_usd"] == [pytest.approx(account.added.reported_usd)]
    assert [kpi["value"] for kpi in account.overview["kpis"]] == [kpi.value for kpi in kpis(sums)]
    assert account.overview["plots"]["wall_s"] == [line.wall_ms / 1_000] if line.wall_ms else [None]
