"""Which findings are pairs of confidence and truth, and who says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from tests.adapters.ledgers import told
from tests.unit.evaluation.golden.test_from_observations import FIRST, REVIEW, SECOND, label, reviewed

from review_advisor.ledger.kind_records import ConfidencePair, observed_pairs, stated_run
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.observed import ObservedLabel

REVERTED = (label("judged", "judged"), label("reverted", "reverted"))


def pairs_of(runs: Iterable[tuple[OutcomeDocument, Sequence[ObservedLabel]]]) -> tuple[ConfidencePair, ...]:
    return observed_pairs(filter(None, (stated_run(document, labels) for document, labels in runs)))


def of_first(*labels: ObservedLabel) -> ConfidencePair:
    """What is known of the first of two findings."""
    first, _ = pairs_of([(REVIEW, labels)])
    return first


@pytest.mark.parametrize(
    "labels, truth",
    [
        ((), (None, "")),
        ((label("thread", "resolved", FIRST.id), label("at_merge", "gone", FIRST.id)), (None, "")),
        ((label("reaction", "up", FIRST.id),), (True, "people")),
        ((label("reaction", "down", FIRST.id),), (False, "people")),
        ((label("dismissal", "dismissed", FIRST.id),), (False, "people")),
        ((label("reaction", "up", SECOND.id),), (None, "")),
        (REVERTED, (True, "revert")),
        (REVERTED[1:], (None, "")),
        ((*REVERTED, label("dismissal", "dismissed", FIRST.id)), (False, "people")),
    ],
)
def test_people_and_reverts_say_whether_a_finding_is_right_each_for_itself(
    labels: tuple[ObservedLabel, ...], truth: tuple[bool | None, str]
) -> None:
    found = of_first(*labels)

    assert (found.right, found.source) == truth


def test_a_pair_says_who_stated_the_confidence_and_in_answer_to_which_prompts() -> None:
    pair = of_first()

    assert (pair.confidence, pair.group, pair.kind.advisor) == (FIRST.confidence, "acme/shop#7", "executor")
    assert (pair.kind.surface, pair.kind.category) == ("pr_review", "correctness")
    assert pair.kind.model
    assert len(pair.kind.prompts) == 12


def test_a_finding_that_a_push_repeats_counts_once_and_on_another_pull_request_again() -> None:
    labels = (label("reaction", "up", FIRST.id),)
    found = pairs_of([(reviewed(2), labels), (REVIEW, ()), (reviewed(3, pull_request=8), ())])

    assert [(each.group, each.right) for each in found] == [
        ("acme/shop#7", True),
        ("acme/shop#7", None),
        ("acme/shop#8", None),
        ("acme/shop#8", None),
    ]


def test_what_people_were_not_shown_and_what_is_no_pull_request_is_no_pair() -> None:
    assert len(pairs_of([(replace(REVIEW, findings=(FIRST,)), ())])) == 1
    assert pairs_of([(replace(REVIEW, pull_request=None), ()), (told(), ())]) == ()
