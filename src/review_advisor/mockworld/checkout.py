"""Trees of whole texts: what a change is between two of them, and the copies in which an executor may edit."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path

from review_advisor.core.facts.change import REGULAR_MODE, Change, FileChange
from review_advisor.core.facts.patches.patch_files import files_of_patch
from review_advisor.core.facts.repair_edits import Edits
from review_advisor.core.pull_request.writes import CommittedFile
from review_advisor.mockworld import object_names
from review_advisor.mockworld.editable_copies import Copies, Edit, EditResult

Texts = Mapping[str, str]


def tree_name(texts: Texts) -> str:
    """Git's own name of the tree that holds these files and nothing else."""
    return object_names.tree_name(
        {path: (REGULAR_MODE, object_names.blob_name(text.encode())) for path, text in texts.items()}
    )


def patch_between(before: Texts, after: Texts) -> str:
    """The patch from one tree to another, as git would write it."""
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return "".join(_section(path, before.get(path), after.get(path)) for path in changed)


def changed_between(before: Texts, after: Texts) -> tuple[FileChange, ...]:
    """The same as facts."""
    return files_of_patch(patch_between(before, after).encode())


def _section(path: str, old: str | None, new: str | None) -> str:
    head = f"diff --git a/{path} b/{path}\n"
    if old is None:
        head += "new file mode 100644\n"
    if new is None:
        head += "deleted file mode 100644\n"
    before, after = (StringIO(text or "", newline="\n").readlines() for text in (old, new))  # a line feed ends a line
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    return head + "".join(difflib.unified_diff(before, after, *names))


class Checkout(Copies[str]):
    """The base and the head of a change as whole texts, and the copies of that head."""

    def __init__(self, base: Texts, head: Texts) -> None:
        super().__init__(head)
        self._base = base

    def texts_of(self, tree: str) -> Texts:
        """The files of a tree that ``edits`` has read back."""
        return self._trees[tree]

    def write(self, place: Path, path: str, written: EditResult) -> None:
        """What an executor does in its copy; None deletes."""
        if isinstance(written, Edit):
            raise TypeError("a checkout holds whole texts")
        if written is None:
            self.copies[place].pop(path)
        else:
            self.copies[place][path] = written

    def edits(self, place: Path, change: Change) -> Edits:
        """What a copy holds now, against the head."""
        now = dict(self.copies[place])
        self._trees[tree_name(now)] = now
        return Edits(
            tree=tree_name(now),
            patch=patch_between(self._head, now),
            change=replace(change, files=changed_between(self._base, now)),
            touched=changed_between(self._head, now),
        )


class NoPatcher:
    """git, for a bot that pushes nothing."""

    def apply(self, patch: str, files: tuple[CommittedFile, ...]) -> tuple[CommittedFile, ...]:
        """See ``Patcher``."""
        raise AssertionError(f"nothing is to be pushed, not {patch!r} to {len(files)} files")
