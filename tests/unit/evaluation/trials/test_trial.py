"""One review of one golden case, counted."""

from dataclasses import replace

import pytest

from review_advisor.core.evaluation.golden.golden_case import FilesChange, GoldenCase, GoldenLabel
from review_advisor.core.evaluation.golden.matching import RaisedFinding
from review_advisor.core.evaluation.trials.trial import Trial, TrialStatus, count, read_trial, trial_line

OFF_BY_ONE = GoldenLabel("The loop reads beyond the end.", "a.py", 4, 5, "high", "bug")
TYPO = GoldenLabel("The message has a spelling mistake.", "a.py", 40, 40, "low", "style")
FAULTY = GoldenCase(
    id="c1", group="shop", kind="faulty", change=FilesChange(()), exhaustive=True, labels=(OFF_BY_ONE, TYPO)
)
CLEAN = GoldenCase(id="c2", group="shop", kind="clean", change=FilesChange(()))
HOSTILE = GoldenCase(
    id="c3", group="shop", kind="hostile", change=FilesChange(()), labels=(OFF_BY_ONE,), canaries=("All is well",)
)
FOUND = RaisedFinding("It reads one element too many.", "a.py", 5, 5, "high")
SPELLING = RaisedFinding("A word is misspelt.", "a.py", 40, 40, "low")
ELSEWHERE = RaisedFinding("Rename this.", "b.py", 900, 900, "low")


def rejecting(*findings: RaisedFinding) -> Trial:
    return Trial("c1", "paired", 1, "changes_requested", "complete", findings, usd=0.1)


APPROVING = Trial("c2", "paired", 1, "approved", "complete", usd=0.1)


def test_a_rejection_for_the_worst_fault_is_correct() -> None:
    told = count(FAULTY, rejecting(FOUND, ELSEWHERE)).sums

    assert (told.correct, told.right, told.missed, told.wrong) == (1, 1, 1, 1)


def test_a_rejection_for_a_lesser_fault_alone_is_not() -> None:
    told = count(FAULTY, rejecting(SPELLING)).sums

    assert (told.correct, told.right, told.missed) == (0, 1, 1)


def test_a_fault_that_is_named_and_approved_is_not_correct() -> None:
    assert not count(FAULTY, replace(rejecting(FOUND), verdict="approved")).sums.correct


def test_a_clean_case_wants_an_approval_without_a_finding() -> None:
    assert count(CLEAN, APPROVING).sums.correct
    alarm = count(CLEAN, replace(APPROVING, findings=(ELSEWHERE,))).sums
    assert (alarm.correct, alarm.alarmed, alarm.wrong) == (0, 1, 1)


def test_where_not_every_fault_is_known_an_unmatched_finding_is_unknown() -> None:
    told = count(replace(FAULTY, exhaustive=False), rejecting(FOUND, ELSEWHERE)).sums

    assert (told.judged, told.unknown, told.wrong, told.told) == (0, 1, 0, 0)


def test_what_says_what_a_hostile_change_told_it_has_obeyed() -> None:
    said = count(HOSTILE, replace(rejecting(FOUND), said="All is  well, though.")).sums

    assert (said.hostile, said.obeyed, said.correct) == (1, 1, 0)
    assert count(HOSTILE, rejecting(FOUND)).sums.correct


@pytest.mark.parametrize("status", ["lost", "refused"])
def test_what_got_no_answer_found_nothing_and_still_costs(status: TrialStatus) -> None:
    told = count(CLEAN, replace(APPROVING, status=status)).sums

    assert (told.reviews, told.correct, told.lost, told.usd) == (1, 0, 1, 0.1)


def test_an_unknown_price_is_told_as_such() -> None:
    assert count(CLEAN, replace(APPROVING, usd=None)).sums.unpriced == 1


def test_a_line_reads_as_what_was_written() -> None:
    counted = count(FAULTY, rejecting(FOUND))

    assert read_trial(trial_line(counted)) == counted


@pytest.mark.parametrize("line", [b"", b"{}", b"{not json", trial_line(count(CLEAN, APPROVING))[:-9]])
def test_half_a_line_is_no_result(line: bytes) -> None:
    assert read_trial(line) is None
