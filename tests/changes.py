"""Changed files of tests."""

from __future__ import annotations

from review_advisor.change.change import FileChange, Hunk, Status


def added_file(path: str, text: str) -> FileChange:
    """A new file of this text."""
    lines = tuple("+" + line for line in text.rstrip("\n").split("\n"))
    hunk = Hunk(0, 0, 1, len(lines), "", lines)
    return FileChange(Status.ADDED, path, old_mode="000000", added=len(lines), hunks=(hunk,))
