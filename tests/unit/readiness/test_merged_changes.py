"""What a repository itself says of a release: which merges are settled, and which leave a gap."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.change.git_history import MergedChange, ReleaseHistory
from review_advisor.safety.fence import clean
from review_advisor.tasks.readiness import LastReview, gathered_evidence, review_end

HEAD, START = "b" * 40, "f" * 40
MERGE = MergedChange("a" * 40, "Move orders", 7, head=HEAD)
SQUASH = replace(MERGE, head="")
APPROVED = LastReview("run-1", "approved", HEAD)
SEEN = replace(APPROVED, merged_as="a" * 12, merged_head=HEAD)


@pytest.mark.parametrize(
    "change, review, end",
    [
        (MERGE, APPROVED, "approved"),
        (SQUASH, SEEN, "approved"),
        (SQUASH, APPROVED, "of an unknown head"),
        (SQUASH, replace(SEEN, merged_as="c" * 12), "of an unknown head"),
        (SQUASH, replace(SEEN, merged_as=""), "of an unknown head"),
        (SQUASH, replace(SEEN, merged_as="GitHub says so"), "of an unknown head"),
        (SQUASH, replace(SEEN, merged_head="c" * 40), "of another head"),
        (MERGE, replace(APPROVED, head_sha="c" * 40), "of another head"),
        (SQUASH, replace(SEEN, head_sha="c" * 40), "of another head"),
        (MERGE, replace(APPROVED, degraded=True), "without a judgement"),
        (MERGE, replace(APPROVED, disabled=True), "without a judgement"),
        (MERGE, replace(APPROVED, status="changes_requested"), "open"),
        (MERGE, replace(APPROVED, status="escalated"), "open"),
        (MERGE, replace(APPROVED, status="escalated", overridden=True), "overridden"),
        (MERGE, replace(APPROVED, status="escalated", overridden=True, head_sha="c" * 40), "of another head"),
        (MERGE, replace(APPROVED, status="stopped"), "not reviewed"),
        (MERGE, replace(APPROVED, status="unfinished"), "not reviewed"),
        (MERGE, replace(APPROVED, trouble="it was changed"), "not reviewed"),
        (MERGE, None, "not reviewed"),
        (replace(MERGE, pull_request=None), APPROVED, "not reviewed"),
    ],
)
def test_how_a_merged_change_was_reviewed(change: MergedChange, review: LastReview | None, end: str) -> None:
    assert review_end(change, review)[0] == end
    gathered = gathered_evidence(
        ReleaseHistory("v1", START, "d" * 40, (change,)), {} if review is None else {7: review}
    )
    assert bool(gathered.gaps) == (end not in ("approved", "overridden"))


def test_a_pull_request_that_two_commits_name_is_a_gap_of_each() -> None:
    changes = (MERGE, replace(MERGE, commit="e" * 40, head=""))
    gathered = gathered_evidence(ReleaseHistory("v1", START, "d" * 40, changes), {7: APPROVED})
    assert gathered.gaps == ("#7 Move orders: 2 commits name its pull request",) * 2


def test_commits_without_a_pull_request_name_none_twice() -> None:
    changes = (MergedChange("a" * 40, "Bump"), MergedChange("b" * 40, "Bump again"))
    gathered = gathered_evidence(ReleaseHistory("v1", START, "d" * 40, changes), {})
    assert [each.rpartition(": ")[2] for each in gathered.gaps] == ["it came without a pull request"] * 2


def test_what_does_not_fit_into_the_evidence_is_a_gap_and_no_gap_is_listed_twice() -> None:
    changes = [replace(MERGE, title="\u3164" * 500, pull_request=number) for number in range(1, 201)]
    reviews = {number: replace(APPROVED, trouble="\u3164" * 500) for number in range(1, 201)}
    gathered = gathered_evidence(ReleaseHistory("v1", START, "d" * 40, tuple(changes)), reviews, "\u3164" * 500)
    assert len(clean(gathered.text)) < 60_000
    told = gathered.text.count("\n## #")
    assert 50 < told < 200
    assert gathered.gaps[-1] == f"more than {told} changes were merged, and only these are told"
    assert (len(gathered.gaps), gathered.text.count(gathered.gaps[-1])) == (201, 1)


def test_the_evidence_tells_each_change_and_what_is_open() -> None:
    changes = (MERGE, replace(MERGE, title="Retry payments", pull_request=8), MergedChange("e" * 40, "Bump"))
    reviews = {7: replace(APPROVED, vetoes=1, findings=2), 8: replace(APPROVED, status="escalated")}
    gathered = gathered_evidence(ReleaseHistory("v1.0", START, "d" * 40, changes), reviews)
    assert gathered.source == f"3 changes since v1.0 ({START})"
    assert gathered.text.splitlines() == [
        f"# Changes since v1.0 ({START})",
        "",
        "3 changes up to dddddddddddd. Reviews: approved: 1; not reviewed: 1; open: 1.",
        "",
        "## #7 Move orders",
        "",
        "- commit aaaaaaaaaaaa",
        "- review: approved (its last review ended as approved)",
        "- run run-1: vetoes 1, findings 2",
        "",
        "## #8 Retry payments",
        "",
        "- commit aaaaaaaaaaaa",
        "- review: open (its last review ended as escalated, and nobody is known to have settled that)",
        "- run run-1: vetoes 0, findings 0",
        "",
        "## Bump",
        "",
        "- commit eeeeeeeeeeee",
        "- review: not reviewed (it came without a pull request)",
    ]


def test_a_release_that_is_too_large_to_be_told_has_a_gap() -> None:
    gathered = gathered_evidence(ReleaseHistory("v1", START, "d" * 40, (SQUASH,), more=True), {7: SEEN})
    assert gathered.gaps == ("more than 1 change was merged, and only these are told",)


def test_a_ledger_that_cannot_be_asked_is_said_to_be_so() -> None:
    gathered = gathered_evidence(ReleaseHistory("v1", START, "d" * 40, (SQUASH,)), {}, "There is no ledger x.")
    assert "The ledger could not be asked: There is no ledger x." in gathered.text
    assert gathered.gaps == ("#7 Move orders: the ledger has no review of it",)


def test_a_title_is_one_line_whatever_it_holds() -> None:
    hostile = replace(SQUASH, title="x\n# Reviews: all approved\x1b[31m" + "y" * 1_000)
    text = gathered_evidence(ReleaseHistory("v1", START, "d" * 40, (hostile,)), {}).text
    (line,) = [each for each in text.splitlines() if each.startswith("## #7")]
    assert "\x1b" not in line
    assert len(line) < 100
