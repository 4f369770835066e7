"""Repair with the real CLI: edits happen in a throw-away copy only, and the harness decides what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.review_answers import CODE_FILE, code, confirm, guidance, plan, report, veto
from tests.e2e.review_world import (
    EXECUTOR,
    MID_FLIGHT,
    POST_VERIFY,
    PRE_FLIGHT,
    Reviewed,
    ReviewWorld,
    fences,
    may_repair,
)
from tests.e2e.stub_api import Reply, consult, read, several, tool_use

from review_advisor.review.events import Repaired
from review_advisor.review.rulings import Outcome

CHANGES = (Outcome.CHANGES_REQUESTED, 10)
OLD, NEW = "price_2 = 2 * 3", "price_2 = 2 * 4"


def write(path: str, content: str = "text\n") -> Reply:
    """A use of the Write tool."""
    return several(tool_use("Write", file_path=path, content=content))


def edit(path: str = CODE_FILE, old: str = OLD, new: str = NEW) -> Reply:
    """A use of the Edit tool."""
    return several(tool_use("Edit", file_path=path, old_string=old, new_string=new))


@pytest.fixture
def vetoed(world: ReviewWorld) -> ReviewWorld:
    """Three lines of code, approved at first and vetoed."""
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, report())
    world.says(POST_VERIFY, veto("the second price is wrong"))
    return world


def repairs(done: Reviewed) -> list[Repaired]:
    return [event for event in done.document.events if isinstance(event, Repaired)]


def state_of(world: ReviewWorld) -> tuple[bytes, bytes, dict[str, bytes]]:
    """Everything of the user's checkout that a review must leave alone."""
    files = {
        path.relative_to(world.repo.path).as_posix(): path.read_bytes()
        for path in world.repo.path.rglob("*")
        if path.is_file()
    }
    return world.repo.git("status", "--porcelain"), world.repo.git("rev-parse", "HEAD"), files


def test_a_repair_is_made_in_the_copy_judged_and_suggested(vetoed: ReviewWorld) -> None:
    vetoed.says(EXECUTOR, read(CODE_FILE), edit(), report("approve"))
    vetoed.says(POST_VERIFY, read(CODE_FILE), confirm())
    before = state_of(vetoed)
    done = vetoed.review()
    assert done.end == CHANGES
    assert done.document.flags.recovered
    assert state_of(vetoed) == before
    judge = vetoed.of(POST_VERIFY)
    assert f"+{NEW}" in fences(judge[1])["DIFF"]
    assert f"-{OLD}\n+{NEW}\n" in fences(judge[1])["REPAIR"]
    assert f"+{OLD}" not in fences(judge[1])["DIFF"]
    assert NEW in judge[2].tool_results[0], "its tree is the repaired one"
    assert [may_repair(request) for request in vetoed.of(EXECUTOR)] == [False, True, True, True]


def test_the_patch_is_one_that_git_takes_on_the_head_and_makes_the_judged_tree(vetoed: ReviewWorld) -> None:
    vetoed.says(EXECUTOR, read(CODE_FILE), edit(), write("tests/test_prices.py", "assert 1\n"), report("approve"))
    vetoed.says(POST_VERIFY, confirm())
    done = vetoed.review()
    made = done.document.repair
    assert made is not None
    assert made.head_sha == vetoed.repo.rev("HEAD")
    assert made.files == (CODE_FILE, "tests/test_prices.py")
    assert json.loads(done.text("outcome.json"))["repair"]["patch"] == made.patch
    assert f"    +{NEW}\n" in done.text("report.txt")
    patch = str(done.folder / "repair.patch")
    vetoed.repo.git("apply", "--check", "--index", patch)
    vetoed.repo.git("apply", "--index", patch)
    assert vetoed.repo.git("write-tree").decode().strip() == made.tree


PROTECTED = (
    ".github/workflows/ci.yml",
    "CLAUDE.md",
    "shop/CLAUDE.md",
    "AGENTS.md",
    ".claude/settings.json",
    ".mcp.json",
    ".gitattributes",
    ".gitmodules",
    ".git",
    ".review-advisor.toml",
)


def test_protected_paths_and_places_outside_stay_as_they_are(vetoed: ReviewWorld, tmp_path: Path) -> None:
    outside = [str(tmp_path / "outside.txt"), str(vetoed.repo.path / "planted.py"), "../planted.py", "~/planted.py"]
    tried = [*PROTECTED, *outside]
    vetoed.says(EXECUTOR, *(write(path) for path in tried), read(CODE_FILE), edit(), report("approve"))
    vetoed.says(POST_VERIFY, confirm())
    before = state_of(vetoed)
    done = vetoed.review()
    answers = [request.tool_results for request in vetoed.of(EXECUTOR)[2 : 2 + len(tried)]]
    wrongly = [path for path, (said,) in zip(tried, answers, strict=True) if "successfully" in said]
    assert wrongly == []
    assert state_of(vetoed) == before
    assert not any(Path(path).exists() for path in outside[:2])
    assert not (vetoed.home / "planted.py").exists()
    assert done.document.repair is not None
    assert done.document.repair.files == (CODE_FILE,)


def test_what_the_cli_lets_pass_the_harness_refuses_by_name(vetoed: ReviewWorld) -> None:
    vetoed.says(
        EXECUTOR, read(CODE_FILE), edit(), write("Makefile", "all:\n\tcurl evil\n"), report("approve", "naming")
    )
    vetoed.says(POST_VERIFY, confirm())
    done = vetoed.review()
    assert done.end == CHANGES
    assert done.document.repair is None
    (event,) = repairs(done)
    assert [(each.path, each.why) for each in event.refused] == [("Makefile", "not a file of the change, and no test")]
    judge = vetoed.of(POST_VERIFY)[1]
    assert NEW not in fences(judge)["DIFF"]
    assert "Makefile: " in fences(judge)["REPAIR_REFUSED"]
    assert "Makefile" in done.text("report.txt")


def test_the_consult_hook_and_the_edit_rules_hold_together(vetoed: ReviewWorld) -> None:
    vetoed.says(EXECUTOR, consult("Round how?"), write("CLAUDE.md"), read(CODE_FILE), edit(), report("approve"))
    vetoed.says(MID_FLIGHT, guidance())
    vetoed.says(POST_VERIFY, confirm())
    done = vetoed.review()
    assert [note.status for note in done.consults] == ["answered"]
    assert done.document.repair is not None
    assert done.document.repair.files == (CODE_FILE,)
    (said,) = vetoed.of(EXECUTOR)[3].tool_results
    assert "denied" in said


def test_a_second_veto_goes_on_from_the_first_repair(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3), "auth/login.py": code(1)})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, report(), read(CODE_FILE), edit(), report("approve"))
    world.says(EXECUTOR, read(CODE_FILE), edit(old=NEW, new="price_2 = 6"), report("approve"))
    world.says(POST_VERIFY, veto(), veto("still wrong"), confirm())
    done = world.review()
    assert [event.result for event in repairs(done)] == ["accepted", "accepted"]
    assert done.document.repair is not None
    assert f"-{OLD}\n+price_2 = 6\n" in done.document.repair.patch


def test_switched_off_nobody_may_edit(vetoed: ReviewWorld) -> None:
    vetoed.says(EXECUTOR, write(CODE_FILE), report("approve", "rounding"))
    vetoed.says(POST_VERIFY, confirm())
    done = vetoed.review(repair="off")
    assert done.end == (Outcome.APPROVED, 0)
    assert repairs(done) == []
    assert "repair was off: switched off by --repair off" in done.text("report.txt")
    assert json.loads(done.text("outcome.json"))["repair"] is None
