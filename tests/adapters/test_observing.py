"""What became of what the bot said: pull requests are closed on the simulated GitHub, and observed with real git."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest
from tests.adapters.git_counting import counting
from tests.adapters.git_remote import NAME
from tests.adapters.ledgers import exported, rows
from tests.adapters.pull_request_world import (
    APP,
    AUTHOR,
    LINES,
    MAINTAINER,
    OTHER,
    STRANGER,
    TOKENS,
    Actions,
    WorkflowRun,
    acting,
)
from tests.unit.workflow_files import ROOT

from review_advisor import aftermath, observe_phase
from review_advisor.adapters.git import history, objects
from review_advisor.adapters.ledger.exchange import Folded, import_lines, merge, rebuild
from review_advisor.adapters.ledger.observations import keep, open_ended
from review_advisor.adapters.ledger.proving import verify
from review_advisor.adapters.ledger.sums import add_up
from review_advisor.core.publication.dismissals import with_dismissed
from review_advisor.core.publication.markers import SUMMARY, finding_in, finding_marker
from review_advisor.core.publication.rules import PublicationRules
from review_advisor.core.publication.standing import StandingComment
from review_advisor.core.publication.state import read_state
from review_advisor.core.publication.summary import amended
from review_advisor.core.record import fate, undoing
from review_advisor.core.record.chain import LedgerError, canonical, links
from review_advisor.core.record.kpis import Kpi, kpis
from review_advisor.core.record.labels import Label, Observed
from review_advisor.core.record.periods import Period
from review_advisor.core.roles.evidence import finding_id
from review_advisor.mockworld.github.payloads import second_of
from review_advisor.mockworld.github.records import Pull
from review_advisor.mockworld.github.reviewing import Remark
from review_advisor.mockworld.github.session import session
from review_advisor.mockworld.github.traffic import Moment, RefusedRequest
from review_advisor.mockworld.lines import approve, finding, reject, veto
from review_advisor.records import show_run

FAULTY, RIGHT = LINES + "value = 31\n", LINES + "value = 32\n"
FAULT = finding(APP, 31, "value = 31", title="thirty-one is wrong")
FAULT_BELOW = finding(APP, 32, "value = 31", title="thirty-one is wrong")
ELSEWHERE = finding(OTHER, 31, "value = 32", title="thirty-two is wrong")
ODD = finding(APP, 31, "value = 31", "low", title="thirty-one is odd")
ID = finding_id(APP, "correctness", "value = 31")
ID_ELSEWHERE = finding_id(OTHER, "correctness", "value = 32")
READS = Moment(kind="read", operation="get pull request")
OTHER_LABEL = Label("f-0123456789", "thread", "resolved", "@maria resolved its thread")
Labels = dict[tuple[str, str], str]


@pytest.fixture
def actions(tmp_path: Path) -> Iterator[Actions]:
    with acting(tmp_path) as made:
        yield made


@pytest.fixture
def rejected(actions: Actions) -> tuple[Actions, Pull]:
    """A pull request whose first review asked for changes, on one line."""
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(reject(FAULT))
    actions.happens("opened", pull)
    return actions, pull


@pytest.fixture
def escalated(actions: Actions) -> tuple[Actions, Pull]:
    """A pull request that the executor approves and its judge does not."""
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(approve(), approve(ODD))
    actions.models.judge_says(veto("it divides by zero"), veto("it still divides by zero"))
    actions.happens("opened", pull)
    return actions, pull


def observed(ran: WorkflowRun, *words: str | Path) -> Labels:
    """What the command prints as JSON: each label's value by finding and name."""
    named = words or ("--event", ran.place / "event.json")
    done = ran.observe(*named, "--json")
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    assert all(label["source"] for label in told["labels"])
    return {(label["finding"], label["name"]): label["value"] for label in told["labels"]}


