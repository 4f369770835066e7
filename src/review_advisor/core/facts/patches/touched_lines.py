"""Which lines a difference between two heads of one change touches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from review_advisor.core.facts.change import FileChange, Hunk
from review_advisor.core.facts.earlier_review import Touched, TouchedLines, touched


def touched_lines(files: Iterable[FileChange]) -> Touched:
    """What the difference between two heads touches, in every file of the later one."""
    return {file.path: tuple(each for hunk in file.hunks for each in _of_hunk(hunk)) for file in files}


def _of_hunk(hunk: Hunk) -> Iterator[TouchedLines]:
    line, added, removed = hunk.new_start if hunk.new_count else hunk.new_start + 1, 0, 0
    for text in (*hunk.lines, " "):
        match text[:1]:
            case "+":
                added += 1
            case "-":
                removed += 1
            case " ":
                if added or removed:
                    yield touched(line, added, removed)
                line, added, removed = line + added + 1, 0, 0
