"""What a consult of the review itself changed: the report on which it was held, and the executor's next one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.ledgers import record

from review_advisor.ledger.page_entries import ReportChange, changes
from review_advisor.ledger.pages import RunPage
from review_advisor.ledger.run_queries import show_run
from review_advisor.mockworld.agents import Json, approve, change, confirm, finding, guidance, reject, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import AdviceOpen, Consulted, Escalated, Reported, Verified
from review_advisor.review.report import report_text

DOUBTED = finding("src/app.py", 3, "value = 3", "medium", confidence=0.5, title="three may be missing")
NEXT = finding("src/app.py", 5, "value = 5", "medium", confidence=0.5, title="five may be missing")
SURE = NEXT | {"confidence": 0.9}


@pytest.fixture
def attrition() -> MockWorld:
    world = MockWorld()
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    return world


def identity_of(said: Json) -> str:
    other = MockWorld()
    other.agents.script(Role.EXECUTOR, reject(said))
    return other.review().findings[0].id


def dropped_by_advice(world: MockWorld) -> OutcomeDocument:
    world.agents.script(Role.EXECUTOR, reject(DOUBTED), approve().applying("r1"))
    world.agents.script(Role.MID_FLIGHT, guidance("drop it", change("drop", identity_of(DOUBTED))))
    return world.review()


def of_consults(document: OutcomeDocument) -> list[ReportChange]:
    events = document.events
    return [told for number, told in changes(events).items() if isinstance(events[number], Consulted)]


def place(document: OutcomeDocument, kind: type) -> list[int]:
    return [number for number, event in enumerate(document.events) if isinstance(event, kind)]


def test_the_report_on_which_the_review_consults_is_the_one_before_its_advice(attrition: MockWorld) -> None:
    document = dropped_by_advice(attrition)
    (told,) = of_consults(document)
    assert ([told.before], [told.after]) == (place(document, Escalated), place(document, Reported))
    assert told.verdicts == ("reject", "approve")
    assert [(each.how, each.finding.title) for each in told.findings] == [("gone", "three may be missing")]


def test_of_two_consults_in_a_row_each_is_told_with_its_own_reports(attrition: MockWorld) -> None:
    attrition.agents.script(Role.EXECUTOR, reject(DOUBTED), reject(NEXT).applying("r1"), approve().applying("r2"))
    attrition.agents.script(Role.MID_FLIGHT, guidance("look at three"), guidance("look at five"))
    document = attrition.review()
    first, second = of_consults(document)
    one, other = place(document, Escalated)
    assert (first.before, first.after, second.before) == (one, other, other)
    assert [second.after] == place(document, Reported)
    assert [(each.how, each.finding.line) for each in first.findings] == [("gone", 3), ("new", 5)]
    assert [(each.how, each.finding.line) for each in second.findings] == [("gone", 5)]


def test_the_report_that_leaves_advice_open_comes_after_it(attrition: MockWorld) -> None:
    attrition.agents.script(Role.EXECUTOR, reject(DOUBTED), reject(DOUBTED), approve().applying("r1"))
    attrition.agents.script(Role.MID_FLIGHT, guidance("drop it", change("drop", identity_of(DOUBTED))))
    document = attrition.review()
    (told,) = of_consults(document)
    assert [told.after] == place(document, AdviceOpen)


def test_what_a_veto_changed_ends_with_the_final_report_of_the_retry(attrition: MockWorld) -> None:
    attrition.agents.script(Role.EXECUTOR, approve(), reject(DOUBTED), reject(SURE).applying("r1"))
    attrition.agents.script(Role.MID_FLIGHT, guidance("look at three"))
    attrition.agents.script(Role.POST_VERIFY, veto("look again"), confirm())
    document = attrition.review()
    vetoed, _confirmed = place(document, Verified)
    told = changes(document.events)[vetoed]
    assert [told.before, told.after] == place(document, Reported)


def test_a_finding_that_advice_takes_away_is_told_by_its_title(attrition: MockWorld, tmp_path: Path) -> None:
    document = dropped_by_advice(attrition)
    named = "'three may be missing' at src/app.py:3: medium -> dropped"
    assert named in report_text(document)
    assert entry_of(document, "recommended", tmp_path)["blocks"] == [["Diff", [named, "verdict: reject -> approve"]]]


def entry_of(document: OutcomeDocument, kind: str, folder: Path) -> Any:
    record(folder / "ledger.sqlite3", document)
    line = show_run(folder / "ledger.sqlite3", document.run_id).line
    (entry,) = (each for each in RunPage(line, document.events, document).as_json()["entries"] if each["kind"] == kind)
    return entry
