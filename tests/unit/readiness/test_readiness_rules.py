"""Each rule that a report on a release is held against, by itself."""

from __future__ import annotations

from typing import Any

import pytest

from review_advisor.tasks.readiness import (
    RELEASE_VERDICTS,
    ReleaseReport,
    conditions_unnamed,
    gone_with_gaps,
    invented_quotes,
    is_milder,
    mildest_verdict,
    miscounted,
    taken_back,
    too_many_consults,
    unconsulted,
    verdict_too_mild,
    without_a_majority,
)

EVIDENCE = "All tests passed.\nThe migration has\n  no way back.\n  no  go\n"


def blocker(severity: str = "high", evidence: str = "All tests passed.") -> dict[str, Any]:
    return {"id": "B1", "severity": severity, "description": "It breaks.", "evidence": evidence}


def risk(severity: str) -> dict[str, Any]:
    return {"id": "R1", "severity": severity, "description": "It may break.", "mitigation": "Watch it."}


def report(verdict: str = "go", **said: Any) -> ReleaseReport:
    told: dict[str, Any] = {"blockers": [], "risks": [], "required_actions": [], "advisor_consulted": True, **said}
    counts = {
        "blocker_count": len(told["blockers"]),
        "risk_count": len(told["risks"]),
        "required_action_count": len(told["required_actions"]),
    }
    usual = {"summary": "So it is.", "confidence": 0.8, "measurable_outputs": counts}
    return ReleaseReport.model_validate({"verdict": verdict, **usual, **told})


@pytest.mark.parametrize(
    "content, mildest",
    [
        ({}, "go"),
        ({"risks": [risk("medium"), risk("low")]}, "go"),
        ({"risks": [risk("high")]}, "conditional_go"),
        ({"risks": [risk("critical")]}, "conditional_go"),
        ({"blockers": [blocker("low")]}, "conditional_go"),
        ({"blockers": [blocker("medium")]}, "conditional_go"),
        ({"required_actions": ["Tell support."]}, "conditional_go"),
        ({"blockers": [blocker("high")]}, "hold"),
        ({"blockers": [blocker("low"), blocker("critical")]}, "hold"),
    ],
)
def test_what_a_report_lists_says_how_mild_its_verdict_can_be(content: dict[str, Any], mildest: str) -> None:
    assert mildest_verdict(report(**content))[0] == mildest
    for verdict in RELEASE_VERDICTS:
        assert bool(list(verdict_too_mild(report(verdict, **content)))) == is_milder(verdict, mildest)


def test_conditions_have_to_be_named() -> None:
    assert list(conditions_unnamed(report("conditional_go"))) != []
    assert list(conditions_unnamed(report("conditional_go", required_actions=["Tell support."]))) == []
    assert list(conditions_unnamed(report("hold"))) == []


@pytest.mark.parametrize("name", ["blocker_count", "risk_count", "required_action_count"])
def test_each_count_is_the_length_of_its_list(name: str) -> None:
    counts = {"blocker_count": 1, "risk_count": 1, "required_action_count": 1}
    lists = {"blockers": [blocker()], "risks": [risk("low")], "required_actions": ["Tell support."]}
    assert list(miscounted(report("hold", **lists, measurable_outputs=counts))) == []
    (said,) = miscounted(report("hold", **lists, measurable_outputs={**counts, name: 2}))
    assert said == f"The {name} is 2, but the report lists 1."


@pytest.mark.parametrize(
    "quote, is_there",
    [
        ("The migration has no way back.", True),
        ("migration  has\nno way", True),
        ("The migration has no way back!", False),
        ("the migration has no way back.", False),
        ("All tests passed. ... no way back.", False),
        ("s", False),
        ("way back", False),
        ("no  way back", True),
        ("no go", True),
        ("no", False),
    ],
)
def test_the_evidence_of_a_blocker_is_quoted_word_for_word(quote: str, is_there: bool) -> None:
    assert (list(invented_quotes(report("hold", blockers=[blocker(evidence=quote)]), EVIDENCE)) == []) == is_there


@pytest.mark.parametrize(
    "says, answered, holds", [(True, 1, True), (True, 0, False), (False, 0, False), (False, 1, False)]
)
def test_the_advisor_has_answered_and_the_report_says_so(says: bool, answered: int, holds: bool) -> None:
    assert (list(unconsulted(report(advisor_consulted=says), answered)) == []) == holds


def test_the_advisor_is_asked_no_more_often_than_allowed() -> None:
    assert list(too_many_consults(2, 2)) == []
    assert list(too_many_consults(3, 2)) == ["The advisor was asked 3 questions, but at most 2 are allowed."]


def test_no_worse_report_of_the_run_is_taken_back() -> None:
    assert list(taken_back("go", ("go",))) == []
    assert list(taken_back("hold", ("go", "", "nonsense"))) == []
    assert list(taken_back("conditional_go", ("go", "", ""))) == [
        "Another report of this run cannot be read, which counts as hold, the last one says conditional_go."
    ]
    assert list(taken_back("hold", ("go", "conditional_go"))) == []
    assert len(list(taken_back("go", ("hold", "hold", "conditional_go")))) == 2


def test_nobody_goes_without_a_vote() -> None:
    assert list(without_a_majority("go", None)) == ["The verdict is go, but nobody voted on it."]
    assert list(without_a_majority("hold", None)) == []


def test_a_release_with_gaps_goes_on_conditions_at_best() -> None:
    assert list(gone_with_gaps("go", ())) == []
    assert list(gone_with_gaps("conditional_go", ("#7 was not reviewed",))) == []
    assert list(gone_with_gaps("go", ("#7 was not reviewed", "#8 was not"))) == [
        "The verdict is go, but the evidence has gaps: #7 was not reviewed and 1 more."
    ]
