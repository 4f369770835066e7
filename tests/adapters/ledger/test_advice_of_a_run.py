"""``runs show`` tells what became of advice, and who of a council was asked, in the words of the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.adapters.ledgers import record
from tests.unit.outcome.altered import of_a_council
from tests.unit.pages.test_report_changes import DOUBTED, dropped_by_advice, identity_of

from review_advisor.ledger.queries import RunRecord, run_text
from review_advisor.ledger.run_queries import show_run
from review_advisor.mockworld.agents import approve, change, guidance, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.report import advice_lines


def attrition() -> MockWorld:
    world = MockWorld()
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    return world


def stored(document: OutcomeDocument, folder: Path) -> RunRecord:
    record(folder / "ledger.sqlite3", document)
    return show_run(folder / "ledger.sqlite3", document.run_id)


def test_a_run_tells_its_advice_as_its_report_does(tmp_path: Path) -> None:
    document = dropped_by_advice(attrition())
    run = stored(document, tmp_path)
    named = "'three may be missing' at src/app.py:3: medium -> dropped"
    told = run.advice
    assert told == (f"recommendation r1: {named}; verdict: reject -> approve", told[1])
    assert told == advice_lines(document.events)
    assert f"\nadvice\nrecommendation r1: {named}" in run_text(run)


def test_advice_that_changes_nothing_or_contradicts_is_told_alike(tmp_path: Path) -> None:
    world = attrition()
    sure = DOUBTED | {"confidence": 0.9, "severity": "critical"}
    world.agents.script(Role.EXECUTOR, reject(sure).sure(0.5), reject(sure).overriding("r1", "it is grave"))
    world.agents.script(
        Role.MID_FLIGHT, guidance("look again", change("keep", identity_of(sure)), change("drop", "f-of-nothing"))
    )
    document = world.review()
    told = stored(document, tmp_path).advice
    assert told == advice_lines(document.events)
    assert "refused: " in told[0]


def test_without_a_consult_of_the_review_there_is_nothing_to_tell(tmp_path: Path) -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is value 7 right?"))
    run = stored(world.review(), tmp_path)
    assert run.advice == ()
    assert "\nadvice\n" not in run_text(run)


def test_the_reasons_and_who_of_a_council_did_not_answer_are_told(tmp_path: Path) -> None:
    world = MockWorld()
    of_a_council(world)
    document = world.review()
    lines = run_text(stored(document, tmp_path)).splitlines()
    assert [f"because     {reason}" for reason in document.because] == [
        line for line in lines if line.startswith("because ")
    ]
    (head,) = [line.split() for line in lines if line.startswith("number") and "resolved_model" in line]
    assert head[:4] == ["number", "surface", "role", "advisor"]
    asked = [line.split() for line in lines if " post_verify " in line and " lost " in line]
    assert [cells[3] for cells in asked] == ["tester"]


def test_one_judge_alone_needs_no_name(tmp_path: Path) -> None:
    world = MockWorld()
    assert "advisor  " not in run_text(stored(world.review(), tmp_path))


def test_advice_that_this_version_cannot_read_is_said_to_be_there(tmp_path: Path) -> None:
    document = dropped_by_advice(attrition())
    of_tomorrow = replace(document.events[-1], kind="of_tomorrow")  # type: ignore[arg-type]
    events = (*document.events[:-1], of_tomorrow)
    (told,) = stored(replace(document, events=events), tmp_path).advice
    assert told.startswith("What became of the advice cannot be told: ")
