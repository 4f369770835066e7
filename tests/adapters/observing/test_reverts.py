"""Whether a merge was taken back, and when that is judged."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.adapters.git_remote import NAME
from tests.adapters.observing.observed import (
    FAULT_BELOW,
    FAULTY,
    ID,
    RIGHT,
    kpi,
    observed,
    sources,
    whole,
)
from tests.adapters.pull_request_world import (
    APP,
    LINES,
    OTHER,
    Actions,
)

from review_advisor.adapters.git import history, objects
from review_advisor.core.observation import line_match as fate
from review_advisor.core.observation import revert_detection as undoing
from review_advisor.mockworld.github.payloads import second_of
from review_advisor.mockworld.github.records import Pull
from review_advisor.mockworld.lines import reject
from review_advisor.observation import finding_fate as aftermath
from review_advisor.observation import reverts as reverting

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind


@pytest.mark.one_of_its_kind
def test_a_merge_that_is_reverted_later_proves_what_was_said_and_observing_again_says_so(
    rejected: tuple[Actions, Pull],
) -> None:
    actions, pull = rejected
    merge_commit = actions.merges(pull)
    observed(actions.closed(pull))
    assert kpi(whole(actions), "validated").value == 0.0
    revert = actions.reverts("-m", "1", merge_commit)
    ran = actions.closed(pull)
    labels = observed(ran, "--pr", f"{NAME}#{pull.number}")
    assert (labels["", "reverted"], labels[ID, "later"]) == ("reverted", "reverted")
    assert sources(ran)["", "reverted"] == f"commit {revert[:12]} takes it back"
    assert kpi(whole(actions), "validated").value == 1.0, "the newest observation counts"


def test_a_rebased_merge_of_several_commits_is_reverted_by_one_that_undoes_them_all(actions: Actions) -> None:
    pull = actions.opens({APP: FAULTY})
    actions.pushes(pull, {OTHER: RIGHT})
    merge_commit = actions.merges(pull, "rebase")
    actions.reverts(merge_commit)
    assert observed(actions.closed(pull))["", "reverted"] == "not_reverted", "half of it is still there"
    actions.main_becomes({APP: LINES})
    assert observed(actions.closed(pull))["", "reverted"] == "not_reverted", "by no single commit"
    actions.main_becomes({APP: FAULTY, OTHER: RIGHT})
    actions.main_becomes({APP: LINES, OTHER: LINES})
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"


def test_a_commit_that_only_says_that_it_reverts_is_not_believed(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    merge_commit = actions.merges(pull)
    actions.git.work.write(OTHER, RIGHT)
    actions.git.work.commit(f'Revert "A change"\n\nThis reverts commit {merge_commit}.')
    actions.git.push("main:refs/heads/main")
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "later"]) == ("not_reverted", "there")


def test_a_commit_that_says_so_and_undoes_one_line_of_many_is_not_believed(actions: Actions) -> None:
    """Whoever writes a pull request's description writes the message of its squashed commit."""
    pull = actions.opens({APP: "import os\n" + FAULTY + "more = 1\nmore = 2\nmore = 3\n"})
    actions.models.executor_says(reject(FAULT_BELOW))
    actions.happens("opened", pull)
    merge_commit = actions.merges(pull, "squash")
    actions.git.work.write(APP, FAULTY + "more = 1\nmore = 2\nmore = 3\n")
    actions.git.work.commit(f"Tidy up (#8)\n\nThis reverts commit {merge_commit}.\n\nReverts {NAME}#{pull.number}")
    actions.git.push("main:refs/heads/main")
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "at_merge"], labels[ID, "later"]) == ("not_reverted", "there", "there")
    assert kpi(whole(actions), "validated").value == 0.0


def test_a_revert_with_a_conflict_or_a_word_to_the_log_is_one_whatever_it_says(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.pushed(pull, {APP: FAULTY + "a = 1\nb = 2\nc = 3\nd = 4\n"})
    actions.merges(pull)
    actions.main_becomes({APP: LINES + "d = 4\n", OTHER: LINES + "log = 'taken back'\n"})
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "beside, value",
    [("test {\n}\n", "reverted"), ("one = 1\ntwo = 2\n}\n", "not_reverted"), ("one = 1\n", "unknown")],
)
def test_a_revert_beside_a_file_with_equal_lines_is_one_and_a_move_is_none(
    actions: Actions, beside: str, value: str, *, exact: bool
) -> None:
    """Also where somebody has edited the file meanwhile, so that it is not given back as it was."""
    changed = "one = 1\ntwo = 2\n}\n}\n"
    pull = actions.opens({APP: LINES + changed})
    merge_commit = actions.merges(pull)
    if not exact:
        actions.main_becomes({APP: "head = 0\n" + LINES + changed})
    actions.git.work.git("revert", "--no-commit", "-m", "1", merge_commit)
    actions.main_becomes({"src/new.py": beside})
    ran = actions.closed(pull)
    assert observed(ran)["", "reverted"] == value
    if value == "unknown":
        assert sources(ran)["", "reverted"] == "a commit takes some of it back, and moves some of it"


