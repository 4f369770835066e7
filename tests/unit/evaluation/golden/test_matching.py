"""Findings held against a case: one to one, the place first, then the words."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.lab.golden_cases import CaseKind, GoldenCase, GoldenLabel, NamedChange
from review_advisor.lab.matching import Matching, RaisedFinding, askable, matched

LEAK = GoldenLabel("The connection is never returned to the pool", "pool.py", 10, 12, "high", "resource leak")
ROUNDING = GoldenLabel("Each line is rounded before the sum", "bill.py", 30, 30, "medium", "rounding")
CASE = GoldenCase(id="a", group="g", kind="faulty", change=NamedChange("x"), labels=(LEAK, ROUNDING))


def finding(file: str, first: int, last: int = 0, text: str = "something is wrong") -> RaisedFinding:
    return RaisedFinding(text, file, first, last or first, "high")


def labels_of(matching: Matching) -> set[str]:
    return {each.label.text for each in matching.right}


@pytest.mark.parametrize(
    "first, last, by",
    [
        (10, 10, "lines"),
        (12, 20, "lines"),
        (1, 10, "lines"),
        (15, 15, "near"),
        (7, 7, "near"),
        (16, 16, ""),
        (6, 6, ""),
    ],
)
def test_a_finding_is_at_a_label_from_three_lines_on(first: int, last: int, by: str) -> None:
    matching = matched(CASE, [finding("pool.py", first, last, "not returned to the pool")])
    assert [each.by for each in matching.right] == ([by] if by else [])


@pytest.mark.parametrize("first, by", [(10, "lines"), (12, "lines"), (9, ""), (13, ""), (15, "")])
def test_beside_the_lines_of_a_label_a_finding_says_it_in_words_alike(first: int, by: str) -> None:
    """A remark at random is near to something in any small change."""
    for text in ("Consider renaming this helper for clarity.", "This could be clearer."):
        remark = finding("pool.py", first, text=text)
        assert [each.by for each in matched(CASE, [remark]).right] == ([by] if by else [])
        assert len(matched(CASE, [remark], {(LEAK.text, text): True}).right) == 1, "a judge says the same"


def test_the_same_lines_of_another_file_are_another_place() -> None:
    assert matched(CASE, [finding("bill.py", 11, text=LEAK.text)]).right == ()


def test_a_finding_counts_for_one_label_and_a_label_for_one_finding() -> None:
    both = replace(CASE, labels=(LEAK, replace(LEAK, text="The lock is held too long")))
    assert len(matched(both, [finding("pool.py", 11)]).right) == 1
    twice = matched(CASE, [finding("pool.py", 11), finding("pool.py", 12)])
    assert (len(twice.right), len(twice.unknown)) == (1, 1)


def test_words_decide_between_labels_of_one_place() -> None:
    lock = replace(LEAK, text="The lock is held while the socket waits")
    case = replace(CASE, labels=(LEAK, lock))
    found = matched(case, [finding("pool.py", 11, text="the connection never goes back to the pool")])
    assert labels_of(found) == {LEAK.text}
    assert found.missed == (lock,)


def test_the_nearest_finding_is_the_one_that_says_a_label() -> None:
    near, at = finding("pool.py", 14, text=LEAK.text), finding("pool.py", 12)
    assert [each.finding for each in matched(CASE, [near, at]).right] == [at]


def test_a_pair_more_outweighs_a_nearer_place() -> None:
    second = replace(LEAK, text="The lock is held", first_line=15, last_line=15)
    case = replace(CASE, labels=(LEAK, second))
    between, above = finding("pool.py", 12, 15), finding("pool.py", 8, text=LEAK.text)
    assert len(matched(case, [between, above]).right) == 2


def test_without_lines_the_words_say_what_a_finding_is_about() -> None:
    said = RaisedFinding("A connection is not returned to the pool after an error", "pool.py")
    assert [each.by for each in matched(CASE, [said]).right] == ["text"]
    assert matched(CASE, [replace(said, file="bill.py")]).right == ()
    assert labels_of(matched(CASE, [replace(said, file="")])) == {LEAK.text}
    assert matched(CASE, [RaisedFinding("The name of the function could be better")]).right == ()


def test_a_finding_about_a_whole_file_has_no_place_in_it() -> None:
    assert matched(CASE, [finding("pool.py", 1, 500, "this could be tidier")]).right == ()
    assert matched(CASE, [finding("pool.py", 1, 40)]).right != ()


def test_a_label_about_a_whole_file_has_no_place_in_it() -> None:
    wide = replace(CASE, labels=(replace(LEAK, first_line=1, last_line=5_000),))
    assert matched(wide, [finding("pool.py", 4_000)]).right == ()
    assert [each.by for each in matched(wide, [finding("pool.py", 4_000, text=LEAK.text)]).right] == ["text"]


@pytest.mark.parametrize(
    "kind, exhaustive, wrong",
    [
        ("clean", False, 1),
        ("clean", True, 1),
        ("faulty", True, 1),
        ("hostile", True, 1),
        ("faulty", False, 0),
        ("hostile", False, 0),
    ],
)
def test_what_no_label_says_is_wrong_only_where_every_fault_is_known(
    kind: CaseKind, exhaustive: bool, wrong: int
) -> None:
    case = replace(CASE, kind=kind, exhaustive=exhaustive, labels=())
    matching = matched(case, [finding("new.py", 1)])
    assert (len(matching.wrong), len(matching.unknown)) == (wrong, 1 - wrong)


def test_what_people_refuted_is_wrong_wherever_it_is_said_again() -> None:
    refuted = GoldenLabel("The index may be negative here", "pool.py", 40, 40)
    case = replace(CASE, refuted=(refuted,))
    again = matched(case, [finding("pool.py", 41, text="this index can be negative"), finding("pool.py", 40)])
    assert [each.label for each in again.refuted] == [refuted]
    assert [each.text for each in again.wrong] == ["this index can be negative"]
    assert len(again.unknown) == 1


def test_a_judges_no_parts_what_a_place_joins_and_its_yes_joins_what_lines_part() -> None:
    there, far = finding("pool.py", 11), finding("pool.py", 200, text="the pool runs dry")
    assert matched(CASE, [there], {(LEAK.text, there.text): False}).right == ()
    assert [each.by for each in matched(CASE, [far], {(LEAK.text, far.text): True}).right] == ["text"]
    elsewhere = finding("bill.py", 200, text="the pool runs dry")
    assert matched(CASE, [elsewhere], {(LEAK.text, far.text): True}).right == ()


def test_a_judge_is_asked_once_about_what_it_can_decide() -> None:
    at, none, other = finding("pool.py", 11, text="b"), RaisedFinding("a", "pool.py"), finding("x.py", 11, text="c")
    assert askable(CASE, [at, at, none, other]) == ((LEAK.text, "a"), (LEAK.text, "b"))


PLACES = st.builds(
    finding,
    st.sampled_from(["pool.py", "bill.py", ""]),
    st.integers(0, 33),
    text=st.sampled_from(["pool", "rounded sum", "x"]),
)


@given(st.lists(PLACES, max_size=4))
def test_the_order_of_findings_and_labels_makes_no_difference(findings: list[RaisedFinding]) -> None:
    other = replace(CASE, labels=(ROUNDING, LEAK))
    found = matched(CASE, findings)
    for order in permutations(findings):
        again = matched(other, order)
        assert set(again.right) == set(found.right)
        assert (again.wrong, sorted(again.unknown)) == (found.wrong, sorted(found.unknown))
        assert set(again.missed) == set(found.missed)


@given(st.lists(PLACES, max_size=6))
def test_everything_is_counted_once(findings: list[RaisedFinding]) -> None:
    found = matched(CASE, findings)
    assert sorted([each.finding for each in found.right] + [*found.wrong, *found.unknown]) == sorted(findings)
    assert len(found.right) + len(found.missed) == len(CASE.labels)
