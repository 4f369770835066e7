"""Whether a merge was reverted, by what git and GitHub write into commit messages, and when that is judged."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.adapters.git_remote import NAME
from tests.adapters.observing.observed import FAULTY, ID, RIGHT, kpi, observed, sources, whole
from tests.adapters.pull_request_world import APP, OTHER, Actions

from review_advisor.mockworld.github import second_of
from review_advisor.mockworld.github_records import Pull
from review_advisor.review.observed import JUDGED_AFTER

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind


def test_a_merge_that_is_reverted_later_proves_what_was_said_and_observing_again_says_so(
    rejected: tuple[Actions, Pull],
) -> None:
    actions, pull = rejected
    merge_commit = actions.merges(pull)
    observed(actions.closed(pull))
    assert kpi(whole(actions), "validated").judgement == "not measured"
    revert = actions.reverts("-m", "1", merge_commit)
    ran = actions.closed(pull)
    labels = observed(ran, "--pr", f"{NAME}#{pull.number}")
    assert labels["", "reverted"] == "reverted"
    assert sources(ran)["", "reverted"] == f"the message of commit {revert[:12]} says so"
    assert kpi(whole(actions), "validated").value == 1.0, "the newest observation counts"


@pytest.mark.parametrize(
    "body, value",
    [
        ("Reverts {name}#{number}", "reverted"),
        ("Reverts {name}#{number}7", "not_reverted"),
        ("Reverts octo/another#{number}", "not_reverted"),
        ("It never Reverts {name}#{number}", "not_reverted"),
        ("This reverts commit " + "c" * 40 + ".", "not_reverted"),
    ],
)
def test_githubs_revert_button_names_the_pull_request(rejected: tuple[Actions, Pull], body: str, value: str) -> None:
    actions, pull = rejected
    actions.merges(pull, "squash")
    actions.git.work.write(OTHER, RIGHT)
    actions.git.work.commit(f'Revert "A change" (#8)\n\n{body.format(name=NAME, number=pull.number)}')
    actions.git.push("main:refs/heads/main")
    assert observed(actions.closed(pull))["", "reverted"] == value


def test_lines_that_are_taken_away_by_another_commit_are_no_revert(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.main_becomes({APP: RIGHT})
    assert observed(actions.closed(pull))["", "reverted"] == "not_reverted"
    assert kpi(whole(actions), "validated").judgement == "not measured"


def test_a_revert_counts_whatever_became_of_the_lines_before(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.pushed(pull, {APP: RIGHT})
    merge_commit = actions.merges(pull)
    actions.reverts("-m", "1", merge_commit)
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "at_merge"]) == ("reverted", "gone")
    assert kpi(whole(actions), "validated").judgement == "met"


@pytest.mark.one_of_its_kind
def test_a_merge_of_today_is_not_judged_unless_it_is_reverted_already(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    merge_commit = actions.merges(pull, lately=True)
    ran = actions.closed(pull)
    assert observed(ran)["", "reverted"] == "unknown"
    assert sources(ran)["", "reverted"].endswith(f", and is judged {JUDGED_AFTER.days} days later")
    actions.reverts("-m", "1", merge_commit)
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"
    assert kpi(whole(actions), "validated").judgement == "not measured", "what was kept is not known yet either"


def test_an_approval_is_no_good_one_before_it_is_judged(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    merge_commit = actions.merges(pull, lately=True)
    observed(actions.closed(pull))
    assert kpi(whole(actions), "missed_escalations").judgement == "not measured"
    actions.reverts("-m", "1", merge_commit)
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"
    assert kpi(whole(actions), "missed_escalations").judgement == "not measured"
    pull.merged_at = second_of(datetime.now(UTC) - JUDGED_AFTER)
    observed(actions.closed(pull))
    found = kpi(whole(actions), "missed_escalations")
    assert (found.value, found.cases) == (1.0, 1)


def test_an_approval_that_nobody_consulted_about_and_that_was_reverted_was_missed(actions: Actions) -> None:
    pulls = [actions.opens({APP: FAULTY}), actions.opens({OTHER: RIGHT})]
    merges = []
    for pull in pulls:
        actions.happens("opened", pull)
        merges.append(actions.merges(pull))
    actions.reverts("-m", "1", merges[0])
    for pull in pulls:
        observed(actions.closed(pull))
    found = kpi(whole(actions), "missed_escalations")
    assert (found.value, found.cases, found.judgement) == (0.5, 2, "missed")
    assert kpi(whole(actions), "validated").because == "no case of it was observed"
