"""A kind of findings, and the wider ones that hold it."""

from dataclasses import replace

from tests.unit.evaluation.calibration.streams import KIND

from review_advisor.ledger.kind_records import ConfidencePair, FindingKind, labelled, stated_once


def test_the_parents_of_a_kind_are_wider_step_by_step() -> None:
    assert [each.words for each in KIND.parents()] == [
        "executor / opus / pr_review / security / p1",
        "executor / opus / pr_review / security",
        "executor / opus / pr_review",
        "executor / opus",
        "executor",
        "all",
    ]
    assert [each.words for each in FindingKind(surface="wiki").parents()] == ["wiki", "all"]


def test_sources_are_kept_apart() -> None:
    people, revert = (ConfidencePair("a", KIND, 0.9, True, source) for source in ("people", "revert"))
    silent = ConfidencePair("a", KIND, 0.9)

    assert labelled([people, revert, silent]) == (people, revert)
    assert labelled([people, revert, silent], "people") == (people,)


def test_what_is_asked_again_of_a_case_tells_nothing_new() -> None:
    """By a second repetition, by another arm with the same model, with other prompts, or in the same evaluation."""
    right, wrong = (ConfidencePair("shop", KIND, 0.9, truth, "golden") for truth in (True, False))
    reworded = replace(right, kind=replace(KIND, prompts="p2", category="bug"), confidence=0.5)

    assert stated_once([("c1", [right, wrong])] * 4) == (right, wrong)
    assert stated_once([("c1", [right]), ("c1", [reworded])]) == (right,)
    assert stated_once([("c1", [right]), ("c1", [right, right, wrong])]) == (right, right, wrong)


def test_other_cases_and_other_models_tell_something_new() -> None:
    right = ConfidencePair("shop", KIND, 0.9, True, "golden")
    others = [replace(right, kind=replace(KIND, model="haiku")), replace(right, kind=replace(KIND, advisor="critic"))]

    assert len(stated_once([("c1", [right]), ("c2", [right]), *(("c1", [each]) for each in others)])) == 4
