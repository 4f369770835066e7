"""A stated change as GitHub has it: its files with their patches, and their texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from review_advisor.core.facts.change import FileChange, Status
from review_advisor.mockworld.github.records import PullFile

_STATUS: dict[Status, Literal["added", "removed", "renamed"]] = {
    Status.ADDED: "added",
    Status.COPIED: "added",
    Status.DELETED: "removed",
    Status.RENAMED: "renamed",
}


def listing_of(files: Iterable[FileChange]) -> tuple[PullFile, ...]:
    """The files as GitHub lists them, by path."""
    return tuple(map(_listed, sorted(files, key=lambda file: file.path)))


def _listed(file: FileChange) -> PullFile:
    hunks = (
        "\n".join((f"@@ -{each.old_start},{each.old_count} +{each.new_start},{each.new_count} @@", *each.lines))
        for each in file.hunks
    )
    return PullFile(
        file.path,
        _STATUS.get(file.status, "modified"),
        "\n".join(hunks) or None,
        file.old_path if file.status is Status.RENAMED else None,
    )


def contents_of(files: Iterable[FileChange]) -> dict[str, str]:
    """The text files at the head, as far as their hunks tell them: each line where it stands."""
    texts: dict[str, str] = {}
    for file in files:
        lines: dict[int, str] = {}
        for hunk in file.hunks if not (file.is_symlink or file.is_submodule) else ():
            kept = [line[1:] for line in hunk.lines if line[:1] in (" ", "+")]
            lines.update(enumerate(kept, hunk.new_start))
        if lines:
            texts[file.path] = "".join(f"{lines.get(number, '')}\n" for number in range(1, max(lines) + 1))
    return texts
