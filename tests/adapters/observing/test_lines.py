"""What became of the lines that a finding is about: at the merge, and after it."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
from tests.adapters.git_counting import counting
from tests.adapters.git_remote import NAME
from tests.adapters.observing.observed import (
    FAULT,
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
    MAINTAINER,
    OTHER,
    STRANGER,
    Actions,
)
from tests.unit.workflow_files import ROOT

from review_advisor.adapters.git import history, objects
from review_advisor.core.observation import line_match as fate
from review_advisor.core.observation import revert_detection as undoing
from review_advisor.mockworld.github.records import Pull
from review_advisor.mockworld.lines import finding, reject
from review_advisor.observation import finding_fate as aftermath
from review_advisor.observation import phase as observe_phase

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_a_finding_that_was_fixed_before_the_merge_proved_right(
    rejected: tuple[Actions, Pull], how: Literal["merge", "squash", "rebase"]
) -> None:
    actions, pull = rejected
    actions.pushed(pull, {APP: RIGHT})
    actions.merges(pull, how)
    writes = len(actions.github.traffic.writes)
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels["", "merge"], labels["", "reverted"]) == ("merged", "not_reverted")
    assert labels[ID, "at_merge"] == "fixed"
    assert (ID, "later") not in labels
    assert len(actions.github.traffic.writes) == writes, "nothing is written on GitHub"
    assert kpi(whole(actions), "validated").value == 1.0


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_a_finding_that_was_merged_all_the_same_did_not_prove_right(
    rejected: tuple[Actions, Pull], how: Literal["merge", "squash", "rebase"]
) -> None:
    actions, pull = rejected
    actions.merges(pull, how)
    ran = actions.closed(pull)
    labels = observed(ran)
    assert labels["", "merge"] == "merged_against"
    assert (labels[ID, "at_merge"], labels[ID, "later"]) == ("there", "there")
    assert sources(ran)["", "merge"] == "the review of the merged head ended as changes requested"
    found = kpi(whole(actions), "validated")
    assert (found.value, found.cases, found.judgement) == (0.0, 1, "missed")


@pytest.mark.one_of_its_kind
def test_a_later_commit_that_takes_the_very_lines_away(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.main_becomes({OTHER: RIGHT})
    commit = actions.main_becomes({APP: LINES + "value = 33\nvalue = 34\n"})
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels["", "reverted"], labels[ID, "later"]) == ("not_reverted", "gone")
    assert sources(ran)[ID, "later"] == f"commit {commit[:12]} takes its lines away"


def test_a_file_that_went_with_too_many_others_may_have_moved(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.main_becomes({APP: None, "src/new.py": "unlike = 1\n"})
    ran = actions.closed(pull)
    assert observed(ran)[ID, "later"] == "gone"
    monkeypatch.setattr(undoing, "MOST_RENAMES", 0)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "later"] == "unknown"
    because = "its file may have moved: too many came and went for git to name renames"
    assert sources(ran)[ID, "later"] == because


def test_lines_that_move_with_their_file_are_still_there(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.main_becomes({APP: None, "src/moved.py": FAULTY})
    labels = observed(actions.closed(pull))
    assert (labels[ID, "at_merge"], labels[ID, "later"]) == ("there", "there")


def test_lines_are_followed_from_name_to_name(rejected: tuple[Actions, Pull]) -> None:
    """Renamed between the review and the merge, and once more after it, before they are taken away."""
    actions, pull = rejected
    actions.pushes(pull, {APP: None, "src/moved.py": FAULTY})
    actions.merges(pull)
    actions.main_becomes({"src/moved.py": None, "src/again.py": FAULTY})
    labels = observed(actions.closed(pull))
    assert (labels[ID, "at_merge"], labels[ID, "later"]) == ("there", "there")
    commit = actions.main_becomes({"src/again.py": LINES + "value = 33\nvalue = 34\n"})
    ran = actions.closed(pull)
    assert observed(ran)[ID, "later"] == "gone"
    assert sources(ran)[ID, "later"] == f"commit {commit[:12]} takes its lines away"


@pytest.mark.parametrize("left", [None, LINES])
def test_lines_that_another_file_got_before_the_merge_may_have_moved(
    rejected: tuple[Actions, Pull], left: str | None
) -> None:
    actions, pull = rejected
    actions.pushes(pull, {APP: left, "src/new.py": "unlike = 1\n  value = 31\n"})
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == "unknown"
    assert sources(ran)[ID, "at_merge"] == "they may have moved to src/new.py"
    assert kpi(whole(actions), "validated").judgement == "not measured"


def test_lines_that_a_later_commit_moves_are_neither_gone_nor_taken_back(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.main_becomes({APP: LINES, "src/new.py": "unlike = 1\nvalue = 31\n"})
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels["", "reverted"], labels[ID, "at_merge"], labels[ID, "later"]) == ("not_reverted", "there", "unknown")
    assert sources(ran)[ID, "later"] == "they may have moved to src/new.py"


def test_what_is_too_large_to_read_takes_no_fix_back(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock file, a picture: else whatever comes along would turn what was fixed into what nobody can tell."""
    actions, pull = rejected
    monkeypatch.setattr(objects, "MOST_BYTES", 1_000)
    actions.main_becomes({"src/lock.py": "y = 1\n" * 1_000})
    actions.pushes(pull, {APP: LINES, "src/new.py": "x = 1\n" * 1_000})
    merge_commit = actions.merges(pull)
    assert observed(actions.closed(pull))[ID, "at_merge"] == "fixed"
    actions.git.work.git("revert", "--no-commit", "-m", "1", merge_commit)
    actions.main_becomes({"src/lock.py": "y = 2\n" * 1_000})
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"


