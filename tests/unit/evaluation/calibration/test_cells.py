"""Which findings tell something about a kind of which few are labelled."""

from dataclasses import replace

from tests.unit.evaluation.calibration.streams import KIND

from review_advisor.ledger.kind_records import ConfidencePair, FindingKind, cells


def pairs(many: int, kind: FindingKind, *, right: bool | None = True) -> list[ConfidencePair]:
    return [
        ConfidencePair(f"pull {each}", kind, 0.9, right, "people" if right is not None else "") for each in range(many)
    ]


def test_a_cell_below_30_labels_is_that_of_its_nearest_parent() -> None:
    style, newer = replace(KIND, category="style"), replace(KIND, prompts="p2")
    found = {each.asked: each for each in cells([*pairs(30, KIND), *pairs(4, newer), *pairs(3, style)])}

    assert (found[KIND].kind, found[KIND].own, len(found[KIND].pairs)) == (KIND, 30, 30)
    assert (found[newer].kind, found[newer].own) == (replace(KIND, prompts=""), 4)
    assert len(found[newer].pairs) == 34
    assert found[style].kind == FindingKind("executor", "opus", "pr_review")
    assert len(found[style].pairs) == 37


def test_everything_together_comes_first_and_may_be_too_few() -> None:
    first, own = cells(pairs(29, KIND))

    assert (first.asked, first.kind, first.is_enough) == (FindingKind(), FindingKind(), False)
    assert (own.asked, own.kind) == (KIND, FindingKind())


def test_what_has_no_label_counts_in_no_cell() -> None:
    (only,) = cells(pairs(40, KIND, right=None))

    assert (only.kind, only.pairs) == (FindingKind(), ())
