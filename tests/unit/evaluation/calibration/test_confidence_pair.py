"""A kind of findings, and the wider ones that hold it."""

from tests.unit.evaluation.calibration.streams import KIND

from review_advisor.core.evaluation.calibration.confidence_pair import ConfidencePair, FindingKind, labelled


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
