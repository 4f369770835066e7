"""A finding's decision card: asked for only where the configuration says so, and it decides nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from tests.scenarios.test_the_teams_own_rules import ruled

from review_advisor.agents.answers import SEVERITIES, FixEffort, triage, without_card
from review_advisor.github.comment_text import finding_body
from review_advisor.mockworld.agents import Json, finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import outcome_json, read_outcome
from review_advisor.review.events import Reported

CARD: Json = {"at_risk": "Money is lost.", "downside": "Slower.", "effort": "small", "proof": "Run it with 0."}
GRAVE = finding("src/app.py", 3, "value = 3", title="It divides by zero")


def reviewed(world: MockWorld, *found: Json) -> tuple[Reported, MockWorld]:
    world.agents.script(Role.EXECUTOR, reject(*found))
    document = world.review()
    assert read_outcome(outcome_json(document)) == document
    (report,) = (event for event in document.events if isinstance(event, Reported))
    return report, world


def carded() -> MockWorld:
    world = MockWorld()
    world.rules = replace(world.rules, decision_cards=True)
    return world


def test_a_card_has_what_is_at_risk_the_price_of_the_fix_and_a_cheap_proof() -> None:
    report, world = reviewed(carded(), GRAVE | CARD | {"body": "The loop may run with 0."})
    (found,) = report.report.findings
    assert found.body == (
        "The loop may run with 0.\n\nAt risk: Money is lost.\nDownside of the fix: Slower.\nEffort: small\n"
        "Cheap proof: Run it with 0.\nTriage: clear-cut"
    )
    assert without_card(found.body) == "The loop may run with 0."
    for words in ("At risk: Money is lost.", "Triage: clear-cut"):
        assert words in finding_body(found)
    (asked,) = world.calls(Role.EXECUTOR)
    schema = asked.answer.model_json_schema()
    (kind,) = (each for name, each in schema["$defs"].items() if name.endswith("CardFinding"))
    assert set(CARD) <= set(kind["properties"])


def test_a_card_changes_neither_the_finding_nor_the_verdict() -> None:
    with_card, _ = reviewed(carded(), GRAVE | CARD)
    without, _ = reviewed(MockWorld(), GRAVE)
    (one,), (other,) = with_card.report.findings, without.report.findings
    assert replace(one, body="") == replace(other, body="")
    assert with_card.report.verdict == without.report.verdict


def test_without_the_setting_nobody_is_asked_for_a_card_and_what_is_said_of_one_is_dropped() -> None:
    report, world = reviewed(MockWorld(), GRAVE | CARD)
    assert report.report.findings[0].body == ""
    (asked,) = world.calls(Role.EXECUTOR)
    assert "at_risk" not in str(asked.answer.model_json_schema())


def test_a_card_that_cannot_be_read_loses_no_finding() -> None:
    broken: Json = {"at_risk": 7, "downside": ["x"], "effort": "gigantic", "proof": "y" * 9_000}
    report, _ = reviewed(carded(), GRAVE | broken)
    (found,) = report.report.findings
    assert found.body.startswith("\n\nAt risk: not said\nCheap proof: yyy")
    assert len(found.body) < 500


def test_a_card_stands_beside_the_teams_rules() -> None:
    world = carded()
    ruled(world)
    report, _ = reviewed(world, GRAVE | CARD | {"rule": "REVIEW.md:3"})
    (found,) = report.report.findings
    assert found.rule == "REVIEW.md:3"
    assert "Triage: clear-cut" in found.body


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("effort", get_args(FixEffort))
def test_who_is_unsure_never_calls_a_finding_clear_cut(severity: str, effort: FixEffort) -> None:
    for confidence in (0.0, 0.69):
        assert triage(severity, effort, confidence) == "a judgement call"  # type: ignore[arg-type]
    sure = triage(severity, effort, 0.7)  # type: ignore[arg-type]
    assert (sure == "clear-cut") is (effort == "small")
    assert (sure == "worth the effort") is (effort in ("medium", "large") and severity in ("critical", "high"))