def sources(ran: WorkflowRun) -> Labels:
    """The source of each label, as the ledger has it."""
    with closing(sqlite3.connect(ran.ledger)) as connection:
        found = connection.execute("SELECT finding, label, source FROM labels").fetchall()
    return {(finding, label): source for finding, label, source in found}


def whole(actions: Actions) -> Path:
    """The ledgers of all runs folded into one, the newest first."""
    path = actions.folder / "whole.sqlite3"
    for ran in reversed(actions.runs):
        if ran.ledger.exists():
            merge(path, ran.ledger)
    return path


def kpi(path: Path, name: str, period: Period | None = None) -> Kpi:
    return next(each for each in kpis(add_up(path, period or Period()).sums) if each.name == name)


# --- lines ------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "beside, value",
    [("test {\n}\n", "reverted"), ("one = 1\ntwo = 2\n}\n", "not_reverted"), ("one = 1\n", "unknown")],
)
def test_a_revert_beside_a_file_with_equal_lines_is_one_and_a_move_is_none(
    actions: Actions, beside: str, value: str
) -> None:
    pull = actions.opens({APP: LINES + "one = 1\ntwo = 2\n}\n}\n"})
    merge_commit = actions.merges(pull)
    actions.git.work.git("revert", "--no-commit", "-m", "1", merge_commit)
    actions.main_becomes({"src/new.py": beside})
    ran = actions.closed(pull)
    assert observed(ran)["", "reverted"] == value
    if value == "unknown":
        assert sources(ran)["", "reverted"] == "a commit takes some of it back, and moves some of it"


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
    assert sources(ran)[ID, "at_merge"] == "such lines stand in the merged file, but beside other ones"


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
        f"{fate.MOST_LATER} may touch the same file, {objects.MOST_BYTES // 10**6} MB of a file and "
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


@pytest.mark.parametrize("bound, label", [(fate.MOST_LATER, "not_reverted"), (1, "unknown")])
def test_of_many_commits_that_touch_the_same_lines_only_the_first_are_looked_at(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch, bound: int, label: str
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    for number in range(2):
        actions.main_becomes({APP: FAULTY + f"x = {number}\n"})
    monkeypatch.setattr(aftermath, "MOST_LATER", bound)
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "later"]) == (label, "unknown" if bound == 1 else "there")


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


# --- time -------------------------------------------------------------------------------------------------------------


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


# --- what cannot be seen ----------------------------------------------------------------------------------------------


