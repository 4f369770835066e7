"""How much effort each role's model makes: as the base's configuration says by blast radius, told where a call is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.ledgers import record

from review_advisor.github.sections import cost
from review_advisor.ledger.queries import run_text
from review_advisor.ledger.run_queries import show_run
from review_advisor.mockworld.agents import approve, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.budgets import EffortTable
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json, read_outcome
from review_advisor.review.events import CallEnded, CallStarted, Consulted
from review_advisor.review.report import progress_line, report_text
from review_advisor.review.session_rows import session_rows

TABLE: EffortTable = {
    Role.EXECUTOR: {BlastRadius.LOW: "low", BlastRadius.HIGH: "max"},
    Role.MID_FLIGHT: {BlastRadius.HIGH: "medium"},
    Role.POST_VERIFY: {BlastRadius.HIGH: "xhigh"},
}
ON_HIGH = "executor max, mid_flight medium, post_verify xhigh"


def efforts(world: MockWorld) -> dict[str, str]:
    return {call.role.value: call.effort for call in world.agents.asked}


@pytest.fixture
def critical(world: MockWorld) -> MockWorld:
    """A change of a critical path, with two consults."""
    world.rules = replace(world.rules, effort=TABLE)
    world.change(edited("auth/login.py"))
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is it safe?", "Is it fast?"))
    return world


def test_by_default_no_call_is_asked_for_any_effort(world: MockWorld) -> None:
    document = world.review()
    assert {call.effort for call in world.agents.asked} == {""}
    assert "ffort" not in report_text(document) + cost(document).text


def test_each_role_makes_the_effort_of_the_blast_radius(critical: MockWorld) -> None:
    document = critical.review()
    assert document.policy.blast.radius is BlastRadius.HIGH
    assert efforts(critical) == {"pre_flight": "", "executor": "max", "post_verify": "xhigh"}
    assert [grant.effort for _, grant in critical.agents.consulted] == ["medium", "medium"]


def test_a_consult_that_the_cap_denied_made_no_effort(critical: MockWorld) -> None:
    critical.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "1")
    document = critical.review()
    assert [event.effort for event in document.events if isinstance(event, Consulted)] == ["medium", ""]


def test_a_small_change_makes_the_effort_of_a_small_one(world: MockWorld) -> None:
    world.rules = replace(world.rules, effort=TABLE)
    world.change(edited("src/app.py"))
    assert world.review().policy.blast.radius is BlastRadius.LOW
    assert {role: effort for role, effort in efforts(world).items() if effort} == {"executor": "low"}


def test_static_checks_make_no_effort_that_a_setting_could_raise(world: MockWorld) -> None:
    world.rules = replace(world.rules, effort=TABLE)
    world.static = True
    world.review()
    assert set(efforts(world).values()) == {""}


def test_a_repair_that_raises_the_blast_radius_is_judged_with_the_effort_of_that(world: MockWorld) -> None:
    world.rules = replace(world.rules, effort={Role.POST_VERIFY: {BlastRadius.MEDIUM: "high"}})
    world.checkout({"src/app.py": "x = 2\n"}, {"src/app.py": "x = 1\n"})
    world.agents.script(Role.POST_VERIFY, veto("it does too little"))
    much = "".join(f"y{number} = {number}\n" for number in range(250))
    world.agents.script(Role.EXECUTOR, approve(), approve().repairing("src/app.py", much))
    world.review()
    assert [call.effort for call in world.calls(Role.POST_VERIFY)] == ["", "high"]


def told(document: OutcomeDocument, ledger: Path) -> dict[str, str]:
    """Where a person reads of it."""
    record(ledger, document)
    return {
        "report": report_text(document),
        "GitHub": cost(document).text,
        "runs show": run_text(show_run(ledger, document.run_id)),
    }


def test_it_is_told_in_the_ledger_the_run_and_the_report(critical: MockWorld, tmp_path: Path) -> None:
    document = critical.review()
    assert read_outcome(outcome_json(document)) == document
    found = [
        (type(event).__name__, event.effort)
        for event in document.events
        if isinstance(event, CallStarted | CallEnded | Consulted) and event.effort
    ]
    assert found == [
        *(("CallStarted", "max"), ("CallEnded", "max"), ("Consulted", "medium")),
        ("Consulted", "medium"),
        *(("CallStarted", "xhigh"), ("CallEnded", "xhigh")),
    ]
    assert [row["effort"] for row in session_rows(document)] == [None, "max", "xhigh"]
    for place, text in told(document, tmp_path / "ledger.sqlite3").items():
        assert ON_HIGH in text, place
    lines = [progress_line(event) for event in document.events if isinstance(event, CallStarted)]
    assert "pr_review: executor (sonnet, max effort) ..." in lines