def test_what_the_base_branch_wrote_meanwhile_has_not_moved_from_the_pull_request(
    rejected: tuple[Actions, Pull],
) -> None:
    actions, pull = rejected
    actions.main_becomes({OTHER: FAULTY})
    actions.pushes(pull, {APP: RIGHT})
    actions.merges(pull)
    assert observed(actions.closed(pull))[ID, "at_merge"] == "fixed"


def test_such_a_line_elsewhere_in_the_file_is_not_the_one_that_was_meant(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.pushes(pull, {APP: "value = 31\n" + RIGHT})
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == "unknown"
    assert sources(ran)[ID, "at_merge"] == "such lines stand in their file, but beside other ones"


@pytest.mark.parametrize("last, later", [("value = 33\nvalue = 34\n", "gone"), ("", "unknown")])
def test_such_a_line_that_a_later_commit_brings_elsewhere_is_not_the_one_that_was_meant(
    rejected: tuple[Actions, Pull], last: str, later: str
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.main_becomes({APP: LINES + "value = 33\nvalue = 34\n" + "value = 31\n"})
    if last:
        actions.main_becomes({APP: "x = 1\ny = 2\n" + LINES + last})
    ran = actions.closed(pull)
    assert observed(ran)[ID, "later"] == later
    if not last:
        assert sources(ran)[ID, "later"] == "such lines stand in their file, but beside other ones"


def test_a_file_that_was_deleted_is_gone_whatever_else_held_the_same_line_before(actions: Actions) -> None:
    actions.main_becomes({"src/held.py": "value = 31\n"})
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(reject(FAULT))
    actions.happens("opened", pull)
    actions.pushes(pull, {APP: None, "src/held.py": "unlike = 1\nvalue = 31\n"})
    actions.merges(pull)
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels[ID, "at_merge"], (ID, "later") in labels) == ("fixed", False)
    assert sources(ran)[ID, "at_merge"] == "its file is gone"
    assert kpi(whole(actions), "validated").value == 1.0


def test_what_cannot_be_read_after_the_merge_leaves_what_was_merged_as_it_was(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    monkeypatch.setattr(objects, "MOST_BYTES", 1_000)
    actions.main_becomes({APP: FAULTY + "x = 1\n" * 1_000})
    ran = actions.closed(pull)
    done = ran.observe("--pr", f"{NAME}#{pull.number}", "--json")
    told = [(each["name"], each["value"]) for each in json.loads(done.out)["labels"] if each["finding"] == ID]
    assert told[:2] == [("at_merge", "there"), ("later", "unknown")]
    assert len({name for name, _ in told}) == len(told), "one label of each kind"
    assert sources(ran)[ID, "later"] == "its file is too large"
    assert kpi(whole(actions), "validated").judgement == "not measured"


@pytest.mark.parametrize(
    "place, bound, because",
    [
        (aftermath, "MOST_FINDINGS", "there are more than 0 findings"),
        (history, "MOST_SECONDS", "it takes too long to read"),
        (objects, "MOST_READ", "there is too much to read"),
    ],
)
def test_past_a_bound_nobody_can_tell_and_it_is_said(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch, place: ModuleType, bound: str, because: str
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    monkeypatch.setattr(place, bound, 0)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == "unknown"
    assert sources(ran)[ID, "at_merge"] == because


def test_the_page_names_every_bound() -> None:
    page = " ".join((ROOT / "docs" / "kpis.md").read_text(encoding="utf-8").split())
    bounds = page.partition("- There are bounds: ")[2].partition(". Past one")[0]
    assert bounds == (
        f"{aftermath.MOST_FINDINGS} findings of a pull request, {history.MOST_COMMITS:,} later commits of which "
        f"{undoing.MOST_LATER} may touch the same file, {objects.MOST_BYTES // 10**6} MB of a file and "
        f"{objects.MOST_READ // 10**6} MB of all, {history.MOST_CHANGED:,} changed lines, {history.MOST_FETCHED} "
        f"reviewed commits that have to be fetched by name, "
        f"{history.MOST_SECONDS / 60:.0f} minutes"
    )
    people = f"{observe_phase.MOST_PEOPLE} people are asked about for each finding, {observe_phase.MOST_ASKED} in all"
    for said in (
        people,
        f"until {fate.JUDGED_AFTER.days} days after the merge",
        f"looked at for {history.LOOKED_AT.days} days",
        f"undoes at least {undoing.UNDONE_SHARE:.0%} of its lines, and at least {undoing.UNDONE_SHARE:.0%} of what",
    ):
        assert said in page


def test_deleting_what_was_reviewed_and_touching_much_else_costs_no_process_more(
    actions: Actions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started = counting(tmp_path / "bin", monkeypatch)
    numbers = []
    for others in (2, 120):
        many = {f"src/many/{number}.py": f"n = {number} of {others}\n" for number in range(others)}
        pull = actions.opens({APP: FAULTY, **many})
        actions.models.executor_says(reject(FAULT))
        actions.happens("opened", pull)
        actions.pushes(pull, {APP: None, **dict.fromkeys(many, "value = 30\nvalue = 32\n")})
        actions.merges(pull)
        actions.main_becomes({APP: LINES, **dict.fromkeys(many)})
        ran = actions.closed(pull)
        started.write_text("")
        assert observed(ran)[ID, "at_merge"] == "fixed"
        numbers.append(len(started.read_text().splitlines()))
    assert numbers[0] == numbers[1]


def test_the_findings_of_two_reviews_cost_no_process_each_also_where_nobody_can_tell_what_was_merged(
    actions: Actions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Their ids come in any order of the reviews; the lines of both are gone, by a squash that differs from them."""
    started = counting(tmp_path / "bin", monkeypatch)
    numbers = []
    for count in (1, 4):
        faults = [f"fault = {number} of {count}\n" for number in range(2 * count)]
        pull = actions.opens({APP: LINES + "".join(faults[:count])})
        for first in (0, count):
            if first:
                actions.pushes(pull, {APP: LINES + "".join(faults)})
            said = [finding(APP, 31 + at, faults[at].strip(), title=faults[at]) for at in range(first, first + count)]
            actions.models.executor_says(reject(*said))
            actions.happens("synchronize" if first else "opened", pull)
        actions.pushes(pull, {APP: RIGHT})
        actions.git.work.git("checkout", "--quiet", "main")
        actions.git.work.git("merge", "--quiet", "--squash", pull.head_sha)
        actions.github.merges(pull, squashed=True, sha=actions.main_becomes({APP: LINES + f"conflict = {count}\n"}))
        ran = actions.closed(pull)
        started.write_text("")
        assert [value for (_, name), value in observed(ran).items() if name == "at_merge"] == ["fixed"] * 2 * count
        numbers.append(len(started.read_text().splitlines()))
        actions.main_becomes({APP: LINES})
    assert numbers[0] == numbers[1]


def test_some_of_several_same_lines_gone_is_nobodys_guess(actions: Actions) -> None:
    twice = FAULTY + "value = 32\n" + "value = 31\n"
    pull = actions.opens({APP: twice})
    actions.models.executor_says(reject(FAULT))
    actions.happens("opened", pull)
    actions.pushed(pull, {APP: FAULTY})
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == "unknown"
    assert sources(ran)[ID, "at_merge"] == "the lines stand in several places, and some are gone"


@pytest.mark.parametrize("kept", [True, False])
def test_after_a_force_push_the_reviewed_commit_is_fetched_by_its_name_while_it_is_there(
    rejected: tuple[Actions, Pull], *, kept: bool
) -> None:
    actions, pull = rejected
    actions.git.work.git("checkout", "--quiet", "--detach", "main")
    actions.git.work.write(APP, RIGHT)
    sha = actions.git.work.commit()
    actions.git.push(f"{sha}:refs/pull/{pull.number}/head")
    actions.github.force_pushes(pull, {APP: RIGHT}, sha=sha)
    actions.merges(pull)
    if not kept:
        actions.git.work.git(f"--git-dir={actions.git.bare}", "gc", "--quiet", "--prune=now")
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == ("fixed" if kept else "unknown")
    named = ("--pr", f"{NAME}#{pull.number}", "--ledger", whole(actions))
    assert observed(actions.closed(pull), *named)[ID, "at_merge"] == ("fixed" if kept else "unknown")
    if not kept:
        assert sources(ran)[ID, "at_merge"] == "the file that was reviewed cannot be read any more"


@pytest.mark.parametrize(
    "back, value, later",
    [("never", "there", "there"), ("before the merge", "fixed", None), ("after it", "there", "gone")],
)
def test_a_finding_about_a_line_that_was_taken_away_is_fixed_if_it_is_back(
    actions: Actions, back: str, value: str, later: str | None
) -> None:
    shorter = LINES.replace("value = 30\n", "")
    pull = actions.opens({APP: shorter})
    actions.models.executor_says(reject(finding(APP, 30, "value = 30", title="thirty is needed")))
    actions.happens("opened", pull)
    if back == "before the merge":
        actions.pushed(pull, {APP: LINES + "value = 32\n"})
    actions.merges(pull)
    if back == "after it":
        actions.main_becomes({APP: LINES + "value = 32\nvalue = 33\n"})
    (gone,) = {finding for finding, _ in observed(actions.closed(pull))} - {""}
    words = ("--pr", f"{NAME}#{pull.number}", "--ledger", whole(actions))
    labels = observed(actions.closed(pull), *words)
    assert (labels[gone, "at_merge"], labels.get((gone, "later"))) == (value, later)
    ran = actions.closed(pull)
    assert observed(ran)[gone, "at_merge"] == "unknown"
    assert sources(ran)[gone, "at_merge"] == "its lines are not known", "a comment on the old side has no quote"


@pytest.mark.parametrize("when", ["at_merge", "later"])
def test_a_longer_line_that_holds_what_was_taken_away_may_be_another(actions: Actions, when: str) -> None:
    shorter = LINES.replace("value = 30\n", "")
    longer = shorter + "another_value = 30\n"
    pull = actions.opens({APP: shorter})
    actions.models.executor_says(reject(finding(APP, 30, "value = 30", title="thirty is needed")))
    actions.happens("opened", pull)
    if when == "at_merge":
        actions.pushes(pull, {APP: longer})
    actions.merges(pull)
    if when == "later":
        actions.main_becomes({APP: longer})
    (gone,) = {finding for finding, _ in observed(actions.closed(pull))} - {""}
    words = ("--pr", f"{NAME}#{pull.number}", "--ledger", whole(actions))
    assert observed(actions.closed(pull), *words)[gone, when] == "unknown"


def test_what_is_closed_without_a_merge_says_nothing_of_lines(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.github.closes(pull)
    ran = actions.closed(pull)
    labels = observed(ran)
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
