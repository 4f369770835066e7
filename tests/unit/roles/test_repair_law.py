"""The law on repairs: who may edit, and what of an edit makes the whole patch refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.agents.repair_law import (
    LEAKS,
    Law,
    PathLaw,
    TaskPatch,
    carries_secret,
    edit_grant,
    may_repair,
    patch_of,
    repair_sections,
)
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import (
    SUBMODULE_MODE,
    SYMLINK_MODE,
    WHOLE,
    Change,
    Edits,
    FileChange,
    Hunk,
    RefusedPath,
    RepairState,
    Status,
)
from review_advisor.change.kinds import OWN_IMPLEMENTATION_ANYWHERE
from review_advisor.mockworld.world import edited
from review_advisor.policy.budgets import MOST_REPAIRED_FILES, MOST_REPAIRED_LINES
from review_advisor.policy.policy import Policy, RepairMode, Rules, decide_policy
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.switches import read_switches
from review_advisor.safety.secrets import redact

ORDERS = "it tells the bot, CI, git or an agent what to do"
NOT_OURS = "not a file of the change, and no test"
A_TEST = "tests/test_app.py"
INSIDE = frozenset({"src/app.py", A_TEST, "CLAUDE.md"})


def file(path: str = "src/app.py", status: Status = Status.MODIFIED, *added: str, **more: Any) -> FileChange:
    """An edited file that the law has nothing against."""
    lines = added or ("x = 1",)
    hunk = Hunk(1, 0, 1, len(lines), "", tuple(f"+{line}" for line in lines))
    return replace(FileChange(status, path, added=len(lines), hunks=(hunk,)), **more)


def why(*touched: FileChange) -> list[str]:
    return [each.why for each in PathLaw(INSIDE, OWN_IMPLEMENTATION_ANYWHERE).refusals(touched)]


def judged(verdict: str) -> Attempt:
    return Attempt(0, verdict, "fine", PostVerifyResult(verdict="VETO", reasoning="no"), "")  # type: ignore[arg-type]


def policy(mode: RepairMode) -> Policy:
    change = Change("pr-7", files=(edited("src/app.py", 3),), tree="tree")
    return decide_policy(change, Rules(), read_switches({}), repair=mode)


# --- who may edit ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attempts, may",
    [
        ((), False),
        (("approve",), True),
        (("reject",), False),
        (("reject", "approve"), True),
        (("approve", "reject"), False),
    ],
)
def test_only_a_vetoed_approval_is_handed_back_with_leave_to_edit(attempts: Sequence[str], may: bool) -> None:
    assert may_repair(policy("suggest"), Surface.PR_REVIEW, [judged(each) for each in attempts]) is may


def test_without_repair_nobody_edits_and_on_a_surface_without_it_neither() -> None:
    vetoed = [judged("approve")]
    assert not may_repair(policy("off"), Surface.PR_REVIEW, vetoed)
    assert not may_repair(policy("suggest"), Surface.ADR_REVIEW, vetoed)


def test_the_cli_is_told_the_paths_that_the_law_refuses() -> None:
    own = edit_grant(Change("pr-7", config_in_pyproject=True), ("/ops/bot.toml",)).denied
    assert {"/pyproject.toml", "/ops/bot.toml", ".gitattributes"} <= set(own)


# --- each file -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "touched",
    [
        file(),
        file(A_TEST),
        file("tests/test_new.py", Status.ADDED, old_mode="000000"),
        file("src/app.py", removed=3),
        file(A_TEST, removed=3),
        file("src/app.py", old_mode="100755", new_mode="100755"),
    ],
    ids=["code", "test", "new test", "fewer lines", "fewer lines of its test", "executable before and after"],
)
def test_text_of_the_change_and_tests_may_be_repaired(touched: FileChange) -> None:
    assert why(touched) == []


@pytest.mark.parametrize(
    "touched, reason",
    [
        (file("CLAUDE.md"), ORDERS),
        (file(".github/workflows/x.yml", Status.ADDED), ORDERS),
        (file(new_mode=SYMLINK_MODE), "a symbolic link"),
        (file(old_mode=SYMLINK_MODE), "a symbolic link"),
        (file(new_mode=SUBMODULE_MODE), "a submodule"),
        (file(old_mode=SUBMODULE_MODE), "a submodule"),
        (file(status=Status.DELETED), "a repair changes text, and this file is deleted"),
        (file(status=Status.RENAMED), "a repair changes text, and this file is renamed"),
        (file(status=Status.COPIED), "a repair changes text, and this file is copied"),
        (file(new_mode="100755"), "a change of its mode"),
        (file("tests/test_new.py", Status.ADDED, old_mode="000000", new_mode="100755"), "a change of its mode"),
        (file(binary=True, hunks=()), "binary"),
        (file("tests/test_neẃ.py", Status.ADDED, old_mode="000000"), "a name that can mislead"),
        (file("src/other.py"), NOT_OURS),
        (file("src/other.py", Status.ADDED, old_mode="000000"), NOT_OURS),
        (file("tests/test_other.py", removed=1), "removes lines of a test that the change does not touch"),
        (file("src/app.py", Status.MODIFIED, "x = '\u200b'"), "adds invisible characters"),
        (file("src/app.py", Status.MODIFIED, "x = 1", "y = '\u202e'"), "adds invisible characters"),
    ],
)
def test_one_wrong_edit_is_named_with_its_reason(touched: FileChange, reason: str) -> None:
    assert why(touched) == [reason]
    assert why(file(), touched) == [reason]


@pytest.mark.parametrize(
    "name",
    ["-rf.py", " a.py", "a.py ", "a.", "x/-y/a.py", "x /a.py", "x./a.py", "a\u200b.py", "a\nb.py", "a\tb.py", "ä.py"],
)
def test_a_new_name_that_can_mislead_is_refused(name: str) -> None:
    path = f"tests/test_{name}" if name[0] not in "- " else f"tests/{name}"
    touched = file(path, Status.ADDED, old_mode="000000")
    assert PathLaw(frozenset({path}), ()).refusals((touched,))[0].why == "a name that can mislead"


def test_an_old_name_may_be_what_it_is() -> None:
    assert PathLaw(frozenset({"-ä.py"}), ()).refusals((file("-ä.py"),)) == ()


def test_a_line_may_end_as_the_other_system_ends_lines_and_take_invisible_characters_away() -> None:
    hidden = Hunk(1, 1, 1, 1, "", ("-x = '\u200b'", "+x = ''\r"))
    assert why(file(hunks=(hidden,))) == []


# --- the repair as a whole -------------------------------------------------------------------------------------------


def test_a_repair_is_small() -> None:
    most = [file(path) for path in ("src/app.py",) * MOST_REPAIRED_FILES]
    assert why(*most) == []
    assert why(*most, file()) == [f"{MOST_REPAIRED_FILES + 1} files, more than {MOST_REPAIRED_FILES}"]
    assert why(file(added=MOST_REPAIRED_LINES)) == []
    long = file(added=MOST_REPAIRED_LINES, removed=1)
    assert why(long) == [f"{MOST_REPAIRED_LINES + 1} changed lines, more than {MOST_REPAIRED_LINES}"]
    assert PathLaw(INSIDE, ()).refusals((long,))[0].path == WHOLE


CHANGE = Change("pr-7", files=(edited("src/app.py", 3), edited("old.py", 1)))
KEY = "AKIA" + "Q3EGRFK7ZTVXW2MB"


def edits(change: Change = CHANGE, patch: str = "+x = 1\n", *touched: FileChange) -> Edits:
    return Edits("tree", patch, change, touched or (file(),))


def law(change: Change = CHANGE, **rules: Any) -> Law:
    return Law(change, Rules(**rules), redact)


def test_an_ordinary_repair_may_be_judged() -> None:
    assert law().refusals(edits()) == ()


def test_what_cannot_be_part_of_a_patch_is_the_whole_answer() -> None:
    unfit = (RefusedPath("pipe", "a named pipe"),)
    assert law().refusals(replace(edits(CHANGE, f"+{KEY}\n", file("src/other.py")), unfit=unfit)) == unfit


def test_a_file_that_the_change_deletes_is_not_repaired_back() -> None:
    gone = Change("pr-7", files=(edited("src/app.py", 3), FileChange(Status.DELETED, "gone.py")))
    assert [each.why for each in law(gone).refusals(edits(gone, "", file("gone.py")))] == [NOT_OURS]


def test_the_bots_own_files_are_the_laws_of_this_repository() -> None:
    change = replace(CHANGE, files=(edited("ops/bot.toml", 1),))
    touched = edits(change, "", file("ops/bot.toml"))
    assert law(change).refusals(touched) == ()
    assert law(change, config_path="ops/bot.toml").refusals(touched) == (RefusedPath("ops/bot.toml", ORDERS),)


def test_a_repair_carries_no_secret_not_even_one_of_the_harness() -> None:
    assert law().refusals(edits(CHANGE, f"+key = '{KEY}'\n")) == (RefusedPath(WHOLE, LEAKS),)
    knows = Law(CHANGE, Rules(), lambda text: text.replace("hunter2", ""))
    assert knows.refusals(edits(CHANGE, "+word = 'hunter2'\n")) == (RefusedPath(WHOLE, LEAKS),)
    assert carries_secret(f"+key = '{KEY}'\n")
    assert not carries_secret("+key = read('key')\n")


def test_a_repair_whose_judge_could_not_see_all_of_it_is_refused() -> None:
    small = law(shard_tokens=2_000)
    larger = replace(CHANGE, files=(edited("src/app.py", 3), edited("src/b.py", 900)))
    assert [each.why for each in small.refusals(edits(larger))] == [
        "the repaired change cannot be shown to its judge whole"
    ]
    unsent = replace(CHANGE, files=(edited("src/app.py", 3), FileChange(Status.MODIFIED, "a.bin", binary=True)))
    assert [each.path for each in law().refusals(edits(unsent))] == [WHOLE]
    assert law(unsent).refusals(edits(unsent)) == (), "it could not be shown before either"


# --- what is told of it ----------------------------------------------------------------------------------------------


def test_executor_and_judge_are_shown_the_patch_and_what_was_refused() -> None:
    refused = (RefusedPath("a.py", "binary"), RefusedPath(WHOLE, "9 files"))
    repaired, told = repair_sections(RepairState("+x = 2", refused), "n0nce")
    assert "+x = 2" in repaired
    assert "a.py: binary\nthe repair as a whole: 9 files" in told
    many = tuple(RefusedPath(f"{number}.py", "binary") for number in range(30))
    (only,) = repair_sections(RepairState(refused=many), "n0nce")
    assert only.count(": binary") == 10


# --- a task's patch: the same law, of a change that touches all its files ---------------------------------------------

TASK_FILE = FileChange(path="a.py", status=Status.MODIFIED, added=1, removed=1)


def task_edits(*files: FileChange, patch: str = "diff") -> Edits:
    return Edits("tree", patch, Change("range"), files)


def refused_in_a_task(made: Edits) -> list[str]:
    return [each.why for each in patch_of(made, ("bot/",), redact).refused]


def test_any_file_of_the_repository_may_be_changed() -> None:
    assert patch_of(task_edits(TASK_FILE, replace(TASK_FILE, path="docs/b.md")), ("bot/",), redact) == TaskPatch(
        "diff", ("a.py", "docs/b.md")
    )


def test_nothing_edited_is_an_empty_patch() -> None:
    assert patch_of(task_edits(patch=""), (), redact) == TaskPatch()


@pytest.mark.parametrize(
    "file",
    [
        replace(TASK_FILE, path=".github/workflows/ci.yml"),
        replace(TASK_FILE, path="bot/main.py"),
        replace(TASK_FILE, path=".gitattributes"),
        replace(TASK_FILE, status=Status.DELETED),
        replace(TASK_FILE, status=Status.RENAMED, old_path="b.py"),
        replace(TASK_FILE, new_mode="120000"),
        replace(TASK_FILE, added=401),
    ],
    ids=["workflow", "own", "git", "deleted", "moved", "link", "large"],
)
def test_what_no_repair_may_touch_no_task_may_touch(file: FileChange) -> None:
    made = task_edits(TASK_FILE, file)
    assert refused_in_a_task(made)
    assert patch_of(made, ("bot/",), redact).patch == ""


def test_what_cannot_be_read_back_and_what_leaks_is_refused_whole() -> None:
    assert refused_in_a_task(replace(task_edits(), unfit=(RefusedPath("x", "binary"),))) == ["binary"]
    assert refused_in_a_task(task_edits(TASK_FILE, patch='+TOKEN = "ghp_' + "a1B2c3D4e5" * 3 + 'F6g7H8"')) == [
        "the patch would carry what looks like a secret"
    ]
