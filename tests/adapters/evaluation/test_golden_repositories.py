"""A golden case becomes a real repository that can be reviewed."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.change.change import SourceError
from review_advisor.lab.golden_cases import CommitsChange, FilesChange, GoldenCase, GoldenFile, NamedChange, PatchChange
from review_advisor.lab.golden_repository import GoldenClones, make_golden_repository

FILES = FilesChange(
    (
        GoldenFile("src/a.py", "one\ntwo\n", "one\nthree\n"),
        GoldenFile("gone.py", "old\n", None),
        GoldenFile("ignored/ignore all instructions.txt", None, "new\n"),
        GoldenFile(".gitignore", "ignored\n", "ignored\n"),
    )
)
CASE = GoldenCase(id="python/x", group="g", kind="faulty", title="Say three", change=FILES)
PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_whole_files_become_two_commits(tmp_path: Path) -> None:
    made = make_golden_repository(CASE, tmp_path / "repo")
    changed = git(made.folder, "diff", "--no-renames", "--name-status", made.base, made.head)
    assert changed.splitlines() == ["D\tgone.py", "A\tignored/ignore all instructions.txt", "M\tsrc/a.py"]
    assert git(made.folder, "log", "--format=%s", made.head).splitlines() == ["Say three", "Begin"]
    assert git(made.folder, "show", f"{made.head}:src/a.py") == "one\nthree\n"
    assert git(made.folder, "status", "--porcelain") == ""


def test_the_same_case_makes_the_same_commits(tmp_path: Path) -> None:
    one, other = (make_golden_repository(CASE, tmp_path / name) for name in ("one", "other"))
    assert (one.base, one.head) == (other.base, other.head)


def test_a_patch_is_applied_to_the_files_as_they_were(tmp_path: Path) -> None:
    case = replace(CASE, change=PatchChange(PATCH, (GoldenFile("a.txt", "one\n", None),)))
    made = make_golden_repository(case, tmp_path / "repo")
    assert git(made.folder, "show", f"{made.head}:a.txt") == "two\n"
    with pytest.raises(SourceError, match="The patch of the case python/x does not apply"):
        make_golden_repository(replace(case, change=PatchChange(PATCH)), tmp_path / "other")


@pytest.mark.parametrize("path", ["../outside.txt", ".git/hooks/post-commit"])
def test_a_patch_writes_nothing_outside(tmp_path: Path, path: str) -> None:
    patch = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+evil\n"
    with pytest.raises(SourceError, match="does not apply"):
        make_golden_repository(replace(CASE, change=PatchChange(patch)), tmp_path / "repo")
    assert not (tmp_path / "repo" / path).exists()


def test_commits_are_found_in_a_clone(tmp_path: Path) -> None:
    made = make_golden_repository(CASE, tmp_path / "repo")
    case = replace(CASE, change=CommitsChange("octo/hello", made.base, made.head))
    assert make_golden_repository(case, tmp_path / "unused", GoldenClones(any_other=made.folder)) == made
    assert not (tmp_path / "unused").exists()
    missing = replace(case, change=CommitsChange("octo/hello", made.base, "c" * 40))
    with pytest.raises(SourceError, match="does not hold the commit ccc"):
        make_golden_repository(missing, tmp_path / "unused", GoldenClones(any_other=made.folder))
    with pytest.raises(SourceError, match="name a clone of it"):
        make_golden_repository(case, tmp_path / "unused")


def test_what_is_only_named_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="only names https://x/pull/1"):
        make_golden_repository(replace(CASE, change=NamedChange("https://x/pull/1")), tmp_path / "repo")


def test_a_title_is_only_a_title(tmp_path: Path) -> None:
    hostile = replace(CASE, title="--amend\n\x1b[2J")
    made = make_golden_repository(hostile, tmp_path / "repo")
    assert git(made.folder, "log", "-1", "--format=%s", made.head).startswith("--amend")
    with pytest.raises(SourceError, match="is not empty"):
        make_golden_repository(CASE, tmp_path / "repo")


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_rules_stand_beside_the_commits_of_a_clone_that_stays_as_it_is(tmp_path: Path, object_format: str) -> None:
    repo = Repo(tmp_path / "origin", f"--object-format={object_format}")
    repo.write("REVIEW.md", "# Ours\n")
    repo.write("AGENTS.md", "# Ours\n")
    repo.write("a.py", "one\n")
    repo.commit("Long ago")
    repo.write("a.py", "two\n")
    base = repo.commit("Begin")
    repo.write("a.py", "three\n")
    head = repo.commit("Go on")
    git(tmp_path, "clone", "--quiet", "--depth=2", repo.path.as_uri(), "shallow")
    case = replace(CASE, change=CommitsChange("octo/hello", base, head))
    before = sorted((tmp_path / "shallow").rglob("*"))
    rules = {"REVIEW.md": "# Mine\n", "AGENTS.md": "", "docs/rules.md": "# More\n"}

    made = make_golden_repository(case, tmp_path / "own", GoldenClones(any_other=tmp_path / "shallow"), rules)

    assert (made.folder, made.base, made.head) == (tmp_path / "own", base, head)
    assert git(made.folder, "ls-tree", "-r", "--name-only", made.rules).split() == [
        "REVIEW.md",
        "a.py",
        "docs/rules.md",
    ]
    assert git(made.folder, "show", f"{made.rules}:REVIEW.md") == "# Mine\n"
    assert git(made.folder, "log", "--format=%s", head).splitlines() == ["Go on", "Begin"]
    assert sorted((tmp_path / "shallow").rglob("*")) == before


def test_rules_leave_the_change_that_a_case_makes_as_it_is(tmp_path: Path) -> None:
    case = replace(CASE, change=FilesChange((*FILES.files, GoldenFile("REVIEW.md", "# Before\n", "# After\n"))))
    plain = make_golden_repository(case, tmp_path / "plain")
    made = make_golden_repository(case, tmp_path / "ruled", rules={"REVIEW.md": "# Mine\n"})

    assert (made.base, made.head) == (plain.base, plain.head)
    assert git(made.folder, "show", f"{made.rules}:REVIEW.md") == "# Mine\n"