def test_a_merge_that_was_pushed_may_be_taken_back_and_lines_of_it_are_gone_all_the_same(
    rejected: tuple[Actions, Pull],
) -> None:
    actions, pull = rejected
    actions.merges(pull, "push")
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels["", "reverted"], labels[ID, "at_merge"], labels[ID, "later"]) == ("unknown", "there", "unknown")
    assert sources(ran)["", "reverted"] == sources(ran)[ID, "later"] == "nobody can tell what its merge brought"
    actions.main_becomes({APP: RIGHT})
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "later"]) == ("unknown", "gone")


def test_a_large_file_beside_a_revert_and_within_it_is_passed_over(
    actions: Actions, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = actions.opens({APP: FAULTY, "src/lock.py": "y = 1\n" * 1_000})
    merge_commit = actions.merges(pull)
    monkeypatch.setattr(objects, "MOST_BYTES", 1_000)
    actions.git.work.git("revert", "--no-commit", "-m", "1", merge_commit)
    actions.main_becomes({"src/log.py": "log = 'taken back'\n"})
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"


def test_lines_that_are_taken_back_without_the_move_of_their_file_are_no_revert(actions: Actions) -> None:
    pull = actions.opens({APP: None, "src/moved.py": FAULTY})
    actions.merges(pull)
    actions.main_becomes({"src/moved.py": LINES})
    ran = actions.closed(pull)
    assert observed(ran)["", "reverted"] == "unknown"
    assert sources(ran)["", "reverted"] == "its lines were taken back, and not all that it changed beside lines"


def test_links_and_modes_that_are_given_back_are_reverted(actions: Actions) -> None:
    work = actions.git.work
    pull = actions.opens({"empty": ""})
    (work.path / "link").symlink_to(APP)
    (work.path / APP).chmod(0o755)
    sha = work.commit()
    actions.git.push(f"{sha}:refs/pull/{pull.number}/head")
    actions.github.pushes(pull, {"link": APP}, sha=sha)
    merge_commit = actions.merges(pull)
    actions.main_becomes({APP: FAULTY})
    ran = actions.closed(pull)
    assert observed(ran)["", "reverted"] == "unknown"
    assert sources(ran)["", "reverted"] == "what it changed has no lines, and nobody gave it back as it was"
    actions.main_becomes({APP: LINES})
    actions.reverts("-m", "1", merge_commit)
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"


def test_a_revert_of_what_is_too_large_to_compare_is_known_by_its_files(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, pull = rejected
    merge_commit = actions.merges(pull)
    monkeypatch.setattr(history, "MOST_CHANGED", 0)
    actions.main_becomes({APP: RIGHT})
    ran = actions.closed(pull)
    assert observed(ran)["", "reverted"] == "unknown"
    assert sources(ran)["", "reverted"] == "more than 0 lines are changed"
    actions.main_becomes({APP: FAULTY})
    actions.reverts("-m", "1", merge_commit)
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"


@pytest.mark.parametrize("bound, label", [(undoing.MOST_LATER, "not_reverted"), (1, "unknown")])
def test_of_many_commits_that_touch_the_same_lines_only_the_first_are_looked_at(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch, bound: int, label: str
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    for number in range(2):
        actions.main_becomes({APP: FAULTY + f"x = {number}\n"})
    for place in (aftermath, reverting):
        monkeypatch.setattr(place, "MOST_LATER", bound)
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "later"]) == (label, "unknown" if bound == 1 else "there")


def test_a_merge_of_today_is_not_judged_unless_it_is_reverted_already(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    merge_commit = actions.merges(pull, lately=True)
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels["", "reverted"], labels[ID, "at_merge"], labels[ID, "later"]) == ("unknown", "there", "unknown")
    because = sources(ran)["", "reverted"]
    assert because.startswith("it was merged on ")
    assert because.endswith(f", and is judged {fate.JUDGED_AFTER.days} days later")
    assert kpi(whole(actions), "validated").judgement == "not measured", "nobody can tell yet that it was wrong"
    actions.reverts("-m", "1", merge_commit)
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "later"]) == ("reverted", "reverted")
    assert kpi(whole(actions), "validated").judgement == "not measured", "what was kept is not known yet either"


def test_what_was_fixed_has_no_say_before_what_was_kept_has_one(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.pushed(pull, {APP: RIGHT})
    actions.merges(pull, lately=True)
    assert observed(actions.closed(pull))[ID, "at_merge"] == "fixed"
    assert kpi(whole(actions), "validated").judgement == "not measured"


def test_an_approval_is_no_good_one_before_it_is_judged(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    merge_commit = actions.merges(pull, lately=True)
    observed(actions.closed(pull))
    assert kpi(whole(actions), "missed_escalations").judgement == "not measured"
    actions.reverts("-m", "1", merge_commit)
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"
    assert kpi(whole(actions), "missed_escalations").judgement == "not measured"
    pull.merged_at = second_of(datetime.now(UTC) - fate.JUDGED_AFTER)
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
