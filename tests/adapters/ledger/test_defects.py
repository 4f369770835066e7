"""What the original's own accounts of a review got wrong (D30 to D34), held against the ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.ledgers import Story, record, told
from tests.scenarios.five_stories import a_veto_then_a_recovery, three_parts_and_an_escalation

from review_advisor.ledger.database import open_to_write
from review_advisor.ledger.kpis import kpis
from review_advisor.ledger.queries import Period, RunFilter
from review_advisor.ledger.run_queries import list_runs, show_run
from review_advisor.ledger.sums import add_up
from review_advisor.mockworld.agents import Line, approve, confirm, evidence, finding, lost, plan, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def vetoed_then(*later: Line) -> Story:
    """A veto whose retry answers it, and what comes of that."""

    def story(world: MockWorld) -> None:
        answered = approve(answers=(evidence("d0.1", "src/app.py", "value = 7"),))
        world.agents.script(Role.EXECUTOR, approve(), answered)
        world.agents.script(Role.POST_VERIFY, veto("seven is taken"), *later)

    return story


def test_a_call_has_its_place_its_prompts_digest_its_tokens_and_its_verdict_d30(ledger: Path) -> None:
    document = told(three_parts_and_an_escalation)
    record(ledger, document)
    tables = show_run(ledger, document.run_id).tables
    made = [event for event in document.events if isinstance(event, CallEnded)]
    assert [(row["surface"], row["role"], row["attempt"], row["shard"]) for row in tables["calls"]] == [
        (call.surface.value, call.role.value, call.attempt, call.shard) for call in made
    ]
    assert all(len(row["prompt_sha256"]) == 64 and row["prompt_characters"] > 0 for row in tables["calls"])
    assert [row["output_tokens"] for row in tables["calls"]] == [call.usage.output_tokens for call in made]
    judged = [(row["verdict"], row["authority"], row["disagreements"]) for row in tables["votes"]]
    assert ("VETO", "veto", 1) in judged


def test_a_pull_request_and_another_change_of_one_number_are_two_things_d30(ledger: Path) -> None:
    def no_pull_request(world: MockWorld) -> None:
        world.source.stated = replace(world.source.stated, repository=None, pull_request=None, label="7")

    record(ledger, told(lambda world: None, 1, pull_request=7), told(no_pull_request, 2))
    assert [run.run_id for run in list_runs(ledger, RunFilter(pull_request=7))] == ["run-1"]


def test_an_approval_that_nobody_confirmed_is_no_self_repair_d31(ledger: Path) -> None:
    record(ledger, told(vetoed_then(lost()), 1))
    sums = add_up(ledger, Period()).sums
    assert (sums.judged, sums.degraded, sums.recovered, sums.exhausted) == (1, 1, 0, 0)
    record(ledger, told(vetoed_then(confirm()), 2))
    assert add_up(ledger, Period()).sums.recovered == 1


def test_an_executor_that_gives_up_its_approval_is_neither_repaired_nor_exhausted_d31(ledger: Path) -> None:
    def gives_up(world: MockWorld) -> None:
        fault = finding("src/app.py", 7, "value = 7")
        world.agents.script(Role.EXECUTOR, approve(), reject(fault))
        world.agents.script(Role.POST_VERIFY, veto("seven is taken"), confirm())

    record(ledger, told(gives_up))
    sums = add_up(ledger, Period()).sums
    assert (sums.judged, sums.recovered, sums.exhausted) == (1, 0, 0)


def test_an_advisor_that_agrees_with_itself_validates_nothing_d31(ledger: Path) -> None:
    """The plan named what the judge objects to: that is no proof that either was right."""

    def foreseen(world: MockWorld) -> None:
        world.agents.script(Role.PRE_FLIGHT, plan("seven is taken", focus=("seven is taken",)))
        a_veto_then_a_recovery(world)

    record(ledger, told(foreseen))
    (validated,) = [kpi for kpi in kpis(add_up(ledger, Period()).sums) if kpi.name == "validated"]
    assert (validated.value, validated.judgement) == (None, "not measured")


def test_what_advisors_used_is_told_by_run_surface_and_role_d32(ledger: Path) -> None:
    def story(world: MockWorld) -> None:
        world.change(edited("src/app.py"), spec="every value shall be prime")
        world.agents.script(Role.PRE_FLIGHT, replace(plan(), output_tokens=3).costing(0.01))
        world.agents.script(Role.EXECUTOR, *[replace(approve(), output_tokens=40).costing(0.02)] * 2)
        world.agents.script(Role.POST_VERIFY, *[replace(confirm(), output_tokens=5).costing(0.04)] * 2)

    record(ledger, told(story))
    shown = show_run(ledger, "run-1")
    spent = {
        (row["surface"], row["role"]): (row["output_tokens"], row["cost_usd"])
        for row in shown.tables["calls"]
        if row["role"] != "executor"
    }
    assert spent == {
        ("pr_review", "pre_flight"): (3, 0.01),
        ("pr_review", "post_verify"): (5, 0.04),
        ("pre_merge_spec_check", "post_verify"): (5, 0.04),
    }
    assert (shown.line.executor_tokens, shown.line.advisor_tokens) == (80, 13)


def test_pre_flight_has_its_duration_in_the_ledger_d33(ledger: Path) -> None:
    def story(world: MockWorld) -> None:
        world.agents.script(Role.PRE_FLIGHT, replace(plan(), seconds=2.5))

    record(ledger, told(story))
    (duration,) = [
        row["duration_ms"] for row in show_run(ledger, "run-1").tables["calls"] if row["role"] == "pre_flight"
    ]
    assert duration == 2_500


def test_the_ledgers_folder_ignores_itself_d34(tmp_path: Path) -> None:
    open_to_write(tmp_path / "new" / "ledger.sqlite3").close()
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"


def test_a_run_has_passed_when_its_last_event_says_so_and_not_before_d34(ledger: Path) -> None:
    document = told(a_veto_then_a_recovery)
    record(ledger, document, until=len(document.events) - 1)
    assert [run.status for run in list_runs(ledger, RunFilter())] == ["unfinished"]
