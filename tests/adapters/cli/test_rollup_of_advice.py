"""``rollup --advice`` and the views of decisions and sessions, on reviews under the profile ``attrition``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import meddle, record, told

from review_advisor.app.ui import advisor_api
from review_advisor.mockworld.agents import approve, change, finding, guidance, lost, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role

DOUBTED = finding("src/app.py", 3, "value = 3", "medium", confidence=0.5)


def attrition(world: MockWorld) -> None:
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))


def sure(world: MockWorld) -> None:
    attrition(world)


def overridden(world: MockWorld) -> None:
    attrition(world)
    world.agents.script(Role.EXECUTOR, approve().sure(0.55), approve().overriding("r1", "row 3 is bounded above"))
    world.agents.script(Role.MID_FLIGHT, guidance("look at row 3"))


def beyond_the_cap(world: MockWorld) -> None:
    attrition(world)
    doubts = [finding("src/app.py", n, f"value = {n}", "medium", confidence=0.1) for n in range(1, 6)]
    world.agents.script(Role.EXECUTOR, *(reject(each).applying(f"r{turn}") for turn, each in enumerate(doubts)))
    world.agents.script(Role.MID_FLIGHT, *(guidance(f"look at row {n}") for n in range(1, 5)))


def in_conflict(world: MockWorld) -> None:
    attrition(world)
    other = MockWorld()
    other.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 3", "medium")))
    identity = other.review().findings[0].id
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 3", "medium")).sure(0.5))
    drop = guidance("drop it", change("drop", identity))
    world.agents.script(Role.MID_FLIGHT, drop, drop)


def without_a_profile(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is value 7 right?"))


def stopped(world: MockWorld) -> None:
    attrition(world)
    world.agents.script(Role.EXECUTOR, lost())


STORIES = (sure, overridden, beyond_the_cap, in_conflict, without_a_profile, stopped)


@pytest.fixture
def kept(terminal: Terminal) -> Path:
    path = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(path, *(told(story, number) for number, story in enumerate(STORIES, start=1)))
    return path


def rolled(terminal: Terminal) -> dict[str, Any]:
    done = terminal.run("rollup", "--since", "2026-01-01", "--advice", "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)["advice"]
    return found


@pytest.mark.usefixtures("kept")
def test_a_week_of_advice_is_told_by_consults_confidence_trigger_and_end(terminal: Terminal) -> None:
    found = rolled(terminal)
    assert (found["reviews"], found["unreadable"], found["left_out"]) == (5, 0, 0)
    assert found["by_consults"] == [
        {"consults": 0, "reviews": 1, "settled": 1},
        {"consults": 1, "reviews": 2, "settled": 2},
        {"consults": 2, "reviews": 1, "settled": 0},
        {"consults": 4, "reviews": 1, "settled": 0},
    ]
    doubts = {each["from"]: (each["ratings"], each["escalated"]) for each in found["confidence"]}
    assert doubts[0.1] == (5, 5)
    assert doubts[0.5] == (2, 2)
    assert doubts[0.0] == (0, 0)
    assert found["triggers"]["low_confidence"] == 7
    assert (found["triggers"]["reconcile"], found["triggers"]["asked"]) == (1, 1)
    assert found["ends"]["refused by a cap"] == 1
    assert (found["ends"]["overridden"], found["ends"]["not stated"], found["ends"]["applied"]) == (1, 1, 4)
    assert found["conflicts_per_1000"] == 400.0


@pytest.mark.usefixtures("kept")
def test_each_override_is_told_with_its_reason(terminal: Terminal) -> None:
    (override,) = rolled(terminal)["overrides"]
    assert override == {
        "run_id": "run-2",
        "recommendation": "r1",
        "action": "look at row 3",
        "reason": "row 3 is bounded above",
    }
    done = terminal.run("rollup", "--since", "2026-01-01", "--advice")
    assert "Advice in 5 reviews with a verdict" in done.out
    assert "row 3 is bounded above" in done.out
    assert terminal.run("rollup", "--since", "2026-01-01").out == done.out.partition("\nAdvice in ")[0]


def test_nothing_is_told_of_advice_in_shadow(terminal: Terminal) -> None:
    done = terminal.run("rollup", "--shadow", "--advice")
    assert done.code == 2
    assert "--advice and --shadow exclude one another" in done.err


def test_a_period_without_a_verdict_says_so(terminal: Terminal) -> None:
    record(terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3", told(stopped))
    assert "No review of the period has a verdict." in terminal.run("rollup", "--since", "2026-01-01", "--advice").out


def test_a_run_that_cannot_be_read_is_counted_and_not_hidden(terminal: Terminal, kept: Path) -> None:
    meddle(kept, "UPDATE events SET event = '{}' WHERE position = 3 AND chain = (SELECT min(id) FROM chains)")
    assert (rolled(terminal)["unreadable"], rolled(terminal)["reviews"]) == (1, 4)


def test_a_period_of_unreadable_runs_alone_says_so(terminal: Terminal) -> None:
    path = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(path, told(sure))
    meddle(path, "UPDATE events SET event = '{}' WHERE position = 3")
    done = terminal.run("rollup", "--since", "2026-01-01", "--advice")
    assert "No review of the period has a verdict; 1 run could not be read." in done.out


def view(kept: Path, path: str) -> Any:
    body = advisor_api(kept)(f"/api/advisor/{path}")
    assert body is not None
    return json.loads(body)


def test_a_decision_has_its_trigger_what_was_used_around_it_and_its_end(kept: Path) -> None:
    (decision,) = view(kept, "sessions/run-2/decisions")
    assert (decision["asked_by"], decision["triggers"]) == ("harness", ["low_confidence"])
    assert decision["details"] == ["the verdict's confidence 0.55 is below 0.70"]
    assert len(decision["state"]) == 64
    assert (decision["action"], decision["recommendation"]) == ("look at row 3", "r1")
    assert (decision["disposition"], decision["disposition_reason"]) == ("overridden", "row 3 is bounded above")
    assert (decision["executor_before"]["calls"], decision["executor_after"]["calls"]) == (1, 1)
    assert decision["last_error"] is None


def test_a_refused_consult_is_a_decision_too_and_a_conflict_is_told(kept: Path) -> None:
    *held, refused = view(kept, "sessions/run-3/decisions")
    assert [each["status"] for each in held] == ["answered"] * 4
    assert (refused["status"], refused["disposition"]) == ("denied", None)
    assert "All 4 consults" in refused["reason"]
    first, second = view(kept, "sessions/run-4/decisions")
    assert (first["changes"], bool(first["conflict"]), first["disposition"]) == (["drop"], True, "superseded")
    assert second["triggers"] == ["reconcile"]
    (unstated,) = view(kept, "sessions/run-5/decisions")
    assert (unstated["asked_by"], unstated["disposition"]) == ("executor", "not stated")


def test_a_session_says_whether_it_needed_advice_or_a_correction(kept: Path) -> None:
    sessions = {each["run_id"]: each for each in view(kept, "sessions")}
    assert {name: (each["self_sufficient"], each["first_pass"]) for name, each in sessions.items()} == {
        "run-1": (True, True),
        "run-2": (False, True),
        "run-3": (False, False),
        "run-4": (False, False),
        "run-5": (False, True),
        "run-6": (True, False),
    }
    stats = view(kept, "stats")
    assert (stats["self_sufficient_rate"], stats["first_pass_rate"]) == (2 / 6, 3 / 6)


def test_the_file_of_an_escalation_holds_each_rating_once(kept: Path, terminal: Terminal) -> None:
    out = terminal.folder / "exported"
    done = terminal.run("runs", "export", "run-3", str(out))
    assert done.code == 0, done.err
    (file,) = out.rglob(".advisor/*.json")
    log = json.loads(file.read_text(encoding="utf-8"))
    assert [each["disposition"] for each in log["advisor_calls"] if each["role"] == "mid_flight"] == ["applied"] * 4
    assert [each["confidence"] for each in log["confidence_log"]].count(0.1) == 5
