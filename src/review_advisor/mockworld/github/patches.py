"""A file's patch as GitHub shows it: hunks without a file header, and the lines in them."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

MOST_PATCH_LINES = 20_000
MOST_PATCH_BYTES = 500_000
"""Past these GitHub lists a file without its patch ("no single file's diff may exceed ...")."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class PatchLine:
    """A line of the diff on one side; ``hunk`` counts from 0."""

    hunk: int
    text: str


@dataclass(frozen=True, slots=True)
class PatchLines:
    """The lines that are part of the diff: ``right`` by new numbers, ``left`` by old ones."""

    right: dict[int, PatchLine] = field(default_factory=dict)
    left: dict[int, PatchLine] = field(default_factory=dict)

    def side(self, name: str) -> dict[int, PatchLine]:
        """The lines of the side with GitHub's name, ``LEFT`` or ``RIGHT``."""
        return self.left if name == "LEFT" else self.right


def shown_lines(patch: str | None) -> PatchLines:
    """The lines of a patch; none for a file that is listed without one."""
    shown = PatchLines()
    hunk, old, new = -1, 0, 0
    for line in (patch or "").split("\n"):
        head = _HUNK.match(line)
        if head:
            hunk, old, new = hunk + 1, int(head[1]), int(head[2])
            continue
        mark, text = line[:1], line[1:]
        if mark in {" ", "-"}:
            shown.left[old] = PatchLine(hunk, text)
            old += 1
        if mark in {" ", "+"}:
            shown.right[new] = PatchLine(hunk, text)
            new += 1
    return shown


def patch_of(before: bytes | None, after: bytes | None) -> str | None:
    """The patch from one content to another; None where GitHub shows none: binary, too large, or no line changed."""
    if any(b"\0" in side for side in (before, after) if side):
        return None
    lines: list[str] = []
    for line in list(difflib.unified_diff(_lines(before), _lines(after), n=3))[2:]:
        lines.append(line.removesuffix("\n"))
        if not line.endswith("\n"):
            lines.append("\\ No newline at end of file")
    patch = "\n".join(lines)
    if not lines or len(lines) > MOST_PATCH_LINES or len(patch.encode()) > MOST_PATCH_BYTES:
        return None
    return patch


def _lines(content: bytes | None) -> list[str]:
    *whole, last = (content or b"").decode(errors="replace").split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])