def test_a_base_branch_that_is_gone_is_said_and_nothing_is_recorded(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.git.work.git("--git-dir", str(actions.git.bare), "update-ref", "refs/heads/main", f"{pull.head_sha}^")
    ran = actions.closed(pull)
    done = ran.observe()
    assert (done.code, done.out) == (2, "")
    because = "its merge is not in the history of the base branch"
    assert done.sentence == f"What became of pull request #{pull.number} cannot be seen: {because}."
    assert not ran.ledger.exists()


def test_outside_a_clone_nothing_that_was_known_is_lost(rejected: tuple[Actions, Pull], tmp_path: Path) -> None:
    actions, pull = rejected
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == "there"
    before = exported(ran.ledger)
    elsewhere = ("--ledger", ran.ledger, "--repo", tmp_path)
    done = actions.closed(pull).observe("--pr", f"{NAME}#{pull.number}", *elsewhere)
    assert (done.code, done.out) == (2, "")
    assert done.sentence.startswith(f"What became of pull request #{pull.number} cannot be seen: ")
    done = actions.closed(pull).observe("--again", *elsewhere)
    assert done.code == 12
    assert done.sentence == "Not every pull request could be observed: 1 could not."
    assert exported(ran.ledger) == before
    done = actions.closed(pull).observe("--again", "--ledger", ran.ledger)
    assert done.err == f"{NAME}#{pull.number}: nothing new: the ledger holds the same facts already\n"


def test_what_git_could_not_tell_once_is_asked_again_and_takes_nothing_from_what_is_known(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    ran = actions.closed(pull)
    with monkeypatch.context() as troubled:
        troubled.setattr(history, "MOST_SECONDS", 0)
        labels = observed(ran)
    assert (labels["", "reverted"], labels[ID, "at_merge"], labels[ID, "thread"]) == ("unknown", "unknown", "open")
    again = actions.closed(pull).observe("--again", "--ledger", ran.ledger)
    assert (again.code, again.err) == (0, f"{NAME}#{pull.number}: recorded\n")
    with monkeypatch.context() as troubled:
        troubled.setattr(history, "MOST_SECONDS", 0)
        labels = observed(actions.closed(pull), "--pr", f"{NAME}#{pull.number}", "--ledger", ran.ledger)
    assert (labels["", "reverted"], labels[ID, "at_merge"], labels.get((ID, "later"))) == ("unknown", "there", None)
    assert kpi(whole(actions), "validated").judgement == "not measured", "that nothing happened is true of a moment"


# --- people -----------------------------------------------------------------------------------------------------------


def test_threads_say_who_resolved_them(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    actions.github.resolves(thread, by=MAINTAINER)
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "thread"] == "resolved"
    assert sources(ran)[ID, "thread"] == f"@{MAINTAINER} resolved its thread"
    actions.github.resolves(thread, by=actions.login)
    assert observed(actions.closed(pull))[ID, "thread"] == "resolved_by_bot"
    actions.github.resolves(thread, by="somebody")
    del actions.github.accounts["somebody"]
    assert observed(actions.closed(pull))[ID, "thread"] == "unknown"


@pytest.mark.parametrize(
    "thumbs, value",
    [
        (((MAINTAINER, "THUMBS_DOWN"),), "down"),
        (((MAINTAINER, "THUMBS_UP"), (MAINTAINER, "HEART")), "up"),
        (((MAINTAINER, "THUMBS_UP"), (MAINTAINER, "THUMBS_DOWN")), "both"),
        (((AUTHOR, "THUMBS_DOWN"),), "none"),
        (((AUTHOR, "THUMBS_UP"),), "up"),
        (((STRANGER, "THUMBS_DOWN"), ("helper[bot]", "THUMBS_UP"), (MAINTAINER, "EYES")), "none"),
    ],
)
def test_thumbs_count_if_their_owner_may_write(
    rejected: tuple[Actions, Pull], thumbs: tuple[tuple[str, Literal["THUMBS_UP"]], ...], value: str
) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    for login, thumb in thumbs:
        actions.github.reacts(thread.comments[0], thumb, by=login)
    actions.merges(pull)
    assert observed(actions.closed(pull))[ID, "reaction"] == value
    assert kpi(whole(actions), "validated").value == (1.0 if value == "up" else 0.0)


@pytest.mark.parametrize("crowd", [51, 101])
def test_a_crowd_of_reactions_is_not_asked_about_and_unknown(rejected: tuple[Actions, Pull], crowd: int) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    for number in range(crowd):
        actions.github.reacts(thread.comments[0], "THUMBS_DOWN", by=f"somebody-{number}")
    actions.github.closes(pull)
    assert observed(actions.closed(pull))[ID, "reaction"] == "unknown"


def test_a_crowd_drowns_no_thumb_that_counts_and_none_on_another_finding(actions: Actions) -> None:
    pull = actions.opens({APP: FAULTY, OTHER: RIGHT})
    actions.models.executor_says(reject(FAULT, ELSEWHERE))
    actions.happens("opened", pull)
    threads = {finding_in(each.comments[0].body): each.comments[0] for each in actions.threads(pull)}
    first, second = sorted((ID, ID_ELSEWHERE))
    for number in range(51):
        actions.github.reacts(threads[first], "THUMBS_UP", by=f"somebody-{number}")
    actions.github.reacts(threads[second], "THUMBS_DOWN", by=MAINTAINER)
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels[first, "reaction"], labels[second, "reaction"]) == ("unknown", "down")
    for number in range(51):
        actions.github.reacts(threads[second], "THUMBS_UP", by=f"somebody-else-{number}")
    ran = actions.closed(pull)
    assert observed(ran)[second, "reaction"] == "down"
    assert sources(ran)[second, "reaction"] == f"@{MAINTAINER}, among too many to ask about them all"


def test_only_so_many_people_are_asked_about_in_all(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    actions.github.reacts(thread.comments[0], "THUMBS_DOWN", by=MAINTAINER)
    actions.merges(pull)
    monkeypatch.setattr(observe_phase, "MOST_ASKED", 0)
    assert observed(actions.closed(pull))[ID, "reaction"] == "unknown"


def test_a_comment_that_somebody_else_edited_is_no_longer_the_bots_word(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    actions.github.edits(thread.comments[0], by=MAINTAINER, body=thread.comments[0].body.replace("wrong", "fine"))
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels[ID, "thread"], labels[ID, "at_merge"]) == ("unknown", "unknown")


def test_a_person_who_is_called_as_the_bot_is_has_no_finding_of_its(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    namesake = actions.login.removesuffix("[bot]")
    theirs = session(actions.github, NAME, actions.github.personal_token(namesake)).reviewing
    forged = Remark(APP, finding_marker("f-0123456789"), 31)
    theirs.create(pull.number, pull.head_sha, "Look.", "COMMENT", [forged])
    actions.merges(pull)
    assert {finding for finding, _ in observed(actions.closed(pull))} == {"", ID}


def test_what_a_person_dismissed_did_not_prove_right_although_it_changed(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.said(pull, f"/advisor dismiss {ID} it is the answer", by=MAINTAINER)
    actions.pushed(pull, {APP: RIGHT})
    actions.merges(pull)
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels[ID, "dismissal"], labels[ID, "at_merge"]) == ("dismissed", "fixed")
    assert sources(ran)[ID, "dismissal"] == f"@{MAINTAINER}: it is the answer"
    assert kpi(whole(actions), "validated").value == 0.0


@pytest.mark.parametrize("right", [True, False])
def test_the_author_of_a_change_who_dismisses_a_finding_decides_nothing(
    rejected: tuple[Actions, Pull], right: bool
) -> None:
    """The bot hears no such command of the author: the summary is from before it refused them."""
    actions, pull = rejected
    login = PublicationRules().login
    (summary,) = [each for each in pull.comments if each.body.startswith(SUMMARY)]
    state = read_state(StandingComment(summary.id, login, summary.body), login)
    assert state is not None
    theirs = with_dismissed(state, ID, by=AUTHOR, reason="it is the answer")
    actions.github.edits(summary, by=login, body=amended(summary.body, theirs))
    if right:
        actions.pushed(pull, {APP: RIGHT})
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "dismissal"] == "none"
    assert sources(ran)[ID, "dismissal"] == f"only its author dismissed it: @{AUTHOR}: it is the answer"
    assert kpi(whole(actions), "validated").value == float(right)


def test_an_escalation_that_a_person_approved_is_an_override(escalated: tuple[Actions, Pull]) -> None:
    actions, pull = escalated
    actions.said(pull, f"/advisor approve-escalation {pull.head_sha} I looked at it", by=MAINTAINER)
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels["", "escalation"], labels["", "merge"]) == ("approved", "merged")
    found = kpi(whole(actions), "overrides")
    assert (found.value, found.cases, found.judgement) == (1.0, 1, "no target")


def test_an_escalation_that_is_merged_unapproved_is_none(escalated: tuple[Actions, Pull]) -> None:
    actions, pull = escalated
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels["", "escalation"], labels["", "merge"]) == ("not_approved", "merged_against")
    assert (kpi(whole(actions), "overrides").value, kpi(whole(actions), "missed_escalations").cases) == (0.0, 0)


