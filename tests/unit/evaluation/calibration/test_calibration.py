"""What a calibration comes to, as a table, as JSON and as a proposal."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from random import Random

import pytest
from tests.unit.evaluation.calibration.streams import KIND, honest, overconfident, stream

from review_advisor.lab.calibration import (
    Calibration,
    ClassThreshold,
    calibration,
    calibration_as_json,
    calibration_text,
    proposed_thresholds,
)
from review_advisor.ledger.kind_records import ConfidencePair, LabelSource
from review_advisor.policy.escalation_rules import FIRST_THRESHOLD, VERDICT, EscalationRules
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.thresholds import parse_thresholds

TODAY = date(2026, 11, 24)


def calibrated(pairs: list[ConfidencePair], source: LabelSource = "people") -> Calibration:
    return calibration(pairs, source, 200, Random(1).randrange)


def test_the_sources_are_kept_apart_and_silence_is_counted() -> None:
    pairs = stream(1, honest, 60)
    silent = [replace(each, right=None, source="") for each in pairs]
    reverted = [replace(each, right=True, source="revert") for each in pairs[:50]]
    found = calibrated([*pairs, *silent, *reverted])

    assert found.unlabelled == len(silent)
    assert found.by_source == (("people", len(pairs), sum(bool(e.right) for e in pairs)), ("revert", 50, 50))
    assert len(found.cells[0].cell.pairs) == len(pairs)
    assert calibrated([*pairs, *reverted], "revert").thresholds == ()


def class_of(*tenths: tuple[float, int, int], pulls: int = 40) -> ClassThreshold:
    """The threshold of a category; of each tenth its confidence, how many findings state it, and how many are right."""
    stated = [(confidence, n < right) for confidence, many, right in tenths for n in range(many)]
    pairs = [ConfidencePair(f"pull {n % pulls}", KIND, *each, "people") for n, each in enumerate(stated)]
    (found,) = calibrated(pairs).thresholds
    return found


@pytest.mark.parametrize(
    "tenths, value",
    [
        ([(0.55, 100, 60), (0.85, 100, 95), (0.95, 100, 98)], 0.85),
        ([(0.45, 100, 95), (0.65, 100, 60), (0.95, 100, 98)], 0.95),
        ([(0.45, 100, 95), (0.95, 100, 98)], 0.45),
        ([(0.55, 100, 95), (0.95, 100, 40)], 1.0),
        ([(0.55, 100, 95), (0.95, 100, 72)], None),
        ([(0.55, 195, 190), (0.95, 5, 0)], 0.55),
        ([(0.55, 99, 99), (0.95, 100, 98)], None),
    ],
    ids=[
        "the least tenth that is surely right",
        "a tenth below a wrong one does not count",
        "what nobody stated is no gap",
        "surely wrong",
        "perhaps right",
        "five labels of a tenth tell nothing",
        "too few labels",
    ],
)
def test_a_threshold_is_where_70_percent_are_surely_right_from_there_on(
    tenths: list[tuple[float, int, int]], value: float | None
) -> None:
    assert class_of(*tenths).value == value


def test_the_findings_of_few_pull_requests_show_no_threshold() -> None:
    found = class_of((0.95, 300, 300), pulls=9)
    assert (found.value, found.because) == (None, "9 pull requests are fewer than 10")


def test_the_proposal_is_read_as_thresholds_and_says_that_nothing_reads_it() -> None:
    category = 'a "wild"\n[[threshold]]\nvalue = 0\x7f'
    pairs = [replace(each, kind=replace(KIND, category=category)) for each in stream(2, overconfident, 300)]
    found = calibrated(pairs)
    text = proposed_thresholds(found, TODAY)

    assert [(each.surface, each.category) for each in parse_thresholds(text)] == [("pr_review", category)]
    assert all(each.value > FIRST_THRESHOLD for each in parse_thresholds(text))
    assert "Nothing reads this file." in text
    assert "\n[[threshold]]\nvalue = 0\n" not in text


@pytest.mark.parametrize("category", ["bug", VERDICT])
def test_no_threshold_of_findings_says_how_sure_of_a_verdict_one_has_to_be(category: str) -> None:
    pairs = [replace(each, kind=replace(KIND, category=category)) for each in stream(2, overconfident, 300)]
    rules = EscalationRules(thresholds=parse_thresholds(proposed_thresholds(calibrated(pairs), TODAY)))
    assert {rules.threshold(surface, VERDICT) for surface in Surface} == {FIRST_THRESHOLD}


def test_no_threshold_is_lower_than_what_was_stated_and_a_looser_one_says_so() -> None:
    pairs = [
        replace(each, confidence=0.45 + each.confidence / 4, right=n % 12 > 0)
        for n, each in enumerate(stream(2, honest, 300))
    ]
    text = proposed_thresholds(calibrated(pairs), TODAY)
    (proposed,) = parse_thresholds(text)
    assert min(each.confidence for each in pairs) <= proposed.value < FIRST_THRESHOLD
    assert "# lower than 0.7, which holds without it" in text


def test_where_no_labels_show_a_threshold_nothing_is_proposed() -> None:
    assert proposed_thresholds(calibrated(stream(1, honest, 40)), TODAY) == ""


def test_a_person_sees_the_bins_and_why_there_is_no_threshold() -> None:
    text = calibration_text(calibrated(stream(1, honest, 20)))
    whole = calibration_text(calibrated(stream(1, honest, 150)))

    assert "fewer than 200 labels" in text
    assert "more than 70% of each tenth are right" in whole
    assert "0.9 to 1.0" in whole
    assert calibration_text(calibrated([])).splitlines()[0].split() == ["findings", "0", "on", "pull", "requests"]


def test_a_program_gets_every_number() -> None:
    told = calibration_as_json(calibrated(stream(2, overconfident, 300)))

    whole = told["cells"][0]
    assert whole["n"] == sum(each["n"] for each in whole["bins"])
    assert whole["ece_interval"][0] < whole["ece"] < whole["ece_interval"][1]
    assert whole["risk_coverage"][-1]["coverage"] == 1
    assert told["thresholds"][0] == {
        "surface": "pr_review",
        "category": "security",
        "labels": whole["n"],
        "value": 0.9,
        "because": "from there on, more than 70% of each tenth are right",
    }
