"""A task's patch stands under the law of repairs, of a change that touches all its files."""

from dataclasses import replace

import pytest

from review_advisor.core.facts.change import Change, FileChange, Status
from review_advisor.core.facts.repair_edits import Edits, RefusedPath
from review_advisor.core.safety.secret_shapes import redact
from review_advisor.core.task.task_patch import TaskPatch, patch_of

FILE = FileChange(path="a.py", status=Status.MODIFIED, added=1, removed=1)


def edits(*files: FileChange, patch: str = "diff") -> Edits:
    return Edits("tree", patch, Change("range"), files)


def refused(made: Edits) -> list[str]:
    return [each.why for each in patch_of(made, ("bot/",), redact).refused]


def test_any_file_of_the_repository_may_be_changed() -> None:
    assert patch_of(edits(FILE, replace(FILE, path="docs/b.md")), ("bot/",), redact) == TaskPatch(
        "diff", ("a.py", "docs/b.md")
    )


def test_nothing_edited_is_an_empty_patch() -> None:
    assert patch_of(edits(patch=""), (), redact) == TaskPatch()


@pytest.mark.parametrize(
    "file",
    [
        replace(FILE, path=".github/workflows/ci.yml"),
        replace(FILE, path="bot/main.py"),
        replace(FILE, path=".gitattributes"),
        replace(FILE, status=Status.DELETED),
        replace(FILE, status=Status.RENAMED, old_path="b.py"),
        replace(FILE, new_mode="120000"),
        replace(FILE, added=401),
    ],
    ids=["workflow", "own", "git", "deleted", "moved", "link", "large"],
)
def test_what_no_repair_may_touch_no_task_may_touch(file: FileChange) -> None:
    made = edits(FILE, file)
    assert refused(made)
    assert patch_of(made, ("bot/",), redact).patch == ""


def test_what_cannot_be_read_back_and_what_leaks_is_refused_whole() -> None:
    assert refused(replace(edits(), unfit=(RefusedPath("x", "binary"),))) == ["binary"]
    assert refused(edits(FILE, patch='+TOKEN = "ghp_' + "a1B2c3D4e5" * 3 + 'F6g7H8"')) == [
        "the patch would carry what looks like a secret"
    ]