def test_a_summary_that_somebody_edited_is_not_believed(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    (summary,) = actions.summaries(pull)
    actions.github.edits(summary, by=MAINTAINER, body=summary.body + "\nAll is well.")
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels["", "escalation"], labels[ID, "dismissal"]) == ("unknown", "unknown")
    assert labels["", "merge"] == "unknown", "it may have been merged against what was said"
    assert sources(actions.runs[-1])["", "merge"] == "it was merged, and no summary of the bot can be believed"
    assert labels[ID, "at_merge"] == "there", "GitHub's own facts about the comment are"


# --- approvals --------------------------------------------------------------------------------------------------------


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


# --- the ledger -------------------------------------------------------------------------------------------------------


def test_the_same_facts_are_recorded_once_and_survive_everything(
    rejected: tuple[Actions, Pull], tmp_path: Path
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    first = actions.closed(pull).observe()
    assert (first.code, first.err) == (0, f"{NAME}#{pull.number}: recorded\n")
    ran = actions.runs[-1]
    lines = exported(ran.ledger)
    again = actions.closed(pull).observe("--pr", f"{NAME}#{pull.number}", "--ledger", ran.ledger)
    nothing_new = f"{NAME}#{pull.number}: nothing new: the ledger holds the same facts already\n"
    assert (again.code, again.err) == (0, nothing_new)
    assert again.out == first.out
    assert exported(ran.ledger) == lines
    path, other = whole(actions), tmp_path / "other.sqlite3"
    for each in (run.ledger for run in actions.runs if run.ledger.exists()):
        merge(other, each)
    assert rows(other) == rows(path), "in whatever order they are folded"
    assert verify(path).broken == ()
    before = add_up(path, Period())
    assert before.sums.labelled == 1
    rebuild(path)
    assert add_up(path, Period()) == before
    (tmp_path / "export.jsonl").write_text("".join(exported(path)))
    import_lines(tmp_path / "again.sqlite3", tmp_path / "export.jsonl")
    assert add_up(tmp_path / "again.sqlite3", Period()) == before
    with pytest.raises(LedgerError, match="has no run 'observed_"):
        show_run(path, "observed_")


def test_labels_count_in_the_period_and_repository_of_the_review(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    observed(actions.closed(pull))
    path = whole(actions)
    assert kpi(path, "validated", Period(repository=NAME.upper())).cases == 1
    assert kpi(path, "validated", Period(repository="octo/other")).cases == 0


def test_what_was_merged_lately_is_observed_again_all_at_once(actions: Actions) -> None:
    reverted, closed, kept, gone = (actions.opens({APP: LINES + f"value = {n}\n"}) for n in (41, 42, 43, 44))
    actions.github.closes(closed)
    merge_commit = actions.merges(reverted)
    actions.git.work.git("checkout", "--quiet", "main")
    for pull in (kept, gone):
        actions.git.work.at = at = datetime.now(UTC) - fate.JUDGED_AFTER
        actions.git.work.git("merge", "--quiet", "--strategy=ours", "--no-edit", pull.head_sha)
        actions.git.push("main:refs/heads/main")
        actions.github.merges(pull, sha=actions.git.work.rev("main"), at=second_of(at))
    actions.git.work.at = None
    for pull in (reverted, closed, kept, gone):
        observed(actions.closed(pull))
    actions.reverts("-m", "1", merge_commit)
    del actions.github.repository(NAME).pulls[gone.number]
    ran = actions.closed(reverted)
    words = ("--again", "--ledger", whole(actions))
    done = ran.observe(*words)
    missing = f"GitHub could not read pull request #{gone.number}: it is not there, or not for this token (Not Found)."
    assert done.code == 12
    assert done.err.splitlines() == [
        f"{NAME}#{reverted.number}: recorded",
        f"{NAME}#{kept.number}: nothing new: the ledger holds the same facts already",
        f"Not observed: {missing}",
        "Error: Not every pull request could be observed: 1 could not.",
    ]
    again = actions.closed(reverted).observe(*words)
    assert f"#{reverted.number}" not in again.err, "what was reverted stays reverted"


@pytest.mark.parametrize(
    "labels, again",
    [
        ((Label("", "reverted", "unknown", "why"),), True),
        ((Label("", "reverted", "not_reverted", "no commit"),), True),
        ((Label("", "reverted", "reverted", "commit beef"),), True),
        ((Label("", "judged", "judged", "it was"), Label("", "reverted", "reverted", "commit beef")), False),
        ((Label("", "merge", "closed", "without a merge"), Label("f-1", "at_merge", "unknown", "why")), False),
    ],
)
def test_whatever_was_merged_and_is_not_proven_to_be_reverted_is_looked_at_again_for_a_while(
    tmp_path: Path, labels: tuple[Label, ...], again: bool
) -> None:
    at, ledger = datetime(2026, 1, 5, 9, tzinfo=UTC), tmp_path / "ledger.sqlite3"
    seen = Observed(
        at=at, run_id="observed_1", repository=NAME, pull_request=7, head_sha="a" * 40, labels=(*labels, OTHER_LABEL)
    )
    assert keep(ledger, seen) == (seen, True)
    lately = replace(seen, at=at + timedelta(days=20), run_id="observed_2", labels=labels)
    assert keep(ledger, lately) == (replace(lately, labels=seen.labels), False), "nothing that was known is lost"
    found = replace(lately, labels=(*seen.labels, Label("f-0123456789", "reaction", "up", f"@{MAINTAINER}")))
    assert keep(ledger, found) == (found, True)
    assert open_ended(ledger, at) == (((NAME, 7),) if again else ())
    assert open_ended(ledger, at + timedelta(days=1)) == (), "by when it was first seen"


def test_what_was_closed_first_and_merged_later_is_looked_at_again_from_then_on(tmp_path: Path) -> None:
    at, ledger = datetime(2026, 1, 5, 9, tzinfo=UTC), tmp_path / "ledger.sqlite3"
    about: dict[str, Any] = {"repository": NAME, "pull_request": 7, "head_sha": "a" * 40}
    keep(ledger, Observed(at=at, run_id="observed_1", labels=(Label("", "merge", "closed", "no merge"),), **about))
    merged = (Label("", "merge", "merged", "beef"), Label("", "reverted", "unknown", "why"))
    keep(ledger, Observed(at=at + timedelta(days=30), run_id="observed_2", labels=merged, **about))
    assert open_ended(ledger, at + timedelta(days=1)) == ((NAME, 7),)


def test_what_one_ledger_knew_is_known_where_it_is_merged_with_another(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that runs again has a ledger of its own, and may be unable to tell what the first one saw."""
    actions, pull = rejected
    actions.pushed(pull, {APP: RIGHT})
    merge_commit = actions.merges(pull)
    actions.reverts("-m", "1", merge_commit)
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"
    monkeypatch.setattr(history, "MOST_SECONDS", 0)
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "at_merge"]) == ("unknown", "unknown")
    path = whole(actions)
    assert kpi(path, "validated").value == 1.0
    assert verify(path).broken == ()
    rebuild(path)
    assert kpi(path, "validated").value == 1.0
    words = ("--pr", f"{NAME}#{pull.number}", "--ledger", path)
    assert observed(actions.closed(pull), *words)["", "reverted"] == "reverted"


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda event: [event, event], "The events of observed_x are those of no observation."),
        (lambda event: [event | {"run_id": "observed_y"}], "The events of observed_x are those of no observation."),
        (lambda event: [event | {"at": "2026-01-05"}], "Event 0 of observed_x is none that this version knows."),
        (lambda event: [event | {"labels": 7}], "Event 0 of observed_x is none that this version knows."),
        (lambda event: [event | {"pull_request": 0}], "The run observed_x names a pull request that cannot be."),
        (
            lambda event: [event | {"head_sha": "\ud800"}],
            "Event 0 of observed_x holds half a character: no file takes that.",
        ),
    ],
)
def test_an_observation_that_somebody_made_up_is_not_taken_in(
    tmp_path: Path, change: Callable[[dict[str, Any]], list[dict[str, Any]]], says: str
) -> None:
    about = {"repository": NAME, "pull_request": 7, "head_sha": "a" * 40, "labels": []}
    event = {"kind": "observed", "at": "2026-01-05T09:00:00Z", "run_id": "observed_x", **about}
    file, ledger = tmp_path / "made-up.jsonl", tmp_path / "ledger.sqlite3"
    with pytest.raises(LedgerError) as refusal:
        import_lines(ledger, _export(file, change(event)))
    assert str(refusal.value) == says
    assert import_lines(ledger, _export(file, [event])) == Folded(added=1, grown=0, present=0)


def _export(file: Path, events: list[dict[str, Any]]) -> Path:
    chain = links("observed_x", [canonical(event) for event in events])
    told = [
        {"run": "observed_x", "index": e.index, "previous": e.previous, "hash": e.hash, "event": json.loads(e.event)}
        for e in chain
    ]
    file.write_text("".join(json.dumps(each) + "\n" for each in told))
    return file


def test_the_step_of_the_action_does_the_same(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.by_steps = True
    ran = actions.closed(pull)
    done = ran.observe()
    assert (done.code, done.err) == (0, f"{NAME}#{pull.number}: recorded\n")
    assert sources(ran)[ID, "at_merge"] == "the lines stand in the merged file"


# --- what cannot be done ----------------------------------------------------------------------------------------------


def test_what_is_open_or_was_not_closed_by_the_event_is_refused(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    ran = actions.closed(pull)
    done = ran.observe()
    assert done.code == 2
    assert done.sentence == f"Pull request #{pull.number} is open: what became of it is observed once it is closed."
    done = actions.starts("opened", pull).observe()
    assert done.code == 2
    assert done.sentence.startswith("Only the event that closes a pull request is observed")
    assert not ran.ledger.exists()
    done = actions.closed(pull).observe("--pr", "7", "--event", "x")
    assert (done.code, done.out) == (2, "")


def test_a_token_that_may_not_read_is_told_so_in_one_sentence(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    ran = actions.closed(pull)
    actions.github.traffic.meets(RefusedRequest(403, "Resource not accessible by integration"), READS)
    done = ran.observe()
    assert done.code == 12
    assert done.sentence.startswith("The token may not read pull request #")
    assert not ran.ledger.exists()


def test_a_ledger_that_cannot_be_used_is_told_so_in_one_sentence(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    ran = actions.closed(pull)
    ran.ledger.parent.mkdir(parents=True)
    ran.ledger.write_text("no ledger at all, and long enough to be looked at" * 40)
    done = ran.observe()
    assert (done.code, done.sentence) == (2, f"{ran.ledger} is not a ledger: it is no SQLite file.")


def test_hostile_words_reach_the_terminal_on_one_line_and_no_secret_the_ledger(
    rejected: tuple[Actions, Pull],
) -> None:
    actions, pull = rejected
    secret = "ghp_" + "Zk4mQ9vXw2Ls7Rt1Yb8Nc5Jd3Hf6Pg0TaUeI"
    actions.said(pull, f"/advisor dismiss {ID} \x1b[2Jit is {secret}", by=MAINTAINER)
    actions.merges(pull)
    ran = actions.closed(pull)
    done = ran.observe()
    assert done.code == 0
    assert "\x1b" not in done.out
    assert len(done.out.splitlines()) == len(sources(ran))
    assert secret not in "".join(exported(ran.ledger)) + done.out
    assert TOKENS["observe"] not in done.out
