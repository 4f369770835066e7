"""How often a kind of finding was right: whose labels count, how it is said, and which files are believed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.lab.calibration import calibration, proposed_kinds
from review_advisor.ledger.kind_records import (
    LONGEST_KINDS_FILE,
    ConfidencePair,
    FindingKind,
    KindRecord,
    LabelSource,
    kind_records,
    parse_kind_records,
)

KIND = FindingKind("executor", "haiku", "pr_review", "bug", "0123456789ab")
DAY = date(2026, 11, 26)


def pairs(many: int, right: int, kind: FindingKind = KIND, source: LabelSource = "people") -> list[ConfidencePair]:
    return [ConfidencePair(f"acme/shop#{n}", kind, 0.9, n < right, source) for n in range(many)]


def test_versions_of_the_prompts_count_together_and_other_categories_apart() -> None:
    later, other = replace(KIND, prompts="ba9876543210"), replace(KIND, category="style")
    found = kind_records([*pairs(20, 18), *pairs(14, 12, later), *pairs(40, 1, other)])

    assert found == (KindRecord(replace(other, prompts=""), 40, 1), KindRecord(replace(KIND, prompts=""), 34, 30))


def test_a_kind_of_few_pull_requests_or_without_a_name_has_no_record() -> None:
    alike = [replace(each, group=f"acme/shop#{n % 9}") for n, each in enumerate(pairs(60, 60))]
    nameless = pairs(60, 60, replace(KIND, model="")) + pairs(60, 60, replace(KIND, category="x" * 121))
    assert kind_records([*alike, *nameless]) == ()


@pytest.mark.parametrize("source", ["revert", "golden"])
def test_only_peoples_labels_count(source: LabelSource) -> None:
    assert kind_records(pairs(29, 29) + pairs(60, 60, source=source)) == ()
    assert calibration(pairs(60, 60, source=source), source, 10, lambda _: 0).kinds == ()


@pytest.mark.parametrize(
    "labels, right, share", [(54, 47, "87%"), (400, 399, "99%"), (400, 1, "1%"), (30, 30, "100%"), (30, 0, "0%")]
)
def test_what_did_not_always_happen_is_not_told_as_always(labels: int, right: int, share: str) -> None:
    said = KindRecord(KIND, labels, right).words

    assert said == f"Findings of this kind were right {share} of the time, as people said (n = {labels})."


@given(st.text(min_size=1, max_size=80).filter(lambda each: each.isprintable() or "\n" in each))
def test_what_is_proposed_is_read_as_it_was_whatever_a_model_calls_a_kind(name: str) -> None:
    kind = replace(KIND, category=name.casefold(), model=name)
    told = calibration(pairs(30, 12, kind), "people", 5, lambda _: 0)
    found = parse_kind_records(proposed_kinds(told, DAY))

    assert found.made == DAY
    assert [(each.labels, each.right) for each in found.records] == [(30, 12)]
    assert found.records[0].kind == replace(kind, prompts="")


HEAD = 'made = 2026-11-26\nlabels_of = "people"\n'


@pytest.mark.parametrize(
    "text, why",
    [
        ("made = ", "is not valid TOML"),
        ('labels_of = "people"', "made: is missing"),
        ('made = 2026-11-26\nlabels_of = "golden"', "labels_of"),
        (f'{HEAD}[[kind]]\nadvisor = "a"\n', "kind.0.model: is missing"),
        (f"{HEAD}least = 3\n", "least: is not a known key"),
        (HEAD + "#" * LONGEST_KINDS_FILE, "has more than 200,000 characters"),
    ],
)
def test_a_file_that_is_not_right_is_refused_with_the_place(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_kind_records(text)
