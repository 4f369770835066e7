"""The report on a release: what its block may hold, and what of an unusable one still counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review_advisor.tasks.readiness import ReleaseReport, fake_report, read_release_report, report_schema

SOUND = fake_report()
RISK = SOUND["risks"][0]


def test_a_sound_report_is_read_and_kept_whole() -> None:
    read = read_release_report(SOUND)
    assert (read.action, read.error) == ("conditional_go", "")
    assert json.loads(read.text) == SOUND
    assert ReleaseReport.model_validate_json(read.text).measurable_outputs.risk_count == 1


@pytest.mark.parametrize("name", SOUND)
def test_every_key_has_to_be_there(name: str) -> None:
    assert read_release_report({key: value for key, value in SOUND.items() if key != name}).error.startswith(name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"more": 1},
        {"measurable_outputs": {**SOUND["measurable_outputs"], "more": 1}},
        {"risks": [{**RISK, "more": 1}]},
        {"blockers": [{"id": "B1", "severity": "high", "description": "It breaks.", "evidence": "", "more": 1}]},
        {"verdict": "maybe"},
        {"risks": [{**RISK, "severity": "grave"}]},
        {"risks": [{**RISK, "mitigation": " "}]},
        {"confidence": 1.1},
        {"confidence": -0.1},
        {"measurable_outputs": {**SOUND["measurable_outputs"], "risk_count": -1}},
        {"blockers": None},
        {"risks": [RISK] * 51},
    ],
)
def test_a_report_with_anything_else_cannot_be_used(wrong: dict[str, Any]) -> None:
    read = read_release_report({**SOUND, **wrong})
    assert read.error
    assert read.action == ("" if "verdict" in wrong else "conditional_go")


def test_the_verdict_of_an_unusable_report_still_counts() -> None:
    assert read_release_report({"verdict": " HOLD "}).action == "hold"
    assert read_release_report({"verdict": ["hold"]}).action == ""


def test_words_are_read_in_any_case() -> None:
    read = read_release_report({**SOUND, "verdict": "Hold", "risks": [{**RISK, "severity": "HIGH"}]})
    assert (read.action, read.error) == ("hold", "")


def test_what_is_kept_of_an_unusable_report_is_bounded() -> None:
    assert len(read_release_report({"verdict": "x" * 1_000_000}).text) <= 60_000


def test_the_schema_allows_no_other_key() -> None:
    schema = json.loads(report_schema())
    assert schema["additionalProperties"] is False
    assert {each["additionalProperties"] for each in schema["$defs"].values()} == {False}
    assert set(schema["required"]) == set(SOUND)
