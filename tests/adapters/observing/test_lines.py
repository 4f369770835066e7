"""Whether a finding's lines are in what was merged: a hint that is shown, and counted nowhere."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.adapters.git_remote import NAME
from tests.adapters.observing.observed import FAULT, FAULTY, ID, RIGHT, kpi, observed, sources, whole
from tests.adapters.pull_request_world import APP, LINES, MAINTAINER, STRANGER, Actions

from review_advisor.github import observation as phase
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.github_records import Pull

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

How = Literal["merge", "squash", "rebase"]


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_lines_that_were_changed_before_the_merge_are_gone_and_prove_nothing(
    rejected: tuple[Actions, Pull], how: How
) -> None:
    actions, pull = rejected
    actions.pushed(pull, {APP: RIGHT})
    actions.merges(pull, how)
    writes = len(actions.github.traffic.writes)
    labels = observed(actions.closed(pull))
    assert (labels["", "merge"], labels["", "reverted"]) == ("merged", "not_reverted")
    assert labels[ID, "at_merge"] == "gone"
    assert len(actions.github.traffic.writes) == writes, "nothing is written on GitHub"
    assert kpi(whole(actions), "validated").judgement == "not measured"


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_lines_that_were_merged_all_the_same_are_there_and_prove_nothing(
    rejected: tuple[Actions, Pull], how: How
) -> None:
    actions, pull = rejected
    actions.merges(pull, how)
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels["", "merge"], labels[ID, "at_merge"]) == ("merged_against", "there")
    assert sources(ran)["", "merge"] == "the review of the merged head ended as changes requested"
    assert kpi(whole(actions), "validated").judgement == "not measured"


def test_of_a_file_that_was_renamed_nothing_is_told(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.pushed(pull, {APP: None, "src/moved.py": FAULTY})
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == "unknown"
    assert sources(ran)[ID, "at_merge"] == "the merge has no file of that name"


def test_lines_that_the_change_removes_are_unknown(actions: Actions) -> None:
    pull = actions.opens({APP: LINES.replace("value = 30\n", "")})
    actions.models.executor_says(reject(finding(APP, 30, "value = 30", title="thirty is needed")))
    actions.happens("opened", pull)
    actions.merges(pull)
    ran = actions.closed(pull)
    (removed,) = {finding for finding, _ in observed(ran)} - {""}
    assert sources(ran)[removed, "at_merge"] == "the finding is about lines that the change removes"


@pytest.mark.parametrize("ledger", ["of the job that observes", "with the review"])
def test_after_a_force_push_the_ledgers_quote_still_tells(rejected: tuple[Actions, Pull], ledger: str) -> None:
    actions, pull = rejected
    actions.git.work.git("checkout", "--quiet", "--detach", "main")
    actions.git.work.write(APP, RIGHT)
    sha = actions.git.work.commit()
    actions.git.push(f"{sha}:refs/pull/{pull.number}/head")
    actions.github.force_pushes(pull, {APP: RIGHT}, sha=sha)
    actions.merges(pull)
    if ledger == "with the review":
        words = ("--pr", f"{NAME}#{pull.number}", "--ledger", whole(actions))
        assert observed(actions.closed(pull), *words)[ID, "at_merge"] == "gone"
    else:
        ran = actions.closed(pull)
        assert observed(ran)[ID, "at_merge"] == "unknown"
        assert sources(ran)[ID, "at_merge"] == "neither the ledger nor the reviewed commit has its lines"


def test_of_too_many_findings_the_rest_are_unknown(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    monkeypatch.setattr(phase, "MOST_FINDINGS", 0)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == "unknown"
    assert sources(ran)[ID, "at_merge"].endswith("there are more than 0 findings")


@pytest.mark.one_of_its_kind
def test_what_is_closed_without_a_merge_says_nothing_of_lines(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.github.closes(pull)
    labels = observed(actions.closed(pull))
    assert (labels["", "merge"], labels[ID, "at_merge"]) == ("closed", "unknown")
    assert ("", "reverted") not in labels
    found = kpi(whole(actions), "validated")
    assert (found.judgement, found.because) == ("not measured", "no case of it was observed")


def test_a_fork_that_was_deleted_since_changes_nothing(actions: Actions) -> None:
    actions.github.forks(NAME, STRANGER)
    pull = actions.opens({APP: FAULTY}, by=STRANGER)
    actions.models.executor_says(reject(FAULT))
    actions.labelled(pull, "review-this-fork", by=MAINTAINER)
    actions.merges(pull)
    actions.github.deletes_repository(f"{STRANGER}/{NAME.partition('/')[2]}")
    assert observed(actions.closed(pull))[ID, "at_merge"] == "there"
